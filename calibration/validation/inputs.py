"""What the runs of a study bring to a validation table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..samples import Sample


@dataclass(frozen=True, slots=True)
class Inputs:
    """Samples and facts of the runs of one study.

    plain: of the plain input, which is what the editor shows. others: by the suffix of their file, such as "no_docstring", an input with
    the plain sample's id for the same place, or "t0.6", texts that were drawn at a temperature. facts: of
    facts.jsonl, by the id of a sample, each as the study's `FACT`.
    """

    plain: Sequence[Sample]
    others: Mapping[str, Sequence[Sample]] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def samples(self) -> Iterator[Sample]:
        """All of them."""
        yield from self.plain
        for those in self.others.values():
            yield from those

"""What the runs of a study bring to a validation table."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from ..samples import Sample, samples_sha256


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

    def sha256(self) -> str:
        """One hash of all that figures are made from: of the samples alone, as `samples_sha256`, where there are no facts."""
        of_samples = samples_sha256(list(self.samples()))
        if not self.facts:
            return of_samples
        digest = hashlib.sha256(of_samples.encode())
        for _, fact in sorted(self.facts.items()):
            digest.update(hashlib.sha256(msgspec.json.encode(fact)).digest())
        return digest.hexdigest()

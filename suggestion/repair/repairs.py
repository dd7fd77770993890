"""Repairs: what is given for a request. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...inference.model import StopReason
from ..suggestion import Suggestion
from .surprise import LineSurprise


@dataclass(frozen=True, slots=True)
class Repair:
    """A suggestion of kind "repair".

    Attributes
        suggestion: its text replaces whole lines; its measures are those of the new lines, and those of `measures`.
        old: what stands there. sources: those that gave it. rules: of the rules among these.
        mends: it makes a file parse that does not.
    """

    suggestion: Suggestion
    old: str
    sources: tuple[str, ...]
    rules: tuple[str, ...]
    mends: bool

    def as_json(self) -> dict[str, Any]:
        """A suggestion, with more fields (docs/formats.md)."""
        more = {"old": self.old, "sources": list(self.sources), "rules": list(self.rules), "mends": self.mends}
        return self.suggestion.as_json() | more


@dataclass(frozen=True, slots=True)
class Repairs:
    """What was found.

    Attributes
        found: the repairs, the best first.
        suspects: the lines that surprise the model, the most surprising first.
        not_asked: why a source was not asked, by its name.
        stopped_by: why there may be more: TIME or CANCELLED; None where all were asked.
        lines: how many lines were to be repaired. parses: whether the file did, as far as is known.
        why_none: why there can be none, in a sentence; empty where there may be.
    """

    found: tuple[Repair, ...]
    suspects: tuple[LineSurprise, ...]
    not_asked: dict[str, str]
    stopped_by: StopReason | None
    lines: int = 1
    parses: bool = True
    why_none: str = ""

    def as_json(self) -> dict[str, Any]:
        """What `assay repair --json` prints of them; the suspects only where they are asked for."""
        why = {"why_none": self.why_none} if self.why_none else {}
        return {
            "repairs": [repair.as_json() for repair in self.found],
            "not_asked": self.not_asked,
            "stopped_by": None if self.stopped_by is None else self.stopped_by.value,
            **why,
        }

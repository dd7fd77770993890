"""What the user is shown: a text, where it goes, and how likely it is to be right. Pure."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from ..calibration.confidence import Confidence
from .positions import Range

SuggestionKind = Literal["line", "block", "function", "repair"]

_CONFIDENCE = tuple(field.name for field in fields(Confidence))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggestion; `as_json` is the format in docs/formats.md.

    Attributes
        id: 12 hex digits, new each time.
        range: what the text replaces, in the units in which the asker counts columns.
        measures: by name, as `measures_of`.
        timings_ms: of "prompt" and "generate".
    """

    id: str
    text: str
    range: Range
    kind: SuggestionKind
    confidence: Confidence
    measures: dict[str, float]
    timings_ms: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """What travels to the editor and what `assay complete --json` prints."""
        return {
            "id": self.id,
            "text": self.text,
            "range": self.range.as_json(),
            "kind": self.kind,
            "confidence": confidence_json(self.confidence),
            "measures": self.measures,
            "timings_ms": self.timings_ms,
        }


def confidence_json(confidence: Confidence) -> dict[str, Any]:
    """A confidence as in docs/formats.md: its fields, and the band as people read it."""
    said = {name: getattr(confidence, name) for name in _CONFIDENCE}
    said["text"], said["short"], said["shape"] = confidence.text, confidence.short, confidence.look.shape
    return said

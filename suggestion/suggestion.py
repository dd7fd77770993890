"""What the user is shown: a text, where it goes, and how likely it is to be right. Pure."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

from ..calibration.confidence import Confidence
from ..calibration.samples import Event
from ..inference.completion.task import Kind
from .cursor import Cursor
from .positions import Range


@dataclass(frozen=True, slots=True)
class Place:
    """A cursor: the text around it that a model can be given, the range that a suggestion replaces, and what is asked for.

    file: absolute path, None for a text that is in no file.
    """

    prefix: str
    suffix: str
    range: Range
    kind: Kind = "line"
    language: str = "plaintext"
    event: Event = "exact_match"
    file: Path | None = None

    @property
    def cursor(self) -> Cursor:
        """What the steps that cut a suggestion see of it."""
        return Cursor(self.prefix, self.suffix, self.kind, self.language)


SuggestionKind = Literal["line", "block", "function", "repair"]

_CONFIDENCE = tuple(field.name for field in fields(Confidence))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggestion.

    id: 12 hex digits, new each time. text, range: what is inserted, with the document's line ends, and what it replaces, in the units in
        which the asker counts columns.
    measures: by name, raw: never shown as a percentage. timings_ms: of `prompt` and `generate`.
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
    """A confidence's fields, and the band as people read it."""
    said = {name: getattr(confidence, name) for name in _CONFIDENCE}
    said["text"], said["short"], said["shape"] = confidence.text, confidence.short, confidence.look.shape
    return said

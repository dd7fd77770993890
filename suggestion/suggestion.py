"""What the user is shown: a text, where it goes, and how likely it is to be right. Pure."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, Literal

from ..calibration.bands import BOUNDARIES, Boundaries
from ..calibration.confidence import Confidence, confidence, uncalibrated
from ..calibration.measures.agreement import SINGLE_DRAW, Drawn
from ..calibration.measures.registry import measures_of
from ..calibration.registry import Purpose, Registry, choose, explain_choice
from ..inference.model import Generation
from .positions import Range

SuggestionKind = Literal["line", "block", "function", "repair"]


_CONFIDENCE = tuple(field.name for field in fields(Confidence))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One suggestion; `as_json` is the format in docs/formats.md.

    id: 12 hex digits, new each time. range: what the text replaces, in the units that the asker counts columns in. measures: by name, as
    `measures_of`. timings_ms: "prompt" and "generate".
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
    said["text"], said["shape"] = confidence.text, confidence.look.shape
    return said


def suggest(
    generation: Generation,
    *,
    kind: SuggestionKind,
    range: Range,
    purpose: Purpose,
    registry: Registry,
    project: str | None = None,
    boundaries: Boundaries = BOUNDARIES,
    drawn: Drawn = SINGLE_DRAW,
    prompt_mismatch: Callable[[], str] = lambda: "",
) -> Suggestion | None:
    """The suggestion that a generation makes; None when its text is blank.

    purpose: what the registry is asked for; project: the root folder's name, by which a calibrator may have a map of its own for it; drawn:
    the generation's place among the alternatives that were drawn with it; prompt_mismatch: gives that of `explain_choice`, and is called
    only where no calibrator is for the purpose. The confidence is "uncalibrated" then and has no number. A generation has none either whose
    log-probabilities are approximate because tokens of its prompt were shifted.
    """
    if not generation.text.strip():
        return None
    # none where a server tells no log-probabilities
    measures = measures_of(generation) | drawn.measures if generation.tokens else {}
    entry = choose(registry, purpose, drawn)
    if entry is None:
        found = uncalibrated(purpose.event, explain_choice(registry, purpose, drawn, prompt_mismatch()).reason)
    elif generation.timings.shifted_tokens:
        found = uncalibrated(purpose.event, "its log-probabilities are approximate, because tokens of the prompt were shifted")
    else:
        found = confidence(
            entry.calibrator, measures, {"language": purpose.language, **({"project": project} if project else {})}, boundaries
        )
    return Suggestion(
        id=uuid.uuid4().hex[:12],
        text=generation.text,
        range=range,
        kind=kind,
        confidence=found,
        measures=measures,
        timings_ms={"prompt": generation.timings.prompt_ms, "generate": generation.timings.generate_ms},
    )

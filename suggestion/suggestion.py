"""What the user is shown: a text, where it goes, and how likely it is to be right. Pure."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, fields
from pathlib import Path
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
    task: str,
    kind: SuggestionKind,
    range: Range,
    language: str,
    model_id: str,
    prompt_id: str,
    registry: Registry,
    event: str = "exact_match",
    file: Path | None = None,
    project: str | None = None,
    boundaries: Boundaries = BOUNDARIES,
    drawn: Drawn = SINGLE_DRAW,
    unlike: str = "",
) -> Suggestion | None:
    """The suggestion that a generation makes; None when its text is blank.

    task: as `inference.completion.task_of`; model_id: `Fingerprint.id`; prompt_id: `Settings.fingerprint`; event: what the probability
    is about; file: absolute path of what is completed, None for a text that is in no file; project: the root folder's name, by which a
    calibrator may have a map of its own for it; drawn: the generation's place among the alternatives that were drawn with it; unlike: as
    `explain_choice`. Where the
    registry has no calibrator for these, the confidence is "uncalibrated" and has no number; nor has a generation whose log-probabilities
    are approximate because tokens of its prompt were shifted.
    """
    if not generation.text.strip():
        return None
    # none where a server tells no log-probabilities
    measures = measures_of(generation) | drawn.measures if generation.tokens else {}
    purpose = Purpose(model_id, prompt_id, event, task, language, file)
    entry = choose(registry, purpose, drawn)
    if entry is None:
        found = uncalibrated(event, explain_choice(registry, purpose, drawn, unlike).reason)
    elif generation.timings.shifted_tokens:
        found = uncalibrated(event, "its log-probabilities are approximate, because tokens of the prompt were shifted")
    else:
        found = confidence(entry.calibrator, measures, {"language": language, **({"project": project} if project else {})}, boundaries)
    return Suggestion(
        id=uuid.uuid4().hex[:12],
        text=generation.text,
        range=range,
        kind=kind,
        confidence=found,
        measures=measures,
        timings_ms={"prompt": generation.timings.prompt_ms, "generate": generation.timings.generate_ms},
    )

"""How a request for a suggestion ends: in exactly one of seven ways, with a record that holds no code and no path."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Literal

from ...calibration.confidence import Confidence
from ...calibration.log.events import OtherSuggestion, RequestEnded

Trigger = Literal["automatic", "invoked"]
# Where the text came from: what was suggested before, a generation of its own, or one that ran already and still fitted.
Source = Literal["memory", "model", "running"]


class Ending(StrEnum):
    """The closed set: each request ends in exactly one of these."""

    PRODUCED = "produced"  # a suggestion was shown
    HIDDEN = "hidden"  # there was one, and the policy did not show it
    EMPTY = "empty"  # there was nothing to suggest, or no reason to ask the model
    SUPERSEDED = "superseded"  # a newer request took its place
    CANCELLED = "cancelled"  # the client no longer wanted it
    FAILED = "failed"  # something is broken: the reason says what
    TIMED_OUT = "timed_out"  # the time that it may take was over


_DECIDED = (Ending.PRODUCED, Ending.HIDDEN)


@dataclass(frozen=True, slots=True)
class Spent:
    """Milliseconds. waited: on purpose, before the model was asked; queued: for its turn; total: from the request to its end."""

    total: float
    waited: float = 0.0
    queued: float = 0.0
    prompt: float = 0.0
    generate: float = 0.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """One request's end; `as_event` is what is logged of it.

    id: the suggestion's where there is one. document: `hash_of` its URI, project: of that of its workspace folder, empty where it has none.
    kind: what was asked for. task: as `task_of`, None where it was not come to. source: None where no text came from anywhere. reason: for
    people, empty where there is none to give; made of our own sentences, never of code. propensity: `Decision.propensity`, for what was
    shown or hidden. model, prompt: fingerprint ids. rank: as `Drawn`. text_sha256, characters: of the suggestion's text, empty and 0 where
    there is none. others: the suggestions that came with it.
    showing: the id of the one it belongs to, None where nothing is shown. tokens: sampled for this request, 0 from memory.
    Raises ValueError where a suggestion was shown or hidden without a confidence, a source and a propensity that allow it, and for a
    propensity where nothing was decided: an estimate from the log stands on these.
    """

    ending: Ending
    id: str
    document: str
    language: str
    trigger: Trigger
    kind: str
    spent: Spent
    task: str | None = None
    source: Source | None = None
    reason: str = ""
    propensity: float | None = None
    confidence: Confidence | None = None
    measures: Mapping[str, float] = field(default_factory=dict)
    model: str | None = None
    prompt: str | None = None
    project: str = ""
    rank: int = 1
    text_sha256: str = ""
    characters: int = 0
    others: tuple[OtherSuggestion, ...] = ()
    showing: str | None = None
    tokens: int = 0

    def __post_init__(self) -> None:
        """See the class."""
        if self.ending not in _DECIDED:
            if self.propensity is not None:
                raise ValueError(f"{self.ending}: nothing was shown or hidden, so there is no propensity")
            return
        if self.confidence is None or self.source is None or self.propensity is None:
            raise ValueError(f"{self.ending}: a suggestion has a confidence, a source and a propensity")
        possible = 0 < self.propensity <= 1 if self.ending is Ending.PRODUCED else 0 <= self.propensity < 1
        if not possible:
            raise ValueError(f"{self.ending}: can't be with a propensity of {self.propensity}")

    def as_event(self) -> RequestEnded:
        """What is logged: see `logged_confidence` and `logged_measures`."""
        return RequestEnded(
            id=self.id,
            outcome=self.ending.value,
            reason=self.reason,
            document=self.document,
            project=self.project,
            language=self.language,
            trigger=self.trigger,
            kind=self.kind,
            task=self.task,
            source=self.source,
            propensity=self.propensity,
            confidence=logged_confidence(self.confidence),
            measures=logged_measures(self.measures),
            model=self.model,
            prompt=self.prompt,
            rank=self.rank,
            text_sha256=self.text_sha256,
            characters=self.characters,
            others=self.others,
            tokens=self.tokens,
            timings_ms={name: round(value, 3) for name, value in asdict(self.spent).items()},
        )


def logged_confidence(confidence: Confidence | None) -> dict[str, str | float | None] | None:
    """Without its reason, which may name the file."""
    return None if confidence is None else {name: value for name, value in asdict(confidence).items() if name != "reason"}


def logged_measures(measures: Mapping[str, float]) -> dict[str, float]:
    """Those that are finite: JSON has no other numbers."""
    return {name: value for name, value in measures.items() if math.isfinite(value)}

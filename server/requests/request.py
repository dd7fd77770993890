"""One request: what an editor asks, and what will be logged of it."""

from __future__ import annotations

import asyncio
import hashlib
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ...calibration.log.events import OtherSuggestion, hash_of
from ...inference.completion.prompt import Surroundings
from ...inference.completion.task import task_of
from ...suggestion.place import Place
from ...suggestion.suggestion import Suggestion
from ..model.live import Made
from .outcomes import Ending, Outcome, Spent, logged_confidence, logged_measures
from .policy import Decision


@dataclass(frozen=True, slots=True)
class Ask:
    """What an editor asks.

    place: its kind is what was decided to ask for; root: the workspace folder whose calibrators are used; secret: whether the file is one
    that no model is shown; cut: whether the document begins before the place's prefix; menu: it is for the ordinary list of completions;
    selected: the end of the prefix that is put in with a suggestion, because it is only selected in a menu; start: the offset (in
    characters) of what is replaced; stood: what stands there, up to the cursor.
    """

    uri: str
    place: Place
    invoked: bool
    root: Path | None = None
    surroundings: Surroundings = field(default_factory=Surroundings)
    secret: bool = False
    cut: bool = False
    menu: bool = False
    selected: str = ""
    start: int = 0
    stood: str = ""


class Record:
    """A request while it goes on.

    limit: of its time; awaited: what was not there yet, where that is over. model, prompt: fingerprint ids, as soon as they are known.
    """

    def __init__(self, ask: Ask, add: Callable[[Outcome], None]) -> None:
        self.limit = asyncio.timeout(None)
        self.awaited = "the model had nothing ready"
        self.model: str | None = None
        self.prompt: str | None = None
        self._ask = ask
        self._add = add
        self._began = time.perf_counter()
        self._made: Made | None = None
        self._waited_ms = 0.0

    def made(self, made: Made, waited_ms: float = 0.0) -> None:
        """Something was found or made. waited_ms: on purpose."""
        self._made, self._waited_ms = made, waited_ms

    def decided(
        self,
        suggestion: Suggestion,
        decision: Decision,
        rank: int = 1,
        showing: str | None = None,
        others: Sequence[tuple[Suggestion, int]] = (),
    ) -> None:
        """A suggestion is shown or hidden. rank: as `Drawn`; showing: the id of the first suggestion of the same generation; others: those,
        with their ranks, that are given to the editor with it."""
        self.end(
            Ending.PRODUCED if decision.shown else Ending.HIDDEN,
            decision.reason,
            id=suggestion.id,
            propensity=decision.propensity,
            confidence=suggestion.confidence,
            measures=suggestion.measures,
            rank=rank,
            showing=showing,
            text_sha256=_sha256(suggestion.text),
            characters=len(suggestion.text),
            others=tuple(_other(*other) for other in others),
        )

    def end(self, ending: Ending, reason: str = "", **more: Any) -> tuple[()]:
        """Log the request's end; gives what is shown where nothing is."""
        place, made = self._ask.place, self._made
        first = made.generations[0] if made is not None and made.generations else None
        model = made is not None and made.source == "model" and first is not None
        self._add(
            Outcome(
                ending,
                **{"id": uuid.uuid4().hex[:12], **more},
                document=hash_of(self._ask.uri),
                project="" if self._ask.root is None else hash_of(self._ask.root.as_uri()),
                language=place.language,
                trigger="invoked" if self._ask.invoked else "automatic",
                kind=made.kind if made is not None else place.kind,
                spent=Spent(
                    (time.perf_counter() - self._began) * 1e3,
                    self._waited_ms,
                    max(0.0, made.waited_ms - self._waited_ms) if made is not None else 0.0,
                    first.timings.prompt_ms if model and first is not None else 0.0,
                    first.timings.generate_ms if model and first is not None else 0.0,
                ),
                task=None if made is None else task_of(place.prefix, place.suffix, made.kind),
                source=None if made is None else made.source,
                reason=reason,
                model=self.model,
                prompt=self.prompt,
                tokens=0 if made is None else made.tokens,
            )
        )
        return ()


def _other(suggestion: Suggestion, rank: int) -> OtherSuggestion:
    return OtherSuggestion(
        id=suggestion.id,
        confidence=logged_confidence(suggestion.confidence),
        measures=logged_measures(suggestion.measures),
        rank=rank,
        text_sha256=_sha256(suggestion.text),
        characters=len(suggestion.text),
    )


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()

"""A request while it goes on, and what will be logged of it."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from ...calibration.log.events import RequestEnded, hash_of
from ...calibration.registry import Purpose
from ...inference.completion.task import task_of
from ...suggestion.suggestion import Suggestion
from .policy import Decision
from .request import GenerationRequest, GenerationResult
from .request_ending import Ending, Spent, ended, logged_text, other


class OngoingRequest:
    """A request until it ends with its outcome.

    limit: of its time; awaited: what was not there yet, where that is over; purpose: what a calibrator was asked for, as soon as it is
    known.
    """

    def __init__(self, request: GenerationRequest, add: Callable[[RequestEnded, str | None], None]) -> None:
        """add: takes what is logged, and the id of the showing that it belongs to, if any."""
        self.limit = asyncio.timeout(None)
        self.awaited = "the model had nothing ready"
        self.purpose: Purpose | None = None
        self._request = request
        self._add = add
        self._began = time.perf_counter()
        self._result: GenerationResult | None = None
        self._waited_ms = 0.0

    def found(self, result: GenerationResult, waited_ms: float = 0.0) -> None:
        """Something was remembered or generated. waited_ms: on purpose."""
        self._result, self._waited_ms = result, waited_ms

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
            showing,
            id=suggestion.id,
            propensity=decision.propensity,
            confidence=suggestion.confidence,
            measures=suggestion.measures,
            rank=rank,
            others=tuple(other(*each) for each in others),
            **logged_text(suggestion.text),
        )

    def end(self, ending: Ending, reason: str = "", showing: str | None = None, **more: Any) -> tuple[()]:
        """Log the request's end; gives what is shown where nothing is."""
        request, result, purpose = self._request, self._result, self.purpose
        self._add(
            ended(
                ending,
                self._spent(),
                **{"id": uuid.uuid4().hex[:12], **more},
                document=hash_of(request.uri),
                project="" if request.root is None else hash_of(request.root.as_uri()),
                language=request.place.language,
                trigger="invoked" if request.invoked else "automatic",
                kind=request.place.kind if result is None else result.kind,
                task=None if result is None else task_of(request.place.prefix, request.place.suffix, result.kind),
                source=None if result is None else result.source,
                reason=reason,
                model=None if purpose is None else purpose.model,
                prompt=None if purpose is None else purpose.prompt,
                tokens=0 if result is None else result.tokens,
            ),
            showing,
        )
        return ()

    def _spent(self) -> Spent:
        total, result = (time.perf_counter() - self._began) * 1e3, self._result
        if result is None:
            return Spent(total, self._waited_ms)
        queued = max(0.0, result.waited_ms - self._waited_ms)
        if result.source != "model" or not result.generations:
            return Spent(total, self._waited_ms, queued)
        timings = result.generations[0].timings
        return Spent(total, self._waited_ms, queued, timings.prompt_ms, timings.generate_ms)

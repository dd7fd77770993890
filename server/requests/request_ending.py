"""How a request for a suggestion ends: in exactly one of seven ways, with a record that holds no code and no path."""

from __future__ import annotations

import asyncio
import hashlib
import math
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from ...calibration.confidence import Confidence
from ...calibration.log.events import OtherSuggestion, RequestEnded, hash_of
from ...calibration.registry import Purpose
from ...inference.completion.task import task_of
from ...suggestion.suggestion import Suggestion
from ..model.request import GenerationRequest, GenerationResult
from .policy import Decision


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


def ended(
    ending: Ending,
    spent: Spent,
    *,
    propensity: float | None = None,
    confidence: Confidence | None = None,
    measures: Mapping[str, float] | None = None,
    **known: Any,
) -> RequestEnded:
    """What is logged of one request's end. known: the other fields of `RequestEnded`.

    A reason is made of our own sentences, never of code. propensity: `Decision.propensity`, for what was shown or hidden. Raises ValueError
    where a suggestion was shown or hidden without a confidence, a source and a propensity that allow it, and for a propensity where nothing
    was decided: an estimate from the log stands on these.
    """
    if ending not in _DECIDED:
        if propensity is not None:
            raise ValueError(f"{ending}: nothing was shown or hidden, so there is no propensity")
    elif confidence is None or known.get("source") is None or propensity is None:
        raise ValueError(f"{ending}: a suggestion has a confidence, a source and a propensity")
    elif not (0 < propensity <= 1 if ending is Ending.PRODUCED else 0 <= propensity < 1):
        raise ValueError(f"{ending}: can't be with a propensity of {propensity}")
    return RequestEnded(
        outcome=ending.value,
        propensity=propensity,
        confidence=logged_confidence(confidence),
        measures=logged_measures(measures or {}),
        timings_ms={name: round(value, 3) for name, value in asdict(spent).items()},
        **known,
    )


def logged_text(text: str) -> dict[str, Any]:
    """What is logged of a suggestion's text, by the names of the events."""
    return {"text_sha256": hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(), "characters": len(text)}


def other(suggestion: Suggestion, rank: int) -> OtherSuggestion:
    """What is logged of a suggestion that came with the first one."""
    confidence, measures = logged_confidence(suggestion.confidence), logged_measures(suggestion.measures)
    return OtherSuggestion(id=suggestion.id, confidence=confidence, measures=measures, rank=rank, **logged_text(suggestion.text))


def logged_confidence(confidence: Confidence | None) -> dict[str, str | float | None] | None:
    """Without its reason, which may name the file."""
    return None if confidence is None else {name: value for name, value in asdict(confidence).items() if name != "reason"}


def logged_measures(measures: Mapping[str, float]) -> dict[str, float]:
    """Those that are finite: JSON has no other numbers."""
    return {name: value for name, value in measures.items() if math.isfinite(value)}


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


# Outcomes whose times are known.
_LATEST = 1000


class RequestCounts:
    """How requests ended since the start."""

    def __init__(self, latest: int = _LATEST) -> None:
        """latest: how many outcomes are timed."""
        self._shown_ms: deque[float | None] = deque(maxlen=latest)
        self._counts: Counter[Ending] = Counter()

    def add(self, event: RequestEnded) -> None:
        """Note one outcome."""
        ending = Ending(event.outcome)
        self._shown_ms.append(event.timings_ms["total"] if ending is Ending.PRODUCED else None)
        self._counts[ending] += 1

    def summary(self) -> dict[str, Any]:
        """For `assay/status`: {outcomes, shown_ms}.

        outcomes: how many of each since the start. shown_ms: how long the suggestions among the latest took, from the request until they
        were shown: n, p50 and p95, null where there are none.
        """
        totals = [total for total in self._shown_ms if total is not None]
        return {
            "outcomes": {ending.value: self._counts[ending] for ending in Ending},
            "shown_ms": {"n": len(totals), "p50": percentile(totals, 0.5), "p95": percentile(totals, 0.95)},
        }


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest of the values that at least this share of them does not exceed (nearest rank); None where there are none."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else None

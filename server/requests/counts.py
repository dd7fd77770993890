"""The outcomes of requests in memory: how many of each, and how long the latest took. What is kept of them is in the log of events."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from .request_ending import Ending, Outcome

# Outcomes whose times are known.
_LATEST = 1000


class RequestCounts:
    """How requests ended since the start."""

    def __init__(self, latest: int = _LATEST) -> None:
        """latest: how many outcomes are timed."""
        self._shown_ms: deque[float | None] = deque(maxlen=latest)
        self._counts: Counter[Ending] = Counter()

    def add(self, outcome: Outcome) -> None:
        """Note one outcome."""
        self._shown_ms.append(outcome.spent.total if outcome.ending is Ending.PRODUCED else None)
        self._counts[outcome.ending] += 1

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

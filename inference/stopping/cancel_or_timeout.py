"""Whether something from outside ends a generation: its caller or its time budget."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from ..model import Cancel, StopReason

# Why to stop now, or None. Asked between two tokens and between two parts of a prompt.
StopCheck = Callable[[], StopReason | None]


def never_stop() -> None:
    """The check of a generation that nothing from outside ends."""


def make_stop_check(cancel: Cancel | None, max_ms: float | None = None, begun: float = 0.0) -> StopCheck:
    """A check that asks the caller and the clock.

    begun: when max_ms began to count, in seconds of time.perf_counter.
    """
    if cancel is None and max_ms is None:
        return never_stop
    deadline = math.inf if max_ms is None else begun + max_ms / 1000

    def check() -> StopReason | None:
        if cancel is not None and cancel():
            return StopReason.CANCELLED
        return StopReason.TIME if time.perf_counter() >= deadline else None

    return check

"""What a generation may be asked for, and what ends it from outside."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from ..model import Cancel, StopReason

# Whether to stop, and why.
Watch = Callable[[], StopReason | None]


def unwatched() -> None:
    """The watch that never ends anything."""


def watcher(cancel: Cancel | None, max_ms: float | None = None, begun: float = 0.0) -> Watch:
    """Asks the caller and the clock. begun: when max_ms began to count, as time.perf_counter counts."""
    if cancel is None and max_ms is None:
        return unwatched
    deadline = math.inf if max_ms is None else begun + max_ms / 1000

    def watch() -> StopReason | None:
        if cancel is not None and cancel():
            return StopReason.CANCELLED
        return StopReason.TIME if time.perf_counter() >= deadline else None

    return watch


def check_sampling(max_tokens: int, temperature: float, top_p: float) -> None:
    """Raises ValueError for what no generation can be asked for."""
    if max_tokens < 1 or not 0 <= temperature < math.inf or not 0 < top_p <= 1:
        raise ValueError(f"max_tokens {max_tokens}, temperature {temperature}, top_p {top_p}: at least 1, at least 0, in (0, 1]")

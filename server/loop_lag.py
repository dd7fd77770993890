"""How late the event loop comes to what is due."""

from __future__ import annotations

import asyncio
import time

_PERIOD_S = 0.001
_KEPT = 100_000


class LoopLag:
    """A heartbeat of 1 ms that notes how late each beat is: the time that other work kept the loop from it."""

    def __init__(self) -> None:
        self._late_ms: list[float] = []
        self._task = asyncio.create_task(self._beat())

    def take(self) -> dict[str, float | int]:
        """Beats, and the 99th percentile and worst lateness in ms, since the last call."""
        late, self._late_ms = sorted(self._late_ms), []
        if not late:
            return {"beats": 0, "p99_ms": 0.0, "worst_ms": 0.0}
        return {"beats": len(late), "p99_ms": late[int(0.99 * (len(late) - 1))], "worst_ms": late[-1]}

    def stop(self) -> None:
        """End the heartbeat."""
        self._task.cancel()

    async def _beat(self) -> None:
        while True:
            due = time.perf_counter() + _PERIOD_S
            await asyncio.sleep(_PERIOD_S)
            if len(self._late_ms) < _KEPT:
                self._late_ms.append(max(0.0, time.perf_counter() - due) * 1e3)

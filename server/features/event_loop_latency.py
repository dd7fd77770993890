"""How late the event loop comes to what is due."""

from __future__ import annotations

import asyncio
import time

_PERIOD_S = 0.001
_KEPT = 100_000


class LoopLag:
    """A heartbeat of 1 ms that notes how late each beat is, and the processor time that the loop's thread spent since the one before.

    Lateness has two causes: our own work, which the processor time bounds, and a machine whose processors are busy elsewhere.
    """

    def __init__(self) -> None:
        self._late_ms: list[float] = []
        self._worst_work_ms = 0.0
        self._task = asyncio.create_task(self._beat())

    def take(self) -> dict[str, float | int]:
        """Since the last call: beats, 99th percentile and worst lateness, most processor time between two beats (all in ms)."""
        late, self._late_ms = sorted(self._late_ms), []
        worst_work, self._worst_work_ms = self._worst_work_ms, 0.0
        if not late:
            return {"beats": 0, "p99_ms": 0.0, "worst_ms": 0.0, "worst_work_ms": 0.0}
        return {"beats": len(late), "p99_ms": late[int(0.99 * (len(late) - 1))], "worst_ms": late[-1], "worst_work_ms": worst_work}

    def stop(self) -> None:
        """End the heartbeat."""
        self._task.cancel()

    async def _beat(self) -> None:
        while True:
            due = time.perf_counter() + _PERIOD_S
            work = time.thread_time()
            await asyncio.sleep(_PERIOD_S)
            self._worst_work_ms = max(self._worst_work_ms, (time.thread_time() - work) * 1e3)
            if len(self._late_ms) < _KEPT:
                self._late_ms.append(max(0.0, time.perf_counter() - due) * 1e3)

"""Event-loop latency: how late the event loop runs what is due."""

from __future__ import annotations

import asyncio
import time

_PERIOD_S = 0.001
_MAX_BEATS = 100_000


class EventLoopLatency:
    """Measures by a heartbeat of 1 ms: how late each beat is, and the CPU time of the loop's thread since the last one.

    A beat is late for one of two causes. Either our own code held the loop: the CPU time is an upper bound of that. Or the machine's
    processors were busy elsewhere.
    """

    def __init__(self) -> None:
        """Begin to measure. Needs a running event loop."""
        self._late_ms: list[float] = []
        self._worst_work_ms = 0.0
        self._task = asyncio.create_task(self._beat())

    def take(self) -> dict[str, float | int]:
        """Give what was measured since the last call: {beats, p99_ms, worst_ms, worst_work_ms}.

        p99_ms, worst_ms: of the lateness; worst_work_ms: the most CPU time between two beats.
        """
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
            if len(self._late_ms) < _MAX_BEATS:
                self._late_ms.append(max(0.0, time.perf_counter() - due) * 1e3)

"""A clock that stands still while the process is stopped (SIGSTOP, Ctrl-Z, a closed lid)."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import Self

_TICK_S = 0.25
# A thread of a busy machine may wait so long for its turn.
_MAX_TICK_S = 2.0


class ActiveClock:
    """Seconds since the block began in which the process was not stopped. Use as a context manager, and call it for the time."""

    def __init__(self) -> None:
        self._active, self._seen = 0.0, time.monotonic()
        self._looking, self._ended = threading.Lock(), threading.Event()

    def __enter__(self) -> Self:
        threading.Thread(target=self._tick, name="assay-clock", daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._ended.set()

    def __call__(self) -> float:
        """The time."""
        with self._looking:
            now = time.monotonic()
            self._active += min(now - self._seen, _MAX_TICK_S)
            self._seen = now
            return self._active

    def _tick(self) -> None:
        while not self._ended.wait(_TICK_S):
            self()

"""A pause: for some minutes suggestions come only when they are invoked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

# A day: who wants longer turns assay.automatic off.
LONGEST_MINUTES = 1440.0
# The clock is looked at so often, for a timer stands still while the machine sleeps.
_LOOK_S = 30.0


class Pause:
    """Whether there is one, by the clock on the wall. It ends by itself."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """on_change: told when a pause begins, is given another end, or ends."""
        self._on_change = on_change
        self._until: datetime | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def until(self) -> datetime | None:
        """When the pause ends, in local time with its zone; None where there is none."""
        return self._until if self._until is not None and datetime.now(UTC) < self._until else None

    def begin(self, minutes: float) -> None:
        """Pause from now on for so many minutes; with 0 a pause ends. Raises ValueError for a number that is not from 0 to a day's."""
        if not 0 <= minutes <= LONGEST_MINUTES:
            raise ValueError(f"minutes is a number from 0 to {LONGEST_MINUTES:g}, not {minutes:g}")
        self.close()
        self._until = (datetime.now(UTC) + timedelta(minutes=minutes)).astimezone() if minutes else None
        self._on_change()
        if self._until is not None:
            self._wait(self._until)

    def close(self) -> None:
        """Look no more. Calling it again does nothing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self, until: datetime) -> None:
        left_s = (until - datetime.now(UTC)).total_seconds()
        self._timer = asyncio.get_running_loop().call_later(min(_LOOK_S, max(0.0, left_s)), self._look, until)

    def _look(self, until: datetime) -> None:
        if self.until is not None:
            self._wait(until)
        else:
            self._until = self._timer = None
            self._on_change()

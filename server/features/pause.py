"""A pause: for some minutes suggestions come only when they are invoked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

# A day. For longer there is the setting assay.automatic.
MAX_MINUTES = 1440.0
# How often the clock is looked at. One timer for the whole pause would not do: it stands still while the machine sleeps.
_LOOK_S = 30.0


class Pause:
    """A pause, or none. It ends by itself, by the wall clock."""

    def __init__(self, on_change: Callable[[], None]) -> None:
        """on_change: called when a pause begins, ends, or gets another end."""
        self._on_change = on_change
        self._until: datetime | None = None
        self._timer: asyncio.TimerHandle | None = None

    @property
    def until(self) -> datetime | None:
        """When the pause ends, in local time with its zone; None where there is none."""
        return self._until if self._until is not None and datetime.now(UTC) < self._until else None

    @property
    def until_iso(self) -> str | None:
        """When the pause ends, in ISO 8601; None where there is none."""
        until = self.until
        return None if until is None else until.isoformat(timespec="seconds")

    def begin(self, minutes: float) -> None:
        """Pause for so many minutes from now; 0 ends a pause. Raises ValueError for a number outside 0 to `MAX_MINUTES`."""
        if not 0 <= minutes <= MAX_MINUTES:
            raise ValueError(f"minutes is a number from 0 to {MAX_MINUTES:g}")
        self.close()
        self._until = (datetime.now(UTC) + timedelta(minutes=minutes)).astimezone() if minutes else None
        self._on_change()
        if self._until is not None:
            self._wait(self._until)

    def close(self) -> None:
        """Stop the timer. Calling it again does nothing."""
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

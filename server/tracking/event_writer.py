"""Writes events to the log in a thread of its own, so that nothing waits for the disk."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Thread

from ...calibration.log.event_log import DAYS, MEGABYTES, EventLog, EventLogError, New, default_path
from ...calibration.log.events import Event, EventsDropped, TextLogged

# Events in the queue: minutes of fast typing. On a slower disk events are dropped, and typing is not held up.
_MAX_WAITING = 10_000
# Events of this time are committed together. A process that is killed loses no more than these.
_COLLECT_S = 0.25
# The wait before a log that could not be written is tried again.
_RETRY_S = 2.0
_PRUNE_S = 3600.0
_CLOSE_S = 2.0


@dataclass(frozen=True, slots=True)
class LogTarget:
    """Where events are logged, and which.

    path: the log's file, in a folder that exists. None: the user's own log, whose folder is made if needed.
    text: whether code is logged.
    days, megabytes: the age and the size to which the log is pruned.
    """

    path: Path | None = None
    text: bool = False
    days: float = DAYS
    megabytes: float = MEGABYTES


class EventWriter:
    """Writes events to a log. `add` may be called from any thread and never waits for the disk. Without a target it does nothing."""

    def __init__(
        self, target: LogTarget | None = None, *, server: str | None = None, on_trouble: Callable[[str], None] = lambda _: None
    ) -> None:
        """target: see `use`. server: 12 hex digits that each row has, new ones by default.

        on_trouble: called by the writer's thread, once for each target, with the reason why events can't be written. The writer goes on
        trying.
        """
        self.server = server or uuid.uuid4().hex[:12]
        self._on_trouble = on_trouble
        self._target: LogTarget | None = None
        self._news = Condition()
        self._waiting: list[New] = []
        self._told = False
        self._dropped = 0
        self._drops_to_log = 0
        self._trouble: str | None = None
        self._closed = False
        self._thread: Thread | None = None
        # Used only by the thread.
        self._taken: list[New] = []
        self._log: EventLog | None = None
        self._open: LogTarget | None = None
        self._prune_at = 0.0
        self.use(target)

    @property
    def path(self) -> Path | None:
        """The log's file; None without a target."""
        target = self._target
        return None if target is None else target.path or default_path()

    @property
    def dropped(self) -> int:
        """How many events were dropped since the start because the queue was full."""
        return self._dropped

    @property
    def trouble(self) -> str | None:
        """Why events can't be written now, for people. None while they can."""
        return self._trouble

    def use(self, target: LogTarget | None) -> None:
        """Write to another log from now on, also what is in the queue. With None the queue is discarded."""
        with self._news:
            if target is None:
                self._waiting.clear()
            if target == self._target or self._closed:
                return
            self._target, self._trouble, self._told = target, None, False
            if self._thread is None and target is not None:
                self._thread = Thread(target=self._run, name="assay-events", daemon=True)
                self._thread.start()
            self._news.notify()

    def add(self, event: Event, showing: str | None = None) -> None:
        """Log an event with the time that it is now. showing: the id of the showing that it is about."""
        now_ms = time.time_ns() // 1_000_000
        with self._news:
            if self._target is None or (isinstance(event, TextLogged) and not self._target.text):
                return
            if self._closed or len(self._waiting) >= _MAX_WAITING:
                self._dropped += 1
                self._drops_to_log += 1
                return
            self._waiting.append(New(now_ms, self.server, showing, event))
            if len(self._waiting) == 1:
                self._news.notify()

    def close(self, timeout_s: float = _CLOSE_S) -> None:
        """Write what is in the queue and end the thread, within this time. Later events are dropped. Calling it again does nothing."""
        with self._news:
            self._closed = True
            self._news.notify()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _run(self) -> None:
        pause_s, closed = _COLLECT_S, False
        while not closed:
            with self._news:
                self._news.wait_for(self._has_work, None if self._open is None else max(0.0, self._prune_at - time.monotonic()))
                self._news.wait_for(lambda: self._closed, pause_s)
                closed, target = self._closed, self._target
            try:
                self._work(target)
                pause_s, self._trouble = _COLLECT_S, None
            except EventLogError as error:
                self._release()
                pause_s = _RETRY_S
                self._tell(str(error))
        self._release()

    def _has_work(self) -> bool:
        return bool(self._waiting or self._taken or self._closed or self._target != self._open)

    def _work(self, target: LogTarget | None) -> None:
        if target != self._open:
            self._release()
            self._open, self._prune_at = target, 0.0
        if target is None:
            self._taken = []
            return
        log = self._write(target)
        if time.monotonic() >= self._prune_at:
            self._prune_at = time.monotonic() + _PRUNE_S
            for _ in log.prune(target.days, target.megabytes):
                if self._write(target) is not log or self._closed or self._target != target:
                    break
            self._write(target)

    def _write(self, target: LogTarget) -> EventLog:
        """Write the queue to the log that is at the target's path now, and return that log."""
        self._log = self._log or _opened(target)
        with self._news:
            # What was added after the target changed is for the other log.
            if not self._taken and self._target == target:
                self._taken, self._waiting = self._waiting, []
            if self._target is not None and not self._target.text:
                # also what was queued while code was still to be logged
                self._taken = [new for new in self._taken if not isinstance(new.event, TextLogged)]
            drops = self._drops_to_log
        # Asked only now: what was added after the log was removed must not be written to a file without a name.
        if not self._log.in_place:
            self._release()
        log = self._log = self._log or _opened(target)
        dropped = [New(time.time_ns() // 1_000_000, self.server, None, EventsDropped(count=drops))] if drops else []
        if self._taken or dropped:
            log.append([*self._taken, *dropped])
            self._taken = []
            with self._news:
                self._drops_to_log -= drops
        return log

    def _release(self) -> None:
        if self._log is not None:
            self._log.close()
            self._log = None

    def _tell(self, message: str) -> None:
        self._trouble = message
        if not self._told:
            self._told = True
            with suppress(RuntimeError):  # the event loop is closed
                self._on_trouble(message)


def _opened(target: LogTarget) -> EventLog:
    if target.path is None:
        path = default_path()
        with suppress(OSError):  # opening reports what is wrong
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return EventLog(path, create=True)
    return EventLog(target.path, create=True)

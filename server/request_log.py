"""The outcomes of requests: the latest in memory, all in a file if the user wants one."""

from __future__ import annotations

import json
import math
import os
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Condition, Thread
from typing import Any

from .outcomes import Ending, Outcome

# Outcomes that wait to be written: minutes of fast typing. A disk that is slower than that loses lines, not keystrokes.
_PENDING = 10_000
_CLOSE_S = 2.0
# A pipe that nobody reads refuses, instead of holding the thread for ever; a terminal does not become ours.
_FLAGS = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_MODE = 0o600


class RequestLog:
    """The latest outcomes and, with a path, a file of JSON lines to which a thread of its own appends each.

    Several processes may append to one file: each line is one write at its end. The file is opened for each line, so that one that is
    moved away or removed begins anew, and it is the owner's alone to read.
    """

    def __init__(
        self,
        path: Path | None = None,
        kept: int = 1000,
        *,
        on_trouble: Callable[[str], None] = lambda _: None,
        before: RequestLog | None = None,
    ) -> None:
        """path: of the file, None for none; its folder is made. kept: how many outcomes stay in memory. before: the log that this one goes
        on from, in memory.

        on_trouble: told once, by the log's own thread, that and why lines can't be written; the log goes on, and tries each line.
        """
        self.path = path
        self._on_trouble = on_trouble
        self._troubled = False
        self._latest: deque[Outcome] = deque(before._latest if before else (), maxlen=kept)
        self._counts: Counter[Ending] = Counter(before._counts if before else ())
        self._lost = 0
        self._torn = False
        self._closed = path is None
        self._pending: list[Outcome] = []
        self._news = Condition()
        self._thread = None if path is None else Thread(target=self._run, args=(path,), name="assay-log", daemon=True)
        if self._thread is not None:
            self._thread.start()

    def add(self, outcome: Outcome) -> None:
        """Note one outcome. Never waits for the disk."""
        self._latest.append(outcome)
        self._counts[outcome.ending] += 1
        if self.path is None:
            return
        with self._news:
            if self._closed or len(self._pending) >= _PENDING:
                self._lost += 1
                return
            self._pending.append(outcome)
            self._news.notify()

    def summary(self) -> dict[str, Any]:
        """For `assay/status`: {outcomes, shown_ms, log}.

        outcomes: how many of each since the start. shown_ms: how long the suggestions among those in memory took, from the request until
        they were shown: n, p50 and p95, null where there are none. log: path, and how many lines were lost; None without a file.
        """
        totals = [outcome.spent.total for outcome in self._latest if outcome.ending is Ending.PRODUCED]
        return {
            "outcomes": {ending.value: self._counts[ending] for ending in Ending},
            "shown_ms": {"n": len(totals), "p50": percentile(totals, 0.5), "p95": percentile(totals, 0.95)},
            "log": None if self.path is None else {"path": str(self.path), "lost": self._lost},
        }

    def close(self, timeout_s: float = _CLOSE_S) -> None:
        """Write what waits, and end the thread; waits so long at most. What is added later is lost. Calling it again does nothing."""
        with self._news:
            self._closed = True
            self._news.notify()
        if self._thread is not None:
            self._thread.join(timeout_s)

    def _run(self, path: Path) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._pending or self._closed)
                batch, self._pending = self._pending, []
            if not batch:
                return
            for outcome in batch:
                try:
                    self._append(path, (json.dumps(outcome.as_json(), allow_nan=False) + "\n").encode())
                except (OSError, ValueError) as error:
                    self._lose(f"{path}: requests can't be logged: {getattr(error, 'strerror', None) or error}")

    def _append(self, path: Path, line: bytes) -> None:
        file = _opened(path)
        try:
            # Behind a torn line an empty beginning, so that only that one is lost.
            whole = b"\n" + line if self._torn else line
            written = os.write(file, whole)
            self._torn = written < len(whole)
            if self._torn:
                raise OSError(None, "the disk is full")
        finally:
            os.close(file)

    def _lose(self, message: str) -> None:
        with self._news:
            self._lost += 1
        if not self._troubled:
            self._troubled = True
            with suppress(RuntimeError):  # an event loop that is closed can't be told
                self._on_trouble(message)


def percentile(values: Sequence[float], share: float) -> float | None:
    """The smallest of the values that at least this share of them does not exceed (nearest rank); None where there are none."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else None


def _opened(path: Path) -> int:
    try:
        return os.open(path, _FLAGS, _MODE)
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, _FLAGS, _MODE)

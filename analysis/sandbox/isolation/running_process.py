"""A long-lived process in a jail: a server that gets one program after the other."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Self

from .limits import Limits
from .running_jail import READY, JailEnd, JailError, RunEnding, RunningJail, adopting_orphans, ending_of, oom_kills
from .supervision import LimitWatch, Streams, close_pipes, serve_until_end, usage

MAX_STDERR_BYTES = 1 << 14


class RunningProcess:
    """A process that runs in a jail. It ends with `kill`, with the `with` block, and with this process.

    A thread of its own starts the jail, collects its stderr, enforces its limits, and reaps it. The kernel ends a jail together with the
    thread that started it, so that thread has to live as long.

    stdin, stdout: its pipes, binary and buffered. end: how it ended, once it has.
    """

    def __init__(self, begin: Callable[[], RunningJail], limits: Limits, writable: Sequence[Path]) -> None:
        """Wait until the jail is ready. Raises JailError."""
        self._begin, self._limits, self._writable = begin, limits, writable
        self._failure: Exception | None = None
        self._stopped: tuple[RunEnding, str] | None = None
        self._killed_before = oom_kills()
        self.end = JailEnd(0, 0.0, "")
        self._ready = threading.Event()
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run_thread, name="jail", daemon=True)
        self._thread.start()
        self._ready.wait()
        if self._failure is not None:
            self._thread.join()
            raise self._failure
        process = self._contained.process
        assert process.stdin is not None
        assert process.stdout is not None
        self.stdin: IO[bytes] = process.stdin
        self.stdout: IO[bytes] = process.stdout
        self.pid = self._contained.root

    def _run_thread(self) -> None:
        with adopting_orphans():
            self._run_to_end()

    def _run_to_end(self) -> None:
        try:
            self._contained = self._begin()
        except Exception as error:
            self._failure = error
            self._ready.set()
            return
        ready = False
        try:
            ready = self._handshake()
            if ready:
                self._streams = Streams(self._contained.process, None, MAX_STDERR_BYTES)
                self._ready.set()
                limits = replace(self._limits, cpu_s=float("inf"), wall_s=float("inf"))
                self._stopped = serve_until_end(self._contained, self._streams, LimitWatch(self._contained, limits, self._writable))
        finally:
            with self._lock:
                self._contained.kill()
                self.end = self._contained.reap()
                if ready:
                    self._streams.finish()
                self._over.set()
            if not ready:
                stderr = self._contained.process.stderr
                complaint = stderr.read().decode(errors="replace").strip() if stderr is not None else ""
                close_pipes(self._contained.process)
                self._failure = JailError(self.end.failure or complaint or f"the jail was not ready after {self._limits.wall_s:g} s")
                self._ready.set()

    def _handshake(self) -> bool:
        """Whether the jail reports that it is ready."""
        process = self._contained.process
        assert process.stdout is not None
        poll = select.poll()
        poll.register(process.stdout, select.POLLIN)
        deadline, said = time.monotonic() + self._limits.wall_s, b""
        while said != READY:
            ready = poll.poll(max(0, round(1000 * (deadline - time.monotonic()))))
            more = os.read(process.stdout.fileno(), len(READY) - len(said)) if ready else b""
            if not more:
                return False
            said += more
        return True

    @property
    def running(self) -> bool:
        """Whether it still runs."""
        return not self._over.is_set()

    @property
    def stopped_for(self) -> str:
        """Why it was stopped (the limit that it passed), or nothing."""
        return self._stopped[1] if self._stopped else ""

    def ending(self, limits: Limits) -> tuple[RunEnding, str]:
        """How it ended, once it has, and why. limits: those that the reason names."""
        return self._stopped or ending_of(self.end, self.end.cpu_s, bytes(self._streams.stderr), limits, self.killed_by_machine() > 0)

    def cpu_s(self) -> float:
        """CPU seconds of all processes inside up to now; 0 once it has ended."""
        return usage(self.pid).cpu_s if self.running else 0.0

    def killed_by_machine(self) -> int:
        """Processes that the kernel has killed since this one began because the machine had no memory left, not for the jail's limit."""
        return oom_kills() - self._killed_before - self.killed_by_limit()

    def killed_by_limit(self) -> int:
        """Processes of it that the kernel has killed for the jail's memory limit, where the kernel counts them."""
        with self._lock:
            return int(self.end.killed_for_memory) if self._over.is_set() else self._contained.oom_kills()

    def stderr_tail(self) -> str:
        """The end of what it wrote to stderr."""
        return bytes(self._streams.stderr).decode(errors="replace")

    def kill(self, *, grace_s: float = 0) -> None:
        """End every process inside, and wait until they are gone. Its stdout can still be read to its end.

        grace_s: how long they may take to end by themselves, so that their own status is known.
        """
        self._over.wait(grace_s)
        with self._lock:
            if not self._over.is_set():
                self._contained.kill()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        close_pipes(self._contained.process)

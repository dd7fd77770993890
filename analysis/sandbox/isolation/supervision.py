"""Supervise a jail from outside: read and cut its output, measure what its processes use (/proc), stop it at its limits."""

from __future__ import annotations

import contextlib
import os
import selectors
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import view
from .limits import MAX_FILES, Limits
from .running_jail import RunEnding, RunningJail

TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Usage:
    """CPU seconds of running and reaped processes; resident bytes and ids of the running ones; threads of those below the root."""

    cpu_s: float
    memory_bytes: int
    pids: tuple[int, ...]
    tasks: int


def usage(root: int) -> Usage:
    """What the process root and all its descendants use. Processes that end meanwhile are not counted."""
    cpu, resident, tasks, todo, seen = 0, 0, 0, [root], []
    while todo:
        pid = todo.pop()
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            for task in Path(f"/proc/{pid}/task").iterdir():
                todo.extend(map(int, (task / "children").read_text().split()))
                tasks += pid != root
        except OSError:
            continue
        # fields 14 to 17 of proc_pid_stat(5): user and system time of its own, then of the children that it reaped
        cpu += sum(map(int, fields[11:15]))
        resident += int(fields[21])
        seen.append(pid)
    return Usage(cpu / TICKS, resident * PAGE, tuple(seen), tasks)


def proportional_bytes(pids: tuple[int, ...]) -> int:
    """Memory of the processes, shared pages divided among those that share them (PSS): no forked page counts twice."""
    total = 0
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))
        except (OSError, IndexError):
            continue
    return total


POLL_S = 0.04
CHUNK = 1 << 16
# of a launcher, which forks to kill what is left
_OWN_TASKS = 1


class LimitWatch:
    """Compares what a jail uses with its limits."""

    def __init__(self, contained: RunningJail, limits: Limits, writable: Sequence[Path]) -> None:
        self.limits = limits
        self.began = time.monotonic()
        self.cpu_s = 0.0
        self._root = contained.root
        self._folders = [*writable, *([Path(contained.private)] if contained.private else [])]
        self._tmp = None if contained.private else Path(f"/proc/{contained.root}/root{view.PRIVATE_TMP}")
        self._before = view.space_used(self._folders)
        self._next_walk = 0.0

    def exceeded(self) -> tuple[RunEnding, str] | None:
        """The first limit that has been passed: how the run ends, and the reason in words; None while within the limits."""
        limits, now = self.limits, time.monotonic()
        if now - self.began > limits.wall_s:
            return "timed_out", f"it was not done after {limits.wall_s:g} s on the clock"
        used = usage(self._root)
        self.cpu_s = max(self.cpu_s, used.cpu_s)
        if self.cpu_s > limits.cpu_s:
            return "timed_out", f"it used more than {limits.cpu_s:g} s of CPU time"
        if self._memory(used) > limits.memory_bytes:
            return "out_of_memory", f"its processes together used more than {limits.memory_bytes >> 20} MiB"
        # the kernel's limit counts what else the user runs, unless the jail has namespaces; zombies count there as well
        if self._tmp is None and used.tasks > limits.processes + _OWN_TASKS:
            return "signalled", f"it started more than {limits.processes} processes and threads"
        return self._files(now)

    def _memory(self, used: Usage) -> int:
        if used.memory_bytes <= self.limits.memory_bytes:
            return used.memory_bytes
        return proportional_bytes(used.pids) or used.memory_bytes

    def _files(self, now: float) -> tuple[RunEnding, str] | None:
        if self._tmp is not None and files_in(self._tmp) > MAX_FILES:
            return "signalled", f"it made more than {MAX_FILES} files"
        if self._folders and now >= self._next_walk:
            size, count = view.space_used(self._folders, self._before[1] + MAX_FILES)
            # counting files takes at most a fifth of the time
            self._next_walk = now + max(POLL_S, 4 * (time.monotonic() - now))
            if size - self._before[0] > self.limits.file_bytes:
                return "signalled", f"it wrote more than {self.limits.file_bytes} bytes of files"
            if count - self._before[1] > MAX_FILES:
                return "signalled", f"it made more than {MAX_FILES} files"
        return None


def files_in(tmp: Path) -> int:
    """How many files are in a jail's own /tmp, seen from outside; 0 before that is mounted, and after the jail has ended."""
    try:
        fd = os.open(tmp, os.O_PATH | os.O_DIRECTORY)
    except OSError:
        return 0
    try:
        if os.fstat(fd).st_dev == view.PRIVATE_TMP.stat().st_dev:
            return 0
        system = os.fstatvfs(fd)
        return system.f_files - system.f_ffree
    except OSError:
        return 0
    finally:
        os.close(fd)


class Streams:
    """Feeds a process its input, and keeps the first bytes of its stdout and the last ones of its stderr.

    Only stderr is read where stdin is None: the other two are for whoever started the process.
    """

    def __init__(self, process: subprocess.Popen[bytes], stdin: bytes | None, keep: int) -> None:
        self.stdout, self.stderr = bytearray(), bytearray()
        self._keep = keep
        self._input = memoryview(stdin or b"")
        self._process = process
        self._outputs = (process.stderr,) if stdin is None else (process.stdout, process.stderr)
        self.selector = selectors.DefaultSelector()
        for pipe in self._outputs:
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            self.selector.register(pipe, selectors.EVENT_READ)
        if process.stdin is not None and stdin is not None:
            if stdin:
                os.set_blocking(process.stdin.fileno(), False)
                self.selector.register(process.stdin, selectors.EVENT_WRITE)
            else:
                process.stdin.close()

    def move(self, timeout: float, ended: int) -> bool:
        """Read and write what can be, after waiting at most timeout seconds for it. Returns whether the descriptor `ended` is readable."""
        over = False
        for key, _ in self.selector.select(timeout):
            over |= key.fd == ended
            if key.fileobj is self._process.stdin:
                self._feed()
            elif key.fileobj in self._outputs:
                self._take(key)
        return over

    def _feed(self) -> None:
        pipe = self._process.stdin
        assert pipe is not None
        try:
            self._input = self._input[os.write(pipe.fileno(), self._input[:CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:
            self._input = self._input[:0]
        if not self._input:
            self.selector.unregister(pipe)
            pipe.close()

    def _take(self, key: selectors.SelectorKey) -> None:
        try:
            data = os.read(key.fd, CHUNK)
        except BlockingIOError:
            return
        if not data:
            self.selector.unregister(key.fileobj)
        elif key.fileobj is self._process.stdout:
            self.stdout += data[: max(0, self._keep - len(self.stdout))]
        else:
            self.stderr += data
            del self.stderr[: max(0, len(self.stderr) - self._keep)]

    def finish(self) -> None:
        """Read what is left, without waiting for more."""
        for key in list(self.selector.get_map().values()):
            if key.fileobj in self._outputs:
                for _ in range(64):
                    self._take(key)
                    if key.fd not in self.selector.get_map():
                        break
        self.selector.close()


def close_pipes(process: subprocess.Popen[bytes]) -> None:
    """Close what leads to a process. What it has not read yet is lost."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            with contextlib.suppress(OSError):
                pipe.close()


def serve_until_end(contained: RunningJail, streams: Streams, watch: LimitWatch) -> tuple[RunEnding, str] | None:
    """Serve the streams until the jail has ended, or passes a limit: how the run ends then, and why."""
    streams.selector.register(contained.ended, selectors.EVENT_READ)
    next_look = time.monotonic() + POLL_S
    while not streams.move(max(0.0, next_look - time.monotonic()), contained.ended):
        if time.monotonic() >= next_look:
            stopped = watch.exceeded()
            if stopped is not None:
                return stopped
            next_look = time.monotonic() + POLL_S
    return None

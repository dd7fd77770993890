"""Run a program where it can do no harm: the one way in which Assay starts code that it does not trust.

A jail shows the program the system (/usr, /lib, the interpreter that runs) and what it is given, read-only; a private, bounded /tmp; a
clean environment; no network; no other process. See docs/sandbox.md for what each level of isolation holds.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from . import bubblewrap, launched, view
from .containment import READY, Contained, End, Unjailed, adopting_orphans, oom_kills
from .levels import Isolation
from .limits import Limits
from .started import Started as Started
from .supervision import Streams, Watch, until_end
from .view import Mount as Mount

How = Literal["exited", "signalled", "timed_out", "out_of_memory", "infrastructure"]
USUAL = Limits()
NOTHING: Mapping[str, str] = MappingProxyType({})
# what the runtimes say when an allocation fails
NO_MEMORY = (
    b"\nMemoryError",
    b"java.lang.OutOfMemoryError",
    b"insufficient memory for the Java Runtime",
    b"JavaScript heap out of memory",
    b"rocess out of memory",
    b"std::bad_alloc",
)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a run ended.

    ending: exited (by itself; status is its exit status), signalled (killed by a signal, its number is the status; also for files beyond
    the limit), timed_out, out_of_memory, or infrastructure: the jail failed, which says nothing about the program. reason: one line for
    people, empty where it exited with 0. stdout: its first bytes, stderr: its last bytes, to the limit. cpu_s: CPU seconds of all
    processes inside, and of bubblewrap's own start (some 10 ms).
    """

    ending: How
    status: int
    reason: str
    stdout: bytes
    stderr: bytes
    cpu_s: float
    wall_s: float


def failed(reason: str) -> Ran:
    """A run that the jail made impossible."""
    return Ran("infrastructure", -1, reason, b"", b"", 0.0, 0.0)


class Jail:
    """Runs programs at one level of isolation. Holds nothing but what root needs to show folders that only root can reach."""

    def __init__(self, isolation: Isolation) -> None:
        self.isolation = isolation
        self._stages: dict[tuple[Path, ...], bubblewrap.Stage] = {}
        self._lock = threading.Lock()

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        mounts: Sequence[Mount] = (),
        environment: Mapping[str, str] = NOTHING,
        limits: Limits = USUAL,
        stdin: bytes = b"",
    ) -> Ran:
        """Run argv to its end, or to its limits. cwd is a folder as the program sees it; /tmp is its own.

        As root, the folders of writable mounts are given to the jail's user, and stay so: such a folder serves one jail at a time.
        Whatever the program does, no exception comes of it; ValueError is raised for arguments that make no sense.
        """
        with adopting_orphans():
            try:
                contained = self._begin(argv, cwd, mounts, environment, limits, subprocess.PIPE if stdin else subprocess.DEVNULL, ())
            except Unjailed as error:
                return failed(str(error))
            killed_before = oom_kills()
            streams = Streams(contained.process, stdin, limits.output_bytes + len(READY))
            watch = Watch(contained, limits, [mount.source for mount in mounts if mount.writable])
            try:
                stopped = until_end(contained, streams, watch)
            finally:
                contained.kill()
                end = contained.reap()
                streams.close()
        stdout, stderr = bytes(streams.stdout), bytes(streams.stderr)[-limits.output_bytes :]
        wall_s, cpu_s = time.monotonic() - watch.began, max(end.cpu_s, watch.cpu_s)
        if stopped is None and (end.failure or not stdout.startswith(READY)):
            complaint = stderr.decode(errors="replace").strip()
            return failed(end.failure or complaint or f"the jail ended with status {end.status} before the program began")
        how, reason = stopped or judged(end, cpu_s, stderr, limits, oom_kills() > killed_before)
        return Ran(how, abs(end.status), reason, stdout.removeprefix(READY), stderr, cpu_s, wall_s)

    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        mounts: Sequence[Mount] = (),
        environment: Mapping[str, str] = NOTHING,
        limits: Limits = USUAL,
        pass_fds: Sequence[int] = (),
    ) -> Started:
        """Start argv and leave it running: a server that programs are handed to. See `run`; pass_fds are open files that it inherits.

        limits.cpu_s holds for each of its processes by itself (math.inf for none), wall_s for how long it may take to start; memory,
        processes and files are bounded as in `run`. Raises Unjailed where the jail could not be made.
        """
        if not math.isinf(limits.cpu_s) and limits.cpu_s > 1 << 30:
            raise ValueError("cpu_s is beyond what the kernel counts: math.inf stands for no limit")
        writable = [mount.source for mount in mounts if mount.writable]
        return Started(lambda: self._begin(argv, cwd, mounts, environment, limits, subprocess.PIPE, pass_fds), limits, writable)

    def defect(self) -> str:
        """Why this level does not work here, found by running a program in it; nothing where it works."""
        # a process of its own, too: a user's limit may be used up where the jail has no user of its own
        probe = [sys.executable, "-I", "-S", "-c", "import os; os.fork() or os._exit(0); os.wait(); print('runs')"]
        ran = self.run(probe, cwd=view.PRIVATE, limits=Limits(cpu_s=10, wall_s=30, processes=4))
        return "" if ran.stdout == b"runs\n" else ran.reason or ran.stderr.decode(errors="replace").strip()

    def _begin(
        self,
        argv: Sequence[str],
        cwd: Path,
        mounts: Sequence[Mount],
        environment: Mapping[str, str],
        limits: Limits,
        stdin: int,
        pass_fds: Sequence[int],
    ) -> Contained:
        if not argv or not cwd.is_absolute():
            raise ValueError("a program and an absolute working folder are needed")
        for mount in mounts:
            if defect := view.unusable(mount):
                raise Unjailed(defect)
        variables = view.clean_environment(environment)
        drops = os.geteuid() == 0 and self.isolation is not Isolation.NONE
        uid = bubblewrap.jail_user() if drops else None
        stage = self._admit(mounts, uid) if uid is not None else None
        if self.isolation is Isolation.BUBBLEWRAP:
            enter = [] if uid is None else stage.enter(uid) if stage else bubblewrap.become(uid)
            return bubblewrap.begin(
                argv, cwd=cwd, mounts=mounts, environment=variables, limits=limits, enter=enter, stdin=stdin, pass_fds=pass_fds
            )
        return launched.begin(
            argv,
            cwd=cwd,
            mounts=mounts,
            environment=variables,
            limits=limits,
            confined=self.isolation is Isolation.LANDLOCK,
            enter=stage.enter(None) if stage else [],
            uid=uid,
            stdin=stdin,
            pass_fds=pass_fds,
        )

    def _admit(self, mounts: Sequence[Mount], uid: int) -> bubblewrap.Stage | None:
        """Let uid use the mounts: own the writable ones, get to those that only root reaches."""
        for mount in mounts:
            if mount.writable:
                view.give(mount.source, uid)
            elif defect := view.refused_to_others(mount):
                raise Unjailed(defect)
        sources = dict.fromkeys([*view.interpreter_folders(), *(mount.source for mount in mounts)])
        hidden = tuple(source for source in sources if not view.reachable(source))
        if not hidden:
            return None
        with self._lock:
            if hidden not in self._stages:
                self._stages[hidden] = bubblewrap.Stage(hidden)
            return self._stages[hidden]


def judged(end: End, cpu_s: float, stderr: bytes, limits: Limits, machine_out_of_memory: bool) -> tuple[How, str]:
    """How a program that no limit of ours stopped has ended, and why."""
    status = end.status
    if status == 0:
        return "exited", ""
    if end.killed_for_memory or any(sign in b"\n" + stderr for sign in NO_MEMORY):
        return "out_of_memory", f"it asked for more than {limits.memory_bytes >> 20} MiB"
    if status > 0:
        return "exited", f"it ended with status {status}"
    number = -status
    if number in (signal.SIGKILL, signal.SIGXCPU) and cpu_s >= limits.cpu_s:
        return "timed_out", f"it used more than {limits.cpu_s:g} s of CPU time"
    if number == signal.SIGKILL and machine_out_of_memory:
        return "infrastructure", "the machine ran out of memory"
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    return "signalled", f"it was ended by {name}"

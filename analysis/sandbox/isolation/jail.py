"""Run a program where it can do no harm. All untrusted code is started here.

A program in a jail sees the system (/usr, /lib, the running interpreter) and its mounts, read-only; a private, bounded /tmp; a clean
environment; no network; no other process. docs/sandbox.md says what each level of isolation guarantees.
"""

from __future__ import annotations

import math
import os
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from . import bubblewrap, launcher_jail, view
from .levels import Isolation
from .limits import Limits
from .running_jail import READY, JailError, RunEnding, RunningJail, adopting_orphans, ending_of, oom_kills
from .running_process import RunningProcess as RunningProcess
from .supervision import LimitWatch, Streams, close_pipes, serve_until_end
from .view import Mount as Mount

DEFAULT_LIMITS = Limits()
_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CompletedRun:
    """How a run ended.

    ending: exited (by itself; status is the exit status), signalled (by the signal whose number is the status, or for files beyond the
        limit), timed_out, out_of_memory, or infrastructure (the jail failed, which says nothing about the program).
    reason: one line for people, empty where the program exited with 0.
    stdout, stderr: the first bytes of stdout and the last bytes of stderr, up to the limit.
    cpu_s: CPU seconds of all processes inside, and of bubblewrap's own start (some 10 ms).
    """

    ending: RunEnding
    status: int
    reason: str
    stdout: bytes
    stderr: bytes
    cpu_s: float
    wall_s: float


def failed_run(reason: str) -> CompletedRun:
    """The result of a run for which no jail could be made, or whose jail failed."""
    return CompletedRun("infrastructure", -1, reason, b"", b"", 0.0, 0.0)


class Jail:
    """Runs programs at one level of isolation. Its only state is for root: mount namespaces that show folders which only root can reach."""

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
        environment: Mapping[str, str] = _NO_VARIABLES,
        limits: Limits = DEFAULT_LIMITS,
        stdin: bytes = b"",
    ) -> CompletedRun:
        """Run argv to its end, or to its limits.

        As root, the folders of writable mounts are given to the jail's user for good, so such a folder serves one jail at a time.

        Parameters:
            cwd: a folder as the program sees it; its /tmp is private.
            mounts: what it sees besides the system.

        Raises: ValueError for arguments that make no sense. Nothing that the program does raises.
        """
        with adopting_orphans():
            try:
                pipe = subprocess.PIPE if stdin else subprocess.DEVNULL
                contained = self._begin(view.Contents(argv, cwd, mounts, environment, limits, pipe))
            except JailError as error:
                return failed_run(str(error))
            killed_before = oom_kills()
            streams = Streams(contained.process, stdin, limits.output_bytes + len(READY))
            watch = LimitWatch(contained, limits, [mount.source for mount in mounts if mount.writable])
            try:
                stopped = serve_until_end(contained, streams, watch)
            finally:
                contained.kill()
                end = contained.reap()
                streams.finish()
                close_pipes(contained.process)
        stdout, stderr = bytes(streams.stdout), bytes(streams.stderr)[-limits.output_bytes :]
        wall_s, cpu_s = time.monotonic() - watch.began, max(end.cpu_s, watch.cpu_s)
        if stopped is None and (end.failure or not stdout.startswith(READY)):
            complaint = stderr.decode(errors="replace").strip()
            return failed_run(end.failure or complaint or f"the jail ended with status {end.status} before the program began")
        how, reason = stopped or ending_of(end, cpu_s, stderr, limits, oom_kills() > killed_before)
        return CompletedRun(how, abs(end.status), reason, stdout.removeprefix(READY), stderr, cpu_s, wall_s)

    def start(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        mounts: Sequence[Mount] = (),
        environment: Mapping[str, str] = _NO_VARIABLES,
        limits: Limits = DEFAULT_LIMITS,
        pass_fds: Sequence[int] = (),
    ) -> RunningProcess:
        """Start argv and leave it running, for a server that is handed programs.

        Parameters (the others as in `run`):
            limits: cpu_s bounds each process by itself (math.inf for no bound), wall_s the time to start.
            pass_fds: open files that it inherits.

        Raises: JailError where the jail could not be made.
        """
        if not math.isinf(limits.cpu_s) and limits.cpu_s > 1 << 30:
            raise ValueError("cpu_s is beyond what the kernel counts: math.inf stands for no limit")
        writable = [mount.source for mount in mounts if mount.writable]
        contents = view.Contents(argv, cwd, mounts, environment, limits, subprocess.PIPE, pass_fds)
        return RunningProcess(lambda: self._begin(contents), limits, writable)

    def defect(self) -> str:
        """Why this level does not work here, or nothing. Found by running a program in it."""
        # the probe forks, too: where the jail has no user of its own, this user's limit of processes may be used up
        probe = [sys.executable, "-I", "-S", "-c", "import os; os.fork() or os._exit(0); os.wait(); print('runs')"]
        ran = self.run(probe, cwd=view.PRIVATE_TMP, limits=Limits(cpu_s=10, wall_s=30, processes=4))
        return "" if ran.stdout == b"runs\n" else ran.reason or ran.stderr.decode(errors="replace").strip()

    def _begin(self, contents: view.Contents) -> RunningJail:
        if not contents.argv or not contents.cwd.is_absolute():
            raise ValueError("a program and an absolute working folder are needed")
        for mount in contents.mounts:
            if defect := view.mount_defect(mount):
                raise JailError(defect)
        contents = replace(contents, environment=view.clean_environment(contents.environment))
        drops = os.geteuid() == 0 and self.isolation is not Isolation.NONE
        uid = bubblewrap.jail_user() if drops else None
        stage = self._admit(contents.mounts, uid) if uid is not None else None
        if self.isolation is Isolation.BUBBLEWRAP:
            return bubblewrap.start(contents, [] if uid is None else stage.enter(uid) if stage else bubblewrap.become(uid))
        confined = self.isolation is Isolation.LANDLOCK
        return launcher_jail.start(contents, confined=confined, enter=stage.enter(None) if stage else [], uid=uid)

    def _admit(self, mounts: Sequence[Mount], uid: int) -> bubblewrap.Stage | None:
        """Let uid use the mounts: make it the owner of the writable ones, and stage those that only root can reach."""
        for mount in mounts:
            if mount.writable:
                view.give_ownership(mount.source, uid)
            elif defect := view.unreadable_by_others(mount):
                raise JailError(defect)
        sources = dict.fromkeys([*view.interpreter_folders(), *(mount.source for mount in mounts)])
        hidden = tuple(source for source in sources if not view.reachable(source))
        if not hidden:
            return None
        with self._lock:
            if hidden not in self._stages:
                self._stages[hidden] = bubblewrap.Stage(hidden)
            return self._stages[hidden]

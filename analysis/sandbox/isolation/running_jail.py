"""A running jail as its starter sees it: what every level of isolation has in common."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from . import kernel
from .cgroup import Group
from .limits import Limits

# written to stdout before the program starts, when the jail is ready
READY = b"ok\n"
# How the reason begins where a program was ended by a signal, not by the jail for a limit.
ENDED_BY = "it was ended by"
# what the runtimes print when an allocation fails
_NO_MEMORY = (
    *(b"\nMemoryError", b"java.lang.OutOfMemoryError", b"insufficient memory for the Java Runtime", b"heap out of memory"),
    *(b"rocess out of memory", b"std::bad_alloc", b"Cannot allocate memory"),
)
RunEnding = Literal["exited", "signalled", "timed_out", "out_of_memory", "infrastructure"]
_lock = threading.Lock()
_open_blocks = 0


class JailError(Exception):
    """The jail could not be made; the message says why. This says nothing about the program."""


@dataclass(frozen=True, slots=True)
class JailEnd:
    """How a jail ended.

    status: the program's exit status, negative for a signal. cpu_s: of all processes inside. failure: how the jail failed, or nothing.
    killed_for_memory: whether the kernel has killed one of its processes for its memory limit.
    """

    status: int
    cpu_s: float
    failure: str
    killed_for_memory: bool = False


def ending_of(end: JailEnd, cpu_s: float, stderr: bytes, limits: Limits, machine_out_of_memory: bool) -> tuple[RunEnding, str]:
    """How a program ended that was not stopped for a limit, and why."""
    status = end.status
    if end.failure:
        return "infrastructure", end.failure
    if status == 0:
        return "exited", ""
    if end.killed_for_memory or any(sign in b"\n" + stderr for sign in _NO_MEMORY):
        return "out_of_memory", f"it asked for more than {limits.memory_bytes >> 20} MiB"
    if status > 0:
        return "exited", f"it ended with status {status}"
    number = -status
    if number in (signal.SIGKILL, signal.SIGXCPU) and cpu_s >= limits.cpu_s:
        return "timed_out", f"it used more than {limits.cpu_s:g} s of CPU time"
    if number == signal.SIGKILL and machine_out_of_memory:
        return "infrastructure", "the machine ran out of memory"
    name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
    return "signalled", f"{ENDED_BY} {name}"


class RunningJail(ABC):
    """A running jail, seen from outside.

    process: its first process. ended: a descriptor that becomes readable once that has ended. root: the id of the process that all others
    inside descend from. private: the folder outside that serves as its /tmp, or None where its /tmp is a file system of its own.
    """

    def __init__(self, process: subprocess.Popen[bytes], root: int, ended: int, group: Group, private: str | None = None) -> None:
        self.process, self.root, self.ended, self.private = process, root, ended, private
        self._group = group

    @abstractmethod
    def kill(self) -> None:
        """End every process inside."""

    @abstractmethod
    def reap(self) -> JailEnd:
        """Wait for the end, and reap every process inside."""

    def oom_kills(self) -> int:
        """How many processes inside the kernel has killed for the jail's memory limit, where it counts them; 0 once reaped."""
        return self._group.oom_kills()

    def _reaped(self) -> bool:
        """Put away what is left of a jail without processes; whether the kernel has killed some for the jail's memory limit."""
        os.close(self.ended)
        killed_for_memory = self.oom_kills() > 0
        self._group.remove()
        return killed_for_memory


def oom_kills() -> int:
    """How many processes the kernel has killed for want of memory since the machine began (Linux; else 0)."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """Adopt orphans below this process while the block runs (Linux), so that every process of a jail can be reaped.

    Only so long: nobody waits for the orphans of other parts of the program, so they would stay here as zombies.
    """
    _count_blocks(1)
    try:
        yield
    finally:
        _count_blocks(-1)


def _count_blocks(more: int) -> None:
    global _open_blocks
    with _lock:
        _open_blocks += more
        kernel.adopt_orphans(_open_blocks > 0)

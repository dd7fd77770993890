"""A running jail as its starter sees it: what every level of isolation has in common."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

# written to stdout before the program starts, when the jail is ready
READY = b"ok\n"
_PR_SET_CHILD_SUBREAPER = 36
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


class RunningJail(Protocol):
    """A running jail.

    process: its first process. ended: a descriptor that becomes readable once that has ended. root: the id of the process that all others
    inside descend from. private: the folder outside that serves as its /tmp, or None where its /tmp is a file system of its own.
    """

    process: subprocess.Popen[bytes]
    ended: int
    root: int
    private: str | None

    def kill(self) -> None:
        """End every process inside."""

    def oom_kills(self) -> int:
        """How many processes inside the kernel has killed for the jail's memory limit, where it counts them; 0 once reaped."""

    def reap(self) -> JailEnd:
        """Wait for the end, and reap every process inside."""


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
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(_open_blocks > 0), 0, 0, 0)

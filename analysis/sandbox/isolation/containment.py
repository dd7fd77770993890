"""What every level of isolation has in common: how a running jail is seen from outside."""

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

# the first thing on stdout, before the program's own: the jail stands
READY = b"ok\n"
_PR_SET_CHILD_SUBREAPER = 36
_lock = threading.Lock()
_open = 0


class Unjailed(Exception):
    """The jail could not be made; the message says why. It says nothing about the program."""


@dataclass(frozen=True, slots=True)
class End:
    """How a jail ended: the program's exit status (negative for a signal), CPU seconds of all inside, how the jail failed if it did.

    killed_for_memory: whether the kernel has ended one of its processes for that.
    """

    status: int
    cpu_s: float
    failure: str
    killed_for_memory: bool = False


class Contained(Protocol):
    """A running jail.

    process: its first one; ended: a descriptor that can be read once that has ended; root: the process below which all inside are;
    private: the folder outside that serves as its /tmp, or None where it has a file system of its own for it.
    """

    process: subprocess.Popen[bytes]
    ended: int
    root: int
    private: str | None

    def kill(self) -> None:
        """End every process inside."""

    def oom_kills(self) -> int:
        """How many processes inside the kernel has killed for the jail's own limit of memory, where it counts them; 0 once reaped."""

    def reap(self) -> End:
        """Wait for the end."""


def oom_kills() -> int:
    """How many processes the kernel has killed for want of memory since the machine began (Linux; else 0)."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), 0)


@contextmanager
def adopting_orphans() -> Iterator[None]:
    """While one of these blocks runs, orphans below this process go to it (Linux): so a jail can be reaped to its last process.

    Not longer: the orphans of other parts of the program would stay as zombies here, for nobody waits for them.
    """
    _adopt(1)
    try:
        yield
    finally:
        _adopt(-1)


def _adopt(more: int) -> None:
    global _open
    with _lock:
        _open += more
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, int(_open > 0), 0, 0, 0)

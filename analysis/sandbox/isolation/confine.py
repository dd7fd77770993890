"""Confine the calling process for good, before it runs code that is not trusted: for a warm process that forks one for each program.

Files by Landlock, system calls by seccomp, use by the kernel's limits; no socket, no signal to another process, nothing of another
process's memory. It takes a fraction of a millisecond, and is meant to be used inside a jail: alone it leaves a process of the same user,
which sees the machine's process ids and users. Linux only; the standard library only.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import landlock, rlimits, seccomp
from .limits import OPEN_FILES, Limits


class Unconfined(Exception):
    """The kernel can't confine this process; the message says why. It must not run code that is not trusted."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """What `prepare` made ready; it outlives a fork, so that one serves every child. Holds a descriptor.

    address_space: bytes, before the program.
    """

    limits: Limits
    rules: int
    allow_fork: bool
    filter: bytes | None  # None where it depends on the id of the process
    address_space: int

    def apply(self, *, forked: bool = False) -> None:
        """Confine the calling process, irrevocably. Raises Unconfined, and then the process must end.

        forked: it has just been forked, and so has one thread: in a jail without namespaces a child can't look at itself in /proc.
        """
        if not forked and _threads() > 1:
            raise Unconfined("only a process of one thread can be confined: fork first, start threads later")
        limits, used = self.limits, resource.getrusage(resource.RUSAGE_SELF)
        try:
            rlimits.bound_process(
                cpu_s=limits.cpu_s + used.ru_utime + used.ru_stime,
                memory_bytes=limits.memory_bytes,
                file_bytes=limits.file_bytes,
                open_files=OPEN_FILES,
                address_bytes=None if self.allow_fork else limits.memory_bytes + self.address_space,
            )
            filter_ = self.filter or _filter(self.allow_fork, os.getpid())
            landlock.restrict(self.rules)
            os.close(self.rules)
            seccomp.install(filter_)
        except (OSError, ValueError, seccomp.UnsupportedArchitecture) as error:
            raise Unconfined(f"this process can't be confined: {error}") from None


def prepare(limits: Limits, *, readable: Sequence[Path] = (), writable: Sequence[Path] = (), allow_fork: bool = False) -> Confinement:
    """Make a confinement ready, to be applied after a fork. See `confine`. Raises Unconfined."""
    try:
        rules = landlock.ruleset(readable=map(str, readable), writable=map(str, writable), execute=allow_fork)
        scoped = landlock.abi() >= landlock.SCOPED_SIGNALS_ABI
        return Confinement(limits, rules, allow_fork, _filter(allow_fork, None) if scoped else None, _address_space())
    except (OSError, seccomp.UnsupportedArchitecture) as error:
        raise Unconfined(f"this process can't be confined: {error}") from None


def confine(limits: Limits, *, readable: Sequence[Path] = (), writable: Sequence[Path] = (), allow_fork: bool = False) -> None:
    """Confine the calling process and all that it may start, irrevocably.

    It may read what lies under readable, read and write what lies under writable, and open no other file; files that are open stay so.
    CPU time counts from now. Without allow_fork it can start no process and run no other program (threads it can), and its whole address
    space may grow by limits.memory_bytes; with it, each process may have that much private memory. limits.processes and wall_s are the
    jail's business.

    Raises Unconfined where the kernel can't do all of it, or the process has more than one thread; the process must then not go on.
    """
    prepare(limits, readable=readable, writable=writable, allow_fork=allow_fork).apply()


def _filter(allow_fork: bool, own_id: int | None) -> bytes:
    return seccomp.process_filter(fork=allow_fork, execute=allow_fork, attributes=False, own_id=own_id)


def _threads() -> int:
    try:
        return len(list(Path("/proc/self/task").iterdir()))
    except OSError:
        raise Unconfined("/proc can't be read, so the threads of this process can't be counted") from None


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")

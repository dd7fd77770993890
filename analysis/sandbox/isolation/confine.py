"""Confine the calling process for good before it runs untrusted code: for a warm process that forks a child for each program.

Landlock bounds files, seccomp system calls, and the kernel's limits CPU and memory. The process gets no socket, can signal no other process
and read no other process's memory. This takes a fraction of a millisecond. It is meant for use inside a jail: alone it leaves the same
user, and the machine's process ids and users visible. Linux only; the standard library only.
"""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from . import landlock, rlimits, seccomp
from .limits import MAX_OPEN_FILES, Limits


class ConfinementError(Exception):
    """The kernel can't confine this process; the message says why. It must not run code that is not trusted."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """A prepared confinement. It survives a fork, so one serves every child. Holds a descriptor.

    rules: the descriptor of the Landlock rules. filter: the seccomp filter, None where it depends on the process id. address_space: bytes
    of address space in use before the program.
    """

    limits: Limits
    rules: int
    allow_fork: bool
    filter: bytes | None
    address_space: int

    def apply(self, *, forked: bool = False) -> None:
        """Confine the calling process, irrevocably.

        Parameters:
            forked: it has just been forked, so it has one thread. In a jail without namespaces a child can't count its threads in /proc.

        Raises: ConfinementError; the process must then end.
        """
        if not forked and _threads() > 1:
            raise ConfinementError("only a process of one thread can be confined: fork first, start threads later")
        limits, used = self.limits, resource.getrusage(resource.RUSAGE_SELF)
        try:
            rlimits.bound_process(
                cpu_s=limits.cpu_s + used.ru_utime + used.ru_stime,
                memory_bytes=limits.memory_bytes,
                file_bytes=limits.file_bytes,
                open_files=MAX_OPEN_FILES,
                address_bytes=None if self.allow_fork else limits.memory_bytes + self.address_space,
            )
            filter_ = self.filter or _filter(self.allow_fork, os.getpid())
            landlock.restrict(self.rules)
            os.close(self.rules)
            seccomp.install(filter_)
        except (OSError, ValueError, seccomp.UnsupportedArchitecture) as error:
            raise ConfinementError(f"this process can't be confined: {error}") from None


def prepare(limits: Limits, *, readable: Sequence[Path] = (), writable: Sequence[Path] = (), allow_fork: bool = False) -> Confinement:
    """Prepare a confinement that is applied after a fork. Parameters as in `confine`. Raises ConfinementError."""
    try:
        rules = landlock.ruleset(readable=map(str, readable), writable=map(str, writable), execute=allow_fork)
        scoped = landlock.abi() >= landlock.SCOPED_SIGNALS_ABI
        return Confinement(limits, rules, allow_fork, _filter(allow_fork, None) if scoped else None, _address_space())
    except (OSError, seccomp.UnsupportedArchitecture) as error:
        raise ConfinementError(f"this process can't be confined: {error}") from None


def confine(limits: Limits, *, readable: Sequence[Path] = (), writable: Sequence[Path] = (), allow_fork: bool = False) -> None:
    """Confine the calling process and all that it may start, irrevocably.

    Parameters:
        limits: CPU time counts from now; processes and wall_s are left to the jail.
        readable, writable: folders whose files may be read, or read and written. No other file can be opened; open ones stay open.
        allow_fork: without it the process can start threads, but no process and no other program, and its whole address space may grow by
            limits.memory_bytes. With it each process may have that much private memory.

    Raises: ConfinementError where the kernel can't do all of it, or the process has several threads; the process must then end.
    """
    prepare(limits, readable=readable, writable=writable, allow_fork=allow_fork).apply()


def _filter(allow_fork: bool, own_id: int | None) -> bytes:
    return seccomp.process_filter(fork=allow_fork, execute=allow_fork, attributes=False, own_id=own_id)


def _threads() -> int:
    try:
        return len(list(Path("/proc/self/task").iterdir()))
    except OSError:
        raise ConfinementError("/proc can't be read, so the threads of this process can't be counted") from None


def _address_space() -> int:
    return int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")

"""The kernel's calls that not every Python offers, and its own limits on a process. Imports only light modules, for a launcher's start."""

from __future__ import annotations

import ctypes
import math
import os
import resource
import sys

# the numbers are the same on every architecture
PIDFD_SEND_SIGNAL, PIDFD_OPEN = 424, 434
# settings of a process
PDEATHSIG, SECCOMP, CHILD_SUBREAPER, NO_NEW_PRIVILEGES = 1, 22, 36, 38
GRACE_S = 1
MAX_OPEN_FILES = 512


def _checked(name: str, arguments: tuple[object, ...], doing: str) -> int:
    """Call a function of the C library. Raises OSError, which says what it was to do."""
    libc = ctypes.CDLL(None, use_errno=True)
    function = getattr(libc, name)
    function.restype = ctypes.c_long
    result = int(function(*(ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, f"the kernel could not {doing}: {os.strerror(error)}")
    return result


def call(number: int, *arguments: object, doing: str) -> int:
    """Call the kernel by a number. Raises OSError."""
    return _checked("syscall", (number, *arguments), doing)


def prctl(option: int, *values: object, doing: str = "change a setting of the process") -> None:
    """Change one setting of the calling thread or process (Linux). Raises OSError."""
    _checked("prctl", (option, *values, *[0] * (4 - len(values))), doing)


def adopt_orphans(wanted: bool) -> None:
    """Whether this process adopts the orphans below it (Linux; else nothing)."""
    if sys.platform == "linux":
        prctl(CHILD_SUBREAPER, int(wanted))


def open_process(pid: int) -> int:
    """A descriptor that becomes readable once the process has ended, and is not inherited. Raises OSError.

    A signal through it never reaches a later process with the same id. Pythons that were built against old headers have no such call.
    """
    return os.pidfd_open(pid) if hasattr(os, "pidfd_open") else call(PIDFD_OPEN, pid, 0, doing="open a process")


def send_signal(fd: int, number: int) -> None:
    """Send a signal to the process of a descriptor. Raises ProcessLookupError where it is gone."""
    call(PIDFD_SEND_SIGNAL, fd, number, 0, 0, doing="signal a process")


def lower(kind: int, value: float) -> None:
    """Set the soft and the hard limit to value, or to the present hard limit where that is lower."""
    hard = resource.getrlimit(kind)[1]
    wanted = hard if math.isinf(value) else int(value)
    bound = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    resource.setrlimit(kind, (bound, bound))


def bound_process(*, cpu_s: float, memory_bytes: int, file_bytes: int, address_bytes: int | None = None) -> None:
    """Limit the calling process, which may then leave no core dump.

    Parameters:
        cpu_s: rounded up, plus a second: the supervision from outside is more exact, and acts first.
        memory_bytes: private writable memory.
        address_bytes: the whole address space, for programs that reserve no more than they use.
    """
    lower(resource.RLIMIT_CORE, 0)
    lower(resource.RLIMIT_CPU, math.ceil(cpu_s) + GRACE_S if not math.isinf(cpu_s) else cpu_s)
    lower(resource.RLIMIT_FSIZE, file_bytes)
    lower(resource.RLIMIT_NOFILE, MAX_OPEN_FILES)
    if hasattr(resource, "RLIMIT_DATA"):
        lower(resource.RLIMIT_DATA, memory_bytes)
    if address_bytes is not None:
        lower(resource.RLIMIT_AS, address_bytes)

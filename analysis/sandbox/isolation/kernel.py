"""The kernel's calls that Python does not offer, or not in every build. Imports only light modules, for a launcher's start."""

from __future__ import annotations

import ctypes
import os
import sys

# the numbers are the same on every architecture
PIDFD_SEND_SIGNAL, PIDFD_OPEN = 424, 434
# settings of a process
PDEATHSIG, SECCOMP, CHILD_SUBREAPER, NO_NEW_PRIVILEGES = 1, 22, 36, 38


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

"""Descriptors of processes. A signal through one never reaches a later process with the same id.

Calls the system calls directly where Python was built without them (uv's and conda's, against old headers). Linux 5.3 or newer.
"""

from __future__ import annotations

import ctypes
import os
import signal

# the numbers are the same on every architecture
_SEND_SIGNAL, _OPEN = 424, 434


def open_process(pid: int) -> int:
    """A descriptor that becomes readable once the process has ended, and is not inherited. Raises OSError."""
    return os.pidfd_open(pid) if hasattr(os, "pidfd_open") else _system_call(_OPEN, pid, 0)


def send_signal(fd: int, number: int) -> None:
    """Send a signal. Raises ProcessLookupError where the process is gone."""
    if hasattr(signal, "pidfd_send_signal"):
        signal.pidfd_send_signal(fd, number)
    else:
        _system_call(_SEND_SIGNAL, fd, number, 0, 0)


def _system_call(call: int, *arguments: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    result = int(libc.syscall(ctypes.c_long(call), *map(ctypes.c_long, arguments)))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result

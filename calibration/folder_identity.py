"""Which folder a path is, so that another one that takes its name later is known for another."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path

_AT_FDCWD, _STATX_BTIME = -100, 0x800
# Of `struct statx`: its size, and where the mask of what is known and the time of birth (seconds, nanoseconds) stand.
_SIZE, _MASK_AT, _BORN_AT = 256, 0, 80


def identity_of(folder: Path) -> str:
    """Its inode and when it was made, links followed; empty where there is none.

    Some file systems give the inode of a folder that was deleted to the next one that is made. Where the time is not known, its device
    stands in its place: many a file system gets another at each mount, so it says less.
    """
    try:
        found = folder.stat()
    except OSError:
        return ""
    born = _born_ns(folder, found)
    return f"{found.st_ino}:{born}" if born else f"{found.st_ino}:on:{found.st_dev}"


def _born_ns(folder: Path, found: os.stat_result) -> int:
    if sys.platform == "win32":
        return found.st_ctime_ns
    if (born := getattr(found, "st_birthtime", None)) is not None:
        return int(born * 1e9)
    statx = getattr(ctypes.CDLL(None, use_errno=True), "statx", None)
    buffer = ctypes.create_string_buffer(_SIZE)
    if statx is None or statx(_AT_FDCWD, os.fsencode(folder), 0, _STATX_BTIME, buffer) != 0:
        return 0
    made = buffer.raw
    if not int.from_bytes(made[_MASK_AT : _MASK_AT + 4], sys.byteorder) & _STATX_BTIME:
        return 0
    seconds = int.from_bytes(made[_BORN_AT : _BORN_AT + 8], sys.byteorder, signed=True)
    return seconds * 10**9 + int.from_bytes(made[_BORN_AT + 8 : _BORN_AT + 12], sys.byteorder)

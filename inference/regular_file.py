"""Reading a file that somebody else may have made: only a regular one, and no more of it than is expected."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# Windows has none of these: its pipes and devices are not reached by the path of a folder.
_NEVER_WAIT = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_AS_IT_IS = getattr(os, "O_BINARY", 0)


def read_regular_file(path: Path, most: int, *, follow: bool = True) -> bytes:
    """The content of a regular file with at most so many bytes.

    follow: whether the path may be a symbolic link. The folders on the way to it may be links in any case.

    Raises OSError, whose `strerror` is for people: for a pipe and a device, too, which might never end, and for a file that is too large.
    """
    if not follow and path.is_symlink():
        raise OSError(errno.ELOOP, "a symbolic link, and none is followed here", str(path))
    # A look at what is there comes first, because a device may begin to work when it is opened.
    _check(path.stat(), path, most)
    handle = os.open(path, os.O_RDONLY | _NEVER_WAIT | _AS_IT_IS | (0 if follow else _NO_LINK))
    try:
        # By now the path may name something else.
        _check(os.fstat(handle), path, most)
        with open(handle, "rb", closefd=False) as file:
            data = file.read(most + 1)
    finally:
        os.close(handle)
    if len(data) > most:  # it grows, or it is one of the kernel's, which have no size
        raise _too_large(path, most)
    return data


def _check(found: os.stat_result, path: Path, most: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a file", str(path))
    if found.st_size > most:
        raise _too_large(path, most)


def _too_large(path: Path, most: int) -> OSError:
    return OSError(errno.EFBIG, f"larger than {_size(most)}", str(path))


def _size(count: int) -> str:
    return f"{count >> 20} MiB" if count >= 1 << 20 else f"{count:,} bytes"

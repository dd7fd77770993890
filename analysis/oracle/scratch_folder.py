"""A private folder that its process removes; where that was killed, the next process that makes such a folder removes it."""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..sandbox.isolation.removal import remove

_PREFIX = "assay-copy-"
# errors of file systems that have no locks, or none left
_NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})


class ScratchFolder:
    """A new folder below the system's temporary one, locked (flock) for as long as this process lives or until `close`.

    Raises OSError where it can't be made.
    """

    def __init__(self) -> None:
        parent = Path(tempfile.gettempdir()).resolve()
        remove_stale(parent)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
            held = _lock(self.path)
            if held is not None:
                self._held = held
                return

    def close(self) -> None:
        """Remove the folder."""
        if self._held >= 0:
            remove(str(self.path))
            os.close(self._held)
            self._held = -1


@contextmanager
def replaced(path: Path, data: bytes, aside: Path) -> Iterator[None]:
    """Put other content into a file while the block runs. aside: an empty folder of the same file system, where it is kept meanwhile.

    The file is moved there and back, so that a full disk never leaves half of it. Raises OSError.
    """
    changed, kept = aside / "changed", aside / "kept"
    changed.write_bytes(data)
    shutil.copymode(path, changed)
    path.rename(kept)
    try:
        changed.rename(path)
        yield
    finally:
        kept.replace(path)


def remove_stale(parent: Path) -> None:
    """Remove this user's scratch folders in `parent` that no process holds (root: everybody's). What can't be removed stays."""
    for path in parent.glob(f"{_PREFIX}*"):
        try:
            if os.geteuid() in (0, path.lstat().st_uid) and (held := _lock(path, must=True)) is not None:
                # locked until it is gone: a process that has just made it sees that, and makes another
                remove(str(path))
                os.close(held)
        except OSError:
            continue


def _lock(path: Path, *, must: bool = False) -> int | None:
    """Lock a folder.

    Parameters:
        must: fail where the file system has no locks, since a folder in use can't be told from a stale one there.

    Returns: a descriptor that holds the lock; None where another process holds it, or the folder is gone or none.
    """
    try:
        held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _NO_LOCKS and not must:
            return held
        os.close(held)
        return None
    if _same(held, path):
        return held
    os.close(held)
    return None


def _same(held: int, path: Path) -> bool:
    """Whether the path still leads to the folder that is held."""
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    here = os.fstat(held)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)

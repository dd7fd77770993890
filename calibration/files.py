"""Files that appear whole or not at all, and the folder of those that are the user's."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

import platformdirs


def data_folder() -> Path:
    """Where a user's own calibrators and log of events are: `ASSAY_DATA_HOME` of the environment, else where the system keeps such."""
    return Path(os.environ.get("ASSAY_DATA_HOME") or platformdirs.user_data_dir("assay", appauthor=False))


@contextmanager
def write_atomically(path: Path) -> Iterator[BinaryIO]:
    """A binary file that takes the name `path` when the block ends well; when it raises, `path` is as it was. Parent folders are made.

    A link is followed. Raises OSError, which names `path`, also for one that is there and is no regular file: a device or a pipe would be
    replaced.
    """
    whole = path.resolve()
    temporary = whole.with_name(f".{whole.name}.{secrets.token_hex(6)}")
    try:
        if whole.exists() and not whole.is_file():
            raise OSError(errno.EINVAL, "it is a folder" if whole.is_dir() else "it is no regular file")
        whole.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        temporary.replace(whole)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise OSError(error.errno, error.strerror or str(error), str(path)) from None
        raise

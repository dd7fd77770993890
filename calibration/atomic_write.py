"""Atomic writing: a file appears whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import BinaryIO

_RANDOM_BYTES = 6
_LEFTOVER = re.compile(r"\.(.+)\.[0-9a-f]+")


@contextmanager
def write_atomically(path: Path, *, follow: bool = True, private: bool = False) -> Iterator[BinaryIO]:
    """Open a binary file that takes the name `path` when the block ends; if the block raises, `path` stays as it was.

    Parent folders are made. follow: write to what a symbolic link at `path` names; else the file takes the link's place, and what it names
    stays as it was. private: only the owner may read the file.

    Raises OSError that names `path`, also where `path` exists and is no regular file: a device or a pipe would be replaced.
    """
    whole = path.resolve() if follow else path.parent.resolve() / path.name
    temporary = whole.with_name(f".{whole.name}.{secrets.token_hex(_RANDOM_BYTES)}")
    try:
        if whole.exists() and not whole.is_file() and (follow or not whole.is_symlink()):
            raise OSError(errno.EINVAL, "it is a folder" if whole.is_dir() else "it is no regular file")
        whole.parent.mkdir(parents=True, exist_ok=True)
        with open(temporary, "xb", opener=partial(os.open, mode=0o600 if private else 0o666)) as out:
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


def leftovers(path: Path) -> list[Path]:
    """The temporary files of `path` that `write_atomically` leaves beside it when it is killed."""
    name = re.compile(rf"\.{re.escape(path.name)}\.[0-9a-f]{{{2 * _RANDOM_BYTES}}}")
    return [file for file in path.parent.iterdir() if name.fullmatch(file.name)] if path.parent.is_dir() else []


def leftovers_below(folder: Path) -> Iterator[Path]:
    """Those of any file below a folder."""
    for file in folder.rglob(".*"):
        if file.is_file() and (found := _LEFTOVER.fullmatch(file.name)) and file in leftovers(file.with_name(found[1])):
            yield file

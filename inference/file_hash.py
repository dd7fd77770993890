"""The hash of a model file, computed once."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

from .errors import UnreadableModel


def file_sha256(path: Path) -> str:
    """SHA-256 of a file in hex, remembered in this process until its size or date changes. Raises UnreadableModel."""
    try:
        status = path.stat()
        return _hash_of(path.resolve(), status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise UnreadableModel(path, error.strerror or str(error)) from error


@functools.lru_cache(maxsize=64)
def _hash_of(path: Path, _size: int, _mtime_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

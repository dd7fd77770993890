"""The hash of a model file, computed once."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import platformdirs

from .errors import UnreadableModel

# A smaller file is hashed in no time, so its hash is not written down.
_MIN_BYTES = 1 << 24
_HASH = re.compile(r"[0-9a-f]{64}")


def file_sha256(path: Path) -> str:
    """SHA-256 of a file in hex, remembered in this process until its size or date changes. Raises UnreadableModel."""
    try:
        status = path.stat()
        return _hash_of(path.resolve(), status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise UnreadableModel(path, error.strerror or str(error)) from error


def sha256_of_all(paths: Sequence[Path]) -> str:
    """One hash of a model's files: of a single file its SHA-256, of several that of their hashes in order. Raises UnreadableModel."""
    return _together([file_sha256(path) for path in paths])


def known_sha256_of_all(paths: Sequence[Path]) -> str:
    """The same of files whose hashes are known (`known_sha256`); "" where one is not."""
    hashes = [known_sha256(path) for path in paths]
    return _together(hashes) if all(hashes) else ""


def hash_of_hashes(hashes: Iterable[str]) -> str:
    """SHA-256 in hex over hashes in hex."""
    return hashlib.sha256("".join(hashes).encode()).hexdigest()


def _together(hashes: Sequence[str]) -> str:
    return hashes[0] if len(hashes) == 1 else hash_of_hashes(hashes)


def known_sha256(path: Path) -> str:
    """The hash that `file_sha256` gave for the file as it is now, in any process; that of a small file at once; "" if it is not known.

    It is for lists, where hashing gigabytes takes too long. What a model is opened with is always computed.
    """
    try:
        status = path.stat()
        if status.st_size < _MIN_BYTES:
            return file_sha256(path)
        said = _note_of(path.resolve()).read_text(encoding="ascii")
    except (OSError, ValueError, UnreadableModel):
        return ""
    stated, _, found = said.partition(" ")
    return found if stated == _state(status.st_size, status.st_mtime_ns) and _HASH.fullmatch(found) else ""


@functools.lru_cache(maxsize=64)
def _hash_of(path: Path, size: int, mtime_ns: int) -> str:
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if size >= _MIN_BYTES:
        with contextlib.suppress(OSError):  # a cache that can't be written only costs time
            _write(_note_of(path), f"{_state(size, mtime_ns)} {found}")
    return found


def _state(size: int, mtime_ns: int) -> str:
    return f"{size}:{mtime_ns}"


def _note_of(path: Path) -> Path:
    """The file that holds what is known of a file: in `ASSAY_CACHE_HOME`, else in the system's folder for caches of the user."""
    folder = os.environ.get("ASSAY_CACHE_HOME") or platformdirs.user_cache_dir("assay", appauthor=False)
    return Path(folder) / "hashes" / hashlib.sha256(os.fsencode(path)).hexdigest()[:32]


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise

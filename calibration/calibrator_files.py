"""The files in folders of calibrators: calibrators, and beside them what studies say of each. Only files that changed are read again."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice
from pathlib import Path
from typing import Literal

from .calibrator import MAX_FILE_BYTES, Calibrator, CalibratorError, load
from .validation import table
from .validation.table import Validation

Origin = Literal["project", "user", "shipped"]
Places = Sequence[tuple[Origin, Path]]
# Of a folder. So many are more than one needs, and read in a moment.
MAX_FILES = 200
MAX_FOLDER_BYTES = 4 * MAX_FILE_BYTES
MAX_LISTED = 2_000

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of one file.

    version: changes whenever the file does.
    content: the newest calibrator, or validation table, that was read from it.
    error, logged: why this version can't be read, and whether the log says so.
    """

    version: tuple[int, ...]
    content: Calibrator | Validation | None = None
    error: str | None = None
    logged: bool = False


def files_of(origin: Origin, folder: Path) -> tuple[list[tuple[Path, os.stat_result | None]], str]:
    """The first `MAX_FILES` *.json of a folder by name, with their `stat` (None if one has none), and what is said of the rest, if any.

    Names that begin with a dot are left out, because editors and copying programs put temporary files there.

    Raises CalibratorError if the folder can't be listed.
    """
    found: list[tuple[Path, os.stat_result | None]] = []
    try:
        with os.scandir(folder) as items:
            for item in islice(items, MAX_LISTED):
                if item.name.endswith(".json") and not item.name.startswith("."):
                    try:
                        found.append((folder / item.name, item.stat(follow_symlinks=origin != "project")))
                    except OSError:
                        found.append((folder / item.name, None))
    except (FileNotFoundError, NotADirectoryError, ValueError):  # ValueError: no folder can have such a name
        return [], ""
    except OSError as error:
        raise CalibratorError(f"{folder}: can't be listed: {error.strerror}") from None
    found.sort(key=lambda file: file[0])
    sizes = accumulate(status.st_size if status and status.st_size <= MAX_FILE_BYTES else 0 for _, status in found)
    kept = [file for file, size in zip(found[:MAX_FILES], sizes, strict=False) if size <= MAX_FOLDER_BYTES]
    most = f"at most {MAX_FILES} calibrators, with {MAX_FOLDER_BYTES >> 20} MiB in all, are read of a folder"
    return kept, f"{folder}: {len(found) - len(kept)} files or more are left out: {most}" if len(kept) < len(found) else ""


def look(places: Places, before: Mapping[Path, FileState], stop: threading.Event | None = None) -> dict[Path, FileState]:
    """What is in the folders, by path. Only files that changed since `before` are read. stop: no more are read once it is set.

    A file that can't be read may be half-written. So what was read of it before is kept, and the error is logged at the second look, once
    for each version.
    """
    files: dict[Path, FileState] = {}
    for origin, folder in places:
        try:
            listed, rest = files_of(origin, folder)
        except CalibratorError as error:
            files |= {path: seen for path, seen in before.items() if folder in path.parents}
            files[folder] = _unreadable((), str(error), before.get(folder))
            continue
        for path, stat in listed:
            if stop is not None and stop.is_set():
                return files
            files[path] = _file_state(_read_calibrator, origin, path, stat, before.get(path))
            calibrator = files[path].content
            if isinstance(calibrator, Calibrator) and os.path.lexists(beside := table.path_of(calibrator, path)):
                files[beside] = _file_state(_read_table, origin, beside, _stat(beside, origin), before.get(beside))
        if rest:
            files[folder] = _unreadable((), rest, before.get(folder))
    return files


_Reader = Callable[[Path, bool], Calibrator | Validation]


def _read_calibrator(path: Path, follow: bool) -> Calibrator:
    calibrator = load(path, follow=follow)
    calibrator.id  # noqa: B018 - worked out here, where nobody waits: it is a hash of the whole content
    return calibrator


def _read_table(path: Path, follow: bool) -> Validation:
    if not follow and path.parent.is_symlink():
        raise CalibratorError(f"{path.parent}: a symbolic link, and none is followed in a project")
    return table.load(path, follow=follow)


def _stat(path: Path, origin: Origin) -> os.stat_result | None:
    try:
        return path.stat(follow_symlinks=origin != "project")
    except OSError:
        return None


def _file_state(read: _Reader, origin: Origin, path: Path, stat: os.stat_result | None, before: FileState | None) -> FileState:
    version = (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino) if stat else ()
    if before is not None and before.version == version and (before.logged or before.error is None):
        return before
    try:
        return FileState(version, read(path, origin != "project"))
    except CalibratorError as error:
        return _unreadable(version, str(error), before)


def _unreadable(version: tuple[int, ...], error: str, before: FileState | None) -> FileState:
    content = before.content if before else None
    reason = f"{error}; what was read of it before is still used" if content else error
    if before is None or before.version != version or before.error is None:
        return FileState(version, content, reason)
    if not before.logged:
        _log.warning("calibrator skipped: %s", reason)
    return FileState(version, content, reason, logged=True)

"""A watch on the folders of the registry: it is kept up to date while calibrator files come, change and go.

File events say when to list the folders and read what is new. The folders are also listed every `LOOK_S`: no event comes for a folder that
does not exist yet or whose parent is moved, for a change by another machine on a network drive, or if the system is out of watches. So a
change is seen within `LOOK_S`, or with events within `DEBOUNCE_S`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from watchdog.events import (
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
)

from .calibrator import CalibratorError
from .file_events import FileEvents
from .registry import Entry, Origin, Registry, files_of, read_entry, registry_of

LOOK_S = 0.5
# One change makes several events, and a program that writes a file in place needs a moment.
DEBOUNCE_S = 0.1

_CHANGES: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]

_log = logging.getLogger(__name__)


class RegistryWatch:
    """A registry that follows its files with a thread of its own, until it is closed.

    registry: the newest one. It is immutable and replaced as a whole, so a reader sees all of a change or nothing of it.
    """

    def __init__(self, places: Sequence[tuple[Origin, Path]]) -> None:
        """Reads the folders before it returns. places: as from `registry.folders`; they need not exist."""
        self._places = places
        self._files = look(places, {})
        self.registry = _registry(self._files)
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._follow, name="assay-registry", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop following and end every thread. Calling it again does nothing."""
        self._closed.set()
        self._wake.set()
        self._thread.join()

    def _follow(self) -> None:
        events = FileEvents(self._wake, _CHANGES)
        try:
            while not self._closed.is_set():
                events.follow([(folder, False) for _, folder in self._places if folder.is_dir()])
                self._look()
                if self._wake.wait(LOOK_S):
                    self._closed.wait(DEBOUNCE_S)
                    self._wake.clear()
        finally:
            events.close()

    def _look(self) -> None:
        files = look(self._places, self._files)
        if files != self._files:
            self._files, self.registry = files, _registry(files)


@dataclass(frozen=True, slots=True)
class Seen:
    """What is known of one file.

    version: changes whenever the file does.
    entry: the newest calibrator that was read from it.
    error, told: why this version can't be read, and whether that was logged.
    """

    version: tuple[int, ...]
    entry: Entry | None
    error: str | None = None
    told: bool = False


def look(places: Iterable[tuple[Origin, Path]], before: Mapping[Path, Seen]) -> dict[Path, Seen]:
    """What is in the folders, by path. Only files that changed since `before` are read.

    A file that can't be read may be half-written. So what was read of it before is kept, and the error is logged at the second look, once
    for each version.
    """
    files: dict[Path, Seen] = {}
    for origin, folder in places:
        try:
            for path, found in files_of(folder):
                version = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino) if found else ()
                files[path] = _seen(origin, path, version, before.get(path))
        except CalibratorError as error:
            files |= {path: seen for path, seen in before.items() if path.parent == folder}
            files[folder] = _unreadable((), error, before.get(folder))
    return files


def _seen(origin: Origin, path: Path, version: tuple[int, ...], before: Seen | None) -> Seen:
    if before is not None and before.version == version and (before.told or before.error is None):
        return before
    try:
        return Seen(version, read_entry(origin, path))
    except CalibratorError as error:
        return _unreadable(version, error, before)


def _unreadable(version: tuple[int, ...], error: CalibratorError, before: Seen | None) -> Seen:
    entry = before.entry if before else None
    reason = f"{error}; what was read of it before is still used" if entry else str(error)
    if before is None or before.version != version or before.error is None:
        return Seen(version, entry, reason)
    if not before.told:
        _log.warning("calibrator skipped: %s", reason)
    return Seen(version, entry, reason, told=True)


def _registry(files: Mapping[Path, Seen]) -> Registry:
    seen = files.values()
    return registry_of((file.entry for file in seen if file.entry), (file.error for file in seen if file.error))

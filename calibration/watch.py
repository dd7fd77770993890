"""A watch on the folders of the registry: it is kept up to date while calibrator files come, change and go.

One thread follows the calibrators of all projects that are open, and what they share. File events say when to list the folders and read
what is new. The folders are also listed every `LOOK_S`: no event comes for a folder that does not exist yet or whose parent is moved, for
a change by another machine on a network drive, or if the system is out of watches. So a change is seen within `LOOK_S`, or with events
within `DEBOUNCE_S`; later where a look takes long.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
from .project_folder import PROJECT_FOLDER, is_folder, project_of
from .registry import Entry, Origin, Registry, files_of, read_entry, read_table, registry_of, tables_of, validated, why_left_out
from .trust import Trust
from .validation.table import FOLDER, Validation

LOOK_S = 0.5
# One change makes several events, and a program that writes a file in place needs a moment.
DEBOUNCE_S = 0.1

# After a look that took long, the next waits so many times as long.
_REST = 10
# Each folder that events come from has threads of its own. The others are looked at.
_MAX_WATCHES = 64
_CLOSE_S = 2.0
_CHANGES: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]

_log = logging.getLogger(__name__)

Places = Sequence[tuple[Origin, Path]]
TrustIn = Callable[[Path | None, Path], Trust]


@dataclass(frozen=True, slots=True)
class RootCalibrators:
    """The calibrators for a root folder.

    project: the nearest folder at or above it with calibrators of its own, or the root itself; None for no root.
    is_open: the project has calibrators that do not count until the user says whether to trust them.
    """

    registry: Registry
    project: Path | None
    is_open: bool = False


class RegistryWatch:
    """The registries for some root folders, followed by one thread until `close`.

    A registry is immutable and replaced as a whole, so a reader sees all of a change or nothing of it.
    """

    def __init__(self, shared: Places, trust: TrustIn, on_change: Callable[[Path | None, RootCalibrators], None]) -> None:
        """shared: the folders for all projects, which need not exist. trust: of a root's project.

        on_change: called with a root's calibrators at the first look, and whenever they change. Both are called in the watch's thread.
        """
        self._shared, self._trust, self._on_change = shared, trust, on_change
        self._common = _FolderState()
        self._roots: dict[Path | None, _Root] = {}
        self._wake, self._closed = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._follow, name="assay-registry", daemon=True)
        self._thread.start()

    def follow(self, root: Path | None) -> None:
        """Look for the calibrators for a root folder, too. None: those of no project."""
        self._roots.setdefault(root, _Root())
        self._wake.set()

    def unfollow(self, root: Path | None) -> None:
        """Look for a root folder's calibrators no more."""
        self._roots.pop(root, None)
        self._wake.set()

    def look(self) -> None:
        """Look soon."""
        self._wake.set()

    def close(self) -> None:
        """Stop following and end every thread. Calling it again does nothing. Waits at most 2 s, for a disk that does not answer."""
        self._closed.set()
        self._wake.set()
        self._thread.join(_CLOSE_S)

    def _follow(self) -> None:
        events, is_logged = FileEvents(self._wake, _CHANGES), False
        try:
            while not self._closed.is_set():
                self._wake.clear()
                began = time.monotonic()
                try:
                    events.follow([(folder, False) for folder in self._folders() if is_folder(folder)][:_MAX_WATCHES])
                    self._look()
                except Exception:  # one of our own must not end what follows all folders
                    if not is_logged:
                        _log.exception("Calibrators can't be followed.")
                    is_logged = True
                took = time.monotonic() - began
                if self._wake.wait(max(LOOK_S, _REST * took)):
                    self._closed.wait(DEBOUNCE_S)
        finally:
            events.close()

    def _folders(self) -> list[Path]:
        own = {root.project / PROJECT_FOLDER for root in self._roots.copy().values() if root.project is not None}
        folders = [*(folder for _, folder in self._shared), *sorted(own)]
        return [*folders, *(folder / FOLDER for folder in folders)]

    def _look(self) -> None:
        common = self._common.again(self._shared, (), self._closed)
        for path, root in self._roots.copy().items():
            if self._closed.is_set():
                return
            error: Exception | None = None
            try:
                calibrators = self._calibrators_of(path, root, common)
            except Exception as fault:  # one of our own must leave nobody waiting
                calibrators, error = RootCalibrators(common.registry, root.project), fault
            if calibrators != root.calibrators:
                if error is not None:
                    _log.error("The calibrators of %s can't be followed.", path, exc_info=error)
                root.calibrators = calibrators
                try:
                    self._on_change(path, calibrators)
                except Exception:  # the other roots still have their turn
                    _log.exception("The calibrators of %s can't be passed on.", path)
        self._common = common

    def _calibrators_of(self, path: Path | None, root: _Root, common: _FolderState) -> RootCalibrators:
        if path is None:
            return RootCalibrators(common.registry, None)
        if root.project is None:
            root.project = project_of(path) or path
        project = root.project
        try:
            reason, is_open = why_left_out(project, lambda project: self._trust(path, project))
        except CalibratorError:  # raised again when it is read
            reason, is_open = "", False
        places: Places = [] if reason else [("project", project / PROJECT_FOLDER)]
        own = root.own.again(places, [reason] if reason else (), self._closed)
        if not own.files and not reason:
            registry = common.registry  # the same for all projects that have no calibrators of their own
        elif own is root.own and common is self._common and root.calibrators is not None:
            registry = root.calibrators.registry
        else:
            registry = registry_of([*own.registry.entries, *common.registry.entries], [*own.registry.skipped, *common.registry.skipped])
        root.own = own
        return RootCalibrators(registry, project, is_open)


@dataclass(frozen=True, slots=True, eq=False)
class _FolderState:
    """The content of some folders: the files, what was left out, and the registry of both."""

    files: Mapping[Path, FileState] = field(default_factory=dict)
    left_out: Sequence[str] = ()
    registry: Registry = field(default_factory=lambda: Registry((), ()))

    def again(self, places: Places, left_out: Sequence[str], stop: threading.Event) -> _FolderState:
        """The same, or what is there now. stop: set where nobody waits for it any more."""
        files = look(places, self.files, stop)
        if (files, left_out) == (self.files, self.left_out):
            return self
        seen = files.values()
        tables = {path: file.table for path, file in files.items() if file.table}
        entries = validated((file.entry for file in seen if file.entry), tables)
        return _FolderState(files, left_out, registry_of(entries, [*left_out, *(file.error for file in seen if file.error)]))


@dataclass(slots=True)
class _Root:
    """A root folder: its project once it is known, the state of the project's own folder, and its latest calibrators."""

    project: Path | None = None
    own: _FolderState = field(default_factory=_FolderState)
    calibrators: RootCalibrators | None = None


@dataclass(frozen=True, slots=True)
class FileState:
    """The state of one file.

    version: changes whenever the file does.
    entry, table: the newest calibrator, or validation table, that was read from it.
    error, logged: why this version can't be read, and whether the log says so.
    """

    version: tuple[int, ...]
    entry: Entry | None = None
    table: Validation | None = None
    error: str | None = None
    logged: bool = False


def look(places: Iterable[tuple[Origin, Path]], before: Mapping[Path, FileState], stop: threading.Event) -> dict[Path, FileState]:
    """What is in the folders, by path. Only files that changed since `before` are read. stop: no more are read once it is set.

    A file that can't be read may be half-written. So what was read of it before is kept, and the error is logged at the second look, once
    for each version.
    """
    files: dict[Path, FileState] = {}
    for origin, folder in places:
        for inside, listing, read in ((folder, files_of, _read_entry), (folder / FOLDER, tables_of, _read_table)):
            try:
                listed, rest = listing(origin, folder)
                for path, stat in listed:
                    if stop.is_set():
                        return files
                    version = (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino) if stat else ()
                    files[path] = _file_state(read, origin, path, version, before.get(path))
                if rest:
                    files[inside] = _unreadable((), CalibratorError(rest), before.get(inside))
            except CalibratorError as error:
                files |= {path: seen for path, seen in before.items() if inside in path.parents}
                files[inside] = _unreadable((), error, before.get(inside))
                break
    return files


_Reader = Callable[[Origin, Path, tuple[int, ...]], FileState]


def _read_entry(origin: Origin, path: Path, version: tuple[int, ...]) -> FileState:
    return FileState(version, entry=read_entry(origin, path))


def _read_table(origin: Origin, path: Path, version: tuple[int, ...]) -> FileState:
    return FileState(version, table=read_table(origin, path))


def _file_state(read: _Reader, origin: Origin, path: Path, version: tuple[int, ...], before: FileState | None) -> FileState:
    if before is not None and before.version == version and (before.logged or before.error is None):
        return before
    try:
        return read(origin, path, version)
    except CalibratorError as error:
        return _unreadable(version, error, before)


def _unreadable(version: tuple[int, ...], error: CalibratorError, before: FileState | None) -> FileState:
    entry, table = (before.entry, before.table) if before else (None, None)
    reason = f"{error}; what was read of it before is still used" if entry or table else str(error)
    if before is None or before.version != version or before.error is None:
        return FileState(version, entry, table, reason)
    if not before.logged:
        _log.warning("calibrator skipped: %s", reason)
    return FileState(version, entry, table, reason, logged=True)

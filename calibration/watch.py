"""A watch on the folders of the registry: it is kept up to date while calibrator files come, change and go.

One thread follows the calibrators of all projects that are open, and what they share. It looks at the folders every `LOOK_S`, later where a
look takes long. That also finds folders that come later, and changes by another machine on a network drive, of which no file event comes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .calibrator import CalibratorError
from .calibrator_files import FileState, Places, look
from .project_folder import PROJECT_FOLDER, project_of
from .registry import Registry, registry_of, registry_of_files, why_left_out
from .trust import Trust

LOOK_S = 0.5
# After a look that took long, the next waits so many times as long.
_REST = 10
_CLOSE_S = 2.0

_log = logging.getLogger(__name__)

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
        is_logged = False
        while not self._closed.is_set():
            self._wake.clear()
            began = time.monotonic()
            try:
                self._look()
            except Exception:  # one of our own must not end what follows all folders
                if not is_logged:
                    _log.exception("Calibrators can't be followed.")
                is_logged = True
            self._wake.wait(max(LOOK_S, _REST * (time.monotonic() - began)))

    def _look(self) -> None:
        common = self._common.again(self._shared, (), self._closed)
        for path, root in self._roots.copy().items():
            error: Exception | None = None
            try:
                calibrators = self._calibrators_of(path, root, common)
            except Exception as fault:  # one of our own must leave nobody waiting
                calibrators, error = RootCalibrators(common.registry, root.project), fault
            if self._closed.is_set():  # and the look was cut short
                return
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
        return _FolderState(files, left_out, registry_of_files(places, files, left_out))


@dataclass(slots=True)
class _Root:
    """A root folder: its project once it is known, the state of the project's own folder, and its latest calibrators."""

    project: Path | None = None
    own: _FolderState = field(default_factory=_FolderState)
    calibrators: RootCalibrators | None = None

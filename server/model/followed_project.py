"""The index of a workspace folder for the project memory: made in the background, and again when a file changes. Nothing is written.

A thread lists the folder, reads what is new, and makes the index. File events say when to look again. It looks every `LOOK_S` besides: no
event comes from a network drive, or where the system is out of watches.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
)

from ...calibration.file_events import FileEvents
from ...inference.project_memory.project import Project, ProjectFiles, ProjectTooLarge
from ...suggestion.languages import is_code
from ...suggestion.memory.folder import Version, as_code, code_in, listing
from ...suggestion.memory.ignored import GITIGNORE
from .read_projects import ProjectState

LOOK_S = 30.0
# A folder without an index is read from its start, for nothing while it is as it was: the wait doubles, up to this.
_MAX_LOOK_S = 3600.0
# One change makes several events, and a program that writes a file in place needs a moment.
DEBOUNCE_S = 0.2
# After a look that took long, the next waits so many times as long.
_REST = 4
# So long a file waits for the model to have nothing to do.
_YIELD_S = 0.02
# Each watch has threads of its own.
_MAX_WATCHES = 64
_CHANGES: list[type[FileSystemEvent]] = [
    FileCreatedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileDeletedEvent,
    DirCreatedEvent,
    DirMovedEvent,
    DirDeletedEvent,
]

_log = logging.getLogger(__name__)


class FollowedProject:
    """A folder's index, kept up to date with its files by a thread of its own until it is closed.

    Attributes
        project: the newest index; None while there is none. It is immutable and replaced as a whole.
    """

    def __init__(self, root: Path, tell: Callable[[ProjectState], None], idle: threading.Event) -> None:
        """tell: told of each new state, in another thread; idle: set while the model has nothing to do."""
        self.root = root
        self.project: Project | None = None
        self._tell, self._idle = tell, idle
        self._files = ProjectFiles()
        self._read: dict[str, Version | int] = {}
        # The texts of open documents, each with a number of its own.
        self._buffers: dict[str, tuple[int, str]] = {}
        self._numbers = 0
        self._wake, self._closed = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._follow, name="assay-project", daemon=True)
        self._thread.start()

    def use_buffer(self, path: str, text: str | None) -> None:
        """Read this text in place of a file, by its path below the folder; None: the file again."""
        self._numbers -= 1
        if text is not None:
            self._buffers[path] = (self._numbers, text)
        else:
            self._buffers.pop(path, None)
        self._wake.set()

    def close(self) -> None:
        """Stop following. The thread ends by itself."""
        self._closed.set()
        self._wake.set()

    def _follow(self) -> None:
        self._tell(ProjectState(str(self.root), "reading"))
        events, wait = FileEvents(self._wake, _CHANGES, _concerns_code), LOOK_S
        try:
            while not self._closed.is_set():
                began = time.monotonic()
                try:
                    self._look(events)
                except ProjectTooLarge as error:
                    self._give_up(str(error))
                except Exception as error:
                    _log.exception("The project %s can't be followed.", self.root)
                    self._give_up(_reason(error))
                took = time.monotonic() - began
                if self.project is None:
                    events.follow(())
                    self._closed.wait(max(wait, _REST * took))
                    wait = min(2 * wait, _MAX_LOOK_S)
                    continue
                wait = LOOK_S
                if self._wake.wait(LOOK_S):
                    self._closed.wait(DEBOUNCE_S + _REST * took)
        finally:
            events.close()

    def _look(self, events: FileEvents) -> None:
        """Take what has changed, and make the index anew if anything has."""
        began = time.perf_counter()
        self._wake.clear()
        found = listing(self.root)
        # Of more folders none: they are looked at every `LOOK_S`.
        events.follow(found.watched if len(found.watched) <= _MAX_WATCHES else ())
        buffers = dict(self._buffers)
        now: dict[str, Version | int] = {path: buffers[path][0] if path in buffers else version for path, version in found.files.items()}
        gone = self._read.keys() - now.keys()
        for path in gone:
            self._files.remove(path)
            del self._read[path]
        changed = [path for path, version in now.items() if self._read.get(path) != version]
        for path in changed:
            if self._closed.is_set():
                return
            self._idle.wait(_YIELD_S)
            text = as_code(buffers[path][1]) if path in buffers else code_in(self.root / path)
            if text is None:
                self._files.remove(path)
            else:
                self._files.add(path, text)
            self._read[path] = now[path]
        if changed or gone or self.project is None:
            self._made(began)

    def _made(self, began: float) -> None:
        self._idle.wait(_YIELD_S)
        self.project = project = self._files.project()
        ms = (time.perf_counter() - began) * 1e3
        self._tell(ProjectState(str(self.root), "ready", "", len(project.paths), len(project.index.ids), ms))

    def _give_up(self, reason: str) -> None:
        """Have no index until a later look succeeds."""
        self.project, self._files, self._read = None, ProjectFiles(), {}
        self._tell(ProjectState(str(self.root), "given up", f"{self.root} is not read, only the open file is: {reason}"))


class FollowedProjects:
    """The indexes of the workspace folders that are open now."""

    def __init__(self, tell: Callable[[ProjectState], None]) -> None:
        self.idle = threading.Event()
        self.idle.set()
        self._tell = tell
        self._projects: dict[str, FollowedProject] = {}

    def follow(self, roots: list[str]) -> None:
        """Follow these folders and no others."""
        for root in self._projects.keys() - set(roots):
            self._projects.pop(root).close()
        for root in roots:
            if root not in self._projects:
                self._projects[root] = FollowedProject(Path(root), self._tell, self.idle)

    def use_buffer(self, root: str, path: str, text: str | None) -> None:
        """Read this text in place of a file of a folder; None: the file again."""
        if (project := self._projects.get(root)) is not None:
            project.use_buffer(path, text)

    def of(self, root: str) -> Project | None:
        """The index of a folder; None where there is none, or not yet."""
        project = self._projects.get(root)
        return None if project is None else project.project


def _reason(error: Exception) -> str:
    """Why a folder can't be read, for people."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror + (f" ({error.filename})" if error.filename else "")
    return f"an error of Assay's own ({type(error).__name__}), which the log has"


def _concerns_code(event: FileSystemEvent) -> bool:
    paths = [str(path) for path in (event.src_path, event.dest_path) if path]
    return event.is_directory or any(is_code(path) or path.endswith(GITIGNORE) for path in paths)

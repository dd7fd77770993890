"""File events of folders, where the system gives any: they say when to look at the folders again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.observers.api import BaseObserver, ObservedWatch

_log = logging.getLogger(__name__)


class FileEvents(FileSystemEventHandler):
    """Sets an event at each change in some folders.

    Parameters
        wake: what is set.
        kinds: the kinds of changes. Opening and closing are none: reading a file would cause the next look.
        concerns: whether a change of a kind matters; without it, each does.
    """

    def __init__(
        self, wake: threading.Event, kinds: Sequence[type[FileSystemEvent]], concerns: Callable[[FileSystemEvent], bool] | None = None
    ) -> None:
        self._wake, self._kinds, self._concerns = wake, list(kinds), concerns
        self._watches: dict[tuple[Path, bool], ObservedWatch | None] = {}
        self._observer: BaseObserver | None = None
        self._is_refused = False

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Called by watchdog, in its own thread."""
        if self._concerns is None or self._concerns(event):
            self._wake.set()

    def follow(self, folders: Iterable[tuple[Path, bool]]) -> None:
        """Subscribe to these folders, each with whether everything below it is meant, and to no others."""
        wanted, observer = set(folders), self._started()
        if observer is None:
            return
        for gone in self._watches.keys() - wanted:
            if watch := self._watches.pop(gone):
                observer.unschedule(watch)
        for folder, recursive in wanted - self._watches.keys():
            self._watches[folder, recursive] = None
            try:
                watch = observer.schedule(self, str(folder), recursive=recursive, event_filter=self._kinds)
                self._watches[folder, recursive] = watch
            except (OSError, RuntimeError) as error:
                _log.info("no file events from %s, so changes are only looked for: %s", folder, error)

    def close(self) -> None:
        """End watchdog's threads."""
        if self._observer is not None:
            self._observer.stop()
            self._observer.join()

    def _started(self) -> BaseObserver | None:
        if self._observer is None and not self._is_refused:
            try:
                observer = Observer()
                observer.start()
                self._observer = observer
            except (OSError, RuntimeError) as error:
                self._is_refused = True
                _log.info("no file events from anywhere, so changes are only looked for: %s", error)
        return self._observer

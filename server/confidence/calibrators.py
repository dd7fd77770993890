"""The calibrators for each workspace folder. A thread for each registry follows changes of its files."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Executor
from pathlib import Path

from ...calibration.registry import Registry, folders, project_of
from ...calibration.watch import RegistryWatch


class Calibrators:
    """The registries of the root folders. Each is kept up to date with its files until `close`."""

    def __init__(self, executor: Executor) -> None:
        """executor: reads the files first, so that the event loop does not wait for the disk."""
        self._executor = executor
        self._closing: set[asyncio.Task[None]] = set()
        self._watches: dict[Path | None, asyncio.Future[tuple[RegistryWatch, Path | None]]] = {}

    def follow(self, root: Path | None) -> asyncio.Future[tuple[RegistryWatch, Path | None]]:
        """Start reading the calibrators for a root folder, unless that has started. None: those of no project."""
        if root not in self._watches:
            self._watches[root] = asyncio.get_running_loop().run_in_executor(self._executor, _followed, root)
        return self._watches[root]

    async def of(self, root: Path | None) -> tuple[Registry, Path | None]:
        """The registry for files in a root folder, and the project's folder: the nearest one at or above it that has calibrators."""
        watch, project = await asyncio.shield(self.follow(root))
        return watch.registry, project

    def ready(self, root: Path | None) -> Registry | None:
        """The registry for a root folder, None if it has not been read yet."""
        watch = self._watches.get(root)
        return watch.result()[0].registry if watch is not None and watch.done() else None

    def registries(self) -> Iterator[Registry]:
        """The registries that have been read."""
        return (watch.result()[0].registry for watch in self._watches.values() if watch.done())

    def unfollow(self, root: Path | None) -> None:
        """Stop following a root folder's calibrators."""
        if (watch := self._watches.pop(root, None)) is not None:
            task = asyncio.create_task(_closed(watch))
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def close(self) -> None:
        """Stop following. Calling it again does nothing."""
        for root in list(self._watches):
            self.unfollow(root)
        if self._closing:
            await asyncio.wait(self._closing)


async def _closed(watch: asyncio.Future[tuple[RegistryWatch, Path | None]]) -> None:
    registry, _ = await asyncio.shield(watch)
    await asyncio.to_thread(registry.close)


def _followed(root: Path | None) -> tuple[RegistryWatch, Path | None]:
    try:
        project = root and (project_of(root) or root)
    except OSError:  # a folder that can't be looked at has no calibrators
        project = None
    return RegistryWatch(folders(project)), project

"""The calibrators for each workspace folder, as far as the user trusts them. A thread follows changes of their files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ...calibration.registry import Registry, folders
from ...calibration.trust import TRUSTED, Trust, remembered
from ...calibration.watch import RegistryWatch, RootCalibrators


def trust_in(workspace_trusted: bool | None, root: Path | None, project: Path) -> Trust:
    """What is known of a project that a root folder is in.

    workspace_trusted: what the editor says of its folders. It says nothing of a folder above them, such as a temporary one that others
    write to, too: where they are trusted, that one's own answer counts. None: the editor does not know of trust.
    """
    if workspace_trusted is False:
        return Trust(False, "the editor says that this workspace is not trusted")
    return TRUSTED if workspace_trusted and project == root else remembered(project)


class Calibrators:
    """The registries of the root folders. Each is kept up to date with its files until `close`."""

    def __init__(
        self,
        trust: Callable[[Path | None, Path], Trust],
        ask: Callable[[Path], None] = lambda _: None,
        on_read: Callable[[], None] = lambda: None,
    ) -> None:
        """trust: as `RegistryWatch`; ask: told of a project whose calibrators do not count until the user says that they are trusted;
        on_read: called when calibrators were read, or read again."""
        self._trust, self._ask, self._on_read = trust, ask, on_read
        self._watch: RegistryWatch | None = None
        self._found: dict[Path | None, asyncio.Future[RootCalibrators]] = {}

    def follow(self, root: Path | None) -> asyncio.Future[RootCalibrators]:
        """Start reading the calibrators for a root folder, unless that has started. None: those of no project."""
        if root not in self._found:
            loop = asyncio.get_running_loop()
            self._found[root] = loop.create_future()
            if self._watch is None:
                self._watch = RegistryWatch(folders(), self._trust, lambda path, found: _soon(loop, self._take, path, found))
            self._watch.follow(root)
        return self._found[root]

    async def of(self, root: Path | None) -> tuple[Registry, Path | None]:
        """The registry for files in a root folder, and the project's folder: the nearest one at or above it that has calibrators."""
        found = await asyncio.shield(self.follow(root))
        return found.registry, found.project

    def ready(self, root: Path | None) -> Registry | None:
        """The registry for a root folder, None if it has not been read yet."""
        found = self._found.get(root)
        return found.result().registry if found is not None and found.done() else None

    def registries(self) -> list[Registry]:
        """The registries that have been read, each once."""
        read = [found.result().registry for found in self._found.values() if found.done()]
        return list({id(registry): registry for registry in read}.values())

    def look(self) -> None:
        """Look soon: something else is trusted now."""
        if self._watch is not None:
            self._watch.look()

    def unfollow(self, root: Path | None) -> None:
        """Stop following a root folder's calibrators. Whoever waits for them is cancelled."""
        if (found := self._found.pop(root, None)) is not None:
            found.cancel()
            if self._watch is not None:
                self._watch.unfollow(root)

    async def close(self) -> None:
        """Stop following. Calling it again does nothing."""
        for root in list(self._found):
            self.unfollow(root)
        if self._watch is not None:
            await asyncio.to_thread(self._watch.close)

    def _take(self, root: Path | None, found: RootCalibrators) -> None:
        if (waiting := self._found.get(root)) is None:
            return
        if waiting.done():
            self._found[root] = waiting = asyncio.get_running_loop().create_future()
        waiting.set_result(found)
        self._on_read()
        if found.is_open and found.project is not None:
            self._ask(found.project)


def _soon(
    loop: asyncio.AbstractEventLoop, take: Callable[[Path | None, RootCalibrators], None], root: Path | None, found: RootCalibrators
) -> None:
    with suppress(RuntimeError):  # the loop is closed
        loop.call_soon_threadsafe(take, root, found)

"""The workspace folders that the model's process reads for the project memory: which, what an editor changed in them, and how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Send = Callable[[dict[str, Any]], None]


class ReadProjects:
    """What is to be read, whichever process the model runs in.

    Attributes
        states: of each folder's index, as `ProjectState.as_json`.
    """

    def __init__(self, on_change: Callable[[], None] = lambda: None) -> None:
        """on_change: called at each change of `states`."""
        self.states: dict[str, dict[str, Any]] = {}
        self._on_change = on_change
        self._roots: tuple[str, ...] = ()
        self._buffers: dict[tuple[str, str], str] = {}
        self._send: Send = lambda _: None

    def tell(self, send: Send) -> None:
        """A process has started: tell it everything, and from now on what changes."""
        self._send, self.states = send, {}
        if self._roots:
            send({"op": "follow", "roots": self._roots})
        for (root, path), text in self._buffers.items():
            send({"op": "buffer", "root": root, "path": path, "text": text})
        self._on_change()

    def follow(self, roots: Sequence[str]) -> bool:
        """Read the files of these folders, and of no others. Returns whether others were read before."""
        if tuple(roots) == self._roots:
            return False
        self._roots = tuple(roots)
        self.states = {root: state for root, state in self.states.items() if root in self._roots}
        self._buffers = {key: text for key, text in self._buffers.items() if key[0] in self._roots}
        self._send({"op": "follow", "roots": self._roots})
        self._on_change()
        return True

    def use_buffer(self, root: str, path: str, text: str | None) -> None:
        """Read this text in place of a file of a folder, by its path below that; None: the file again."""
        if root not in self._roots or (text is None and (root, path) not in self._buffers):
            return
        if text is None:
            del self._buffers[root, path]
        else:
            self._buffers[root, path] = text
        self._send({"op": "buffer", "root": root, "path": path, "text": text})

    def note(self, state: dict[str, Any]) -> None:
        """The process says how far the index of a folder is."""
        if state["root"] in self._roots:
            self.states[state["root"]] = state
            self._on_change()

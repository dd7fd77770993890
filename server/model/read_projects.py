"""The workspace folders that the model's process reads for the project memory: which, what an editor changed in them, and how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ...suggestion.memory.folder import MAX_BYTES, is_own_code
from ..documents.documents import Documents
from ..documents.workspace import Roots, below_root

Send = Callable[[dict[str, Any]], None]
# Each has threads of its own, and an index in memory.
MAX_FOLDERS = 32


@dataclass(frozen=True, slots=True)
class ProjectState:
    """What is known of a folder's index. reason: why there is none, for people; files, words: that it has; ms: that it took."""

    root: str
    state: Literal["reading", "ready", "given up"]
    reason: str = ""
    files: int = 0
    words: int = 0
    ms: float = 0.0

    def as_json(self) -> dict[str, Any]:
        """What `assay/status` has of it."""
        return asdict(self)


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
        # The state of those that are too many, below the first of them.
        self._unread: dict[str, dict[str, Any]] = {}
        self._buffers: dict[tuple[str, str], str] = {}
        self._send: Send = lambda _: None

    def tell(self, send: Send) -> None:
        """A process has started: tell it everything, and from now on what changes."""
        self._send, self.states = send, dict(self._unread)
        if self._roots:
            send({"op": "follow", "roots": self._roots})
        for (root, path), text in self._buffers.items():
            send({"op": "buffer", "root": root, "path": path, "text": text})
        self._on_change()

    def follow(self, roots: Sequence[str]) -> bool:
        """Read the files of the first `MAX_FOLDERS` of these, and of no others. Returns whether others were read before."""
        read, self._unread = tuple(roots[:MAX_FOLDERS]), _unread(roots)
        changed = read != self._roots
        self._roots = read
        self.states = {root: state for root, state in self.states.items() if root in read} | self._unread
        if changed:
            self._buffers = {key: text for key, text in self._buffers.items() if key[0] in read}
            self._send({"op": "follow", "roots": read})
            self._on_change()
        return changed

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


def _unread(roots: Sequence[str]) -> dict[str, dict[str, Any]]:
    if len(roots) <= MAX_FOLDERS:
        return {}
    first = roots[MAX_FOLDERS]
    reason = f"of {len(roots):,} folders the first {MAX_FOLDERS} are read; in {first} and those behind it only the open file is"
    return {first: ProjectState(first, "given up", reason).as_json()}


class EditedFiles:
    """The documents that were edited since they were opened. The process is told where suggestions are asked for in another document.

    While somebody types in a document, nothing need be told: its own text is not read from the project.
    """

    def __init__(self, documents: Documents, roots: Callable[[], Roots], projects: ReadProjects) -> None:
        self._documents, self._roots, self._projects = documents, roots, projects
        self._edited: dict[str, None] = {}
        # Those of them that the process has not been told of.
        self._untold: dict[str, None] = {}

    def edited(self, uri: str) -> None:
        """A document was edited."""
        self._edited[uri] = self._untold[uri] = None

    def closed(self, uri: str) -> None:
        """A document was closed, or its text is not known any more: its file counts again."""
        self._edited.pop(uri, None)
        self._untold.pop(uri, None)
        root, path = below_root(uri, self._roots())
        if root:
            self._projects.use_buffer(root, path, None)

    def tell(self, asked_in: str) -> None:
        """Tell of all edited documents but the one that is asked about."""
        for uri in [uri for uri in self._untold if uri != asked_in]:
            del self._untold[uri]
            root, path = below_root(uri, self._roots())
            document = self._documents.get(uri)
            if root and document is not None and uri.startswith("file:") and is_own_code(path):
                self._projects.use_buffer(root, path, document.text if document.length <= MAX_BYTES else None)

    def tell_again(self) -> None:
        """Other folders are read than before: what the process was told of any of them does not count any more."""
        self._untold = dict(self._edited)

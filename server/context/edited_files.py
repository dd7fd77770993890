"""Tells the model's process what open documents have in place of their files, so that the project memory reads what the editor shows."""

from __future__ import annotations

from collections.abc import Callable

from ...suggestion.memory.folder import MAX_BYTES, is_own_code
from ..documents.documents import Documents
from ..documents.workspace import Roots, below_root
from ..model.read_projects import ReadProjects


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

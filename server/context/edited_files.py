"""Tells the model's process what open documents have in place of their files, so that the project memory reads what the editor shows."""

from __future__ import annotations

from collections.abc import Callable

from ...suggestion.memory.folder import MAX_BYTES, is_own_code
from ..documents.documents import Documents
from ..documents.workspace import Roots, below_root
from ..model.read_projects import ReadProjects


class EditedFiles:
    """The documents that were edited since the process was told. It is told where suggestions are asked for in another document.

    While somebody types in a document, nothing need be told: its own text is not read from the project.
    """

    def __init__(self, documents: Documents, roots: Callable[[], Roots], projects: ReadProjects) -> None:
        self._documents, self._roots, self._projects = documents, roots, projects
        self._edited: dict[str, None] = {}

    def edited(self, uri: str) -> None:
        """A document was edited."""
        self._edited[uri] = None

    def closed(self, uri: str) -> None:
        """A document was closed: its file counts again."""
        self._edited.pop(uri, None)
        root, path = below_root(uri, self._roots())
        if root:
            self._projects.use_buffer(root, path, None)

    def tell(self, asked_in: str) -> None:
        """Tell of all edited documents but the one that is asked about."""
        for uri in [uri for uri in self._edited if uri != asked_in]:
            del self._edited[uri]
            root, path = below_root(uri, self._roots())
            document = self._documents.get(uri)
            if root and document is not None and uri.startswith("file:") and is_own_code(path) and document.length <= MAX_BYTES:
                self._projects.use_buffer(root, path, document.text)

"""Searches the other open documents for context, in small steps while the server is idle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ..documents.documents import Document, Documents
from ..documents.workspace import Roots, path_of, root_of
from .open_files import MAX_CHARACTERS, Cursor, OpenFiles, OpenText

# The pause between two steps of at most 1 ms, so that messages are handled first.
_STEP_S = 0.01
# How many characters around the cursor are compared with other files: some dozen lines.
_AROUND = 1_500


class OtherFiles:
    """Finds pieces of the open documents of one editor."""

    def __init__(self, documents: Documents, roots: Callable[[], Roots]) -> None:
        self._documents = documents
        self._roots = roots
        self._files = OpenFiles()
        self._timer: asyncio.TimerHandle | None = None

    def path(self, document: Document) -> str:
        """The path that the model sees: relative to the workspace folder, or only the name. Empty if the document is no file."""
        path, root = path_of(document.uri), root_of(document.uri, self._roots())
        if path is None:
            return ""
        return path.relative_to(root).as_posix() if root is not None else path.name

    def pieces(self, document: Document, line: int, prefix: str, suffix: str, budget_characters: int) -> tuple[tuple[str, str], ...]:
        """The pieces of other open documents that are most similar to the text around the cursor, as (path, text)."""
        here, others = self._text(document), [self._text(other) for other in self._documents]
        around = prefix[-_AROUND:] + suffix[: _AROUND // 3]
        found = self._files.snippets(Cursor(here, line, around), others, budget_characters)
        self._index_later(here)
        return tuple((snippet.path, snippet.text) for snippet in found)

    def forget(self, uri: str) -> None:
        """The editor closed a document."""
        self._files.forget(uri)

    def close(self) -> None:
        """Stop the search."""
        if self._timer is not None:
            self._timer.cancel()

    def _text(self, document: Document) -> OpenText:
        root = root_of(document.uri, self._roots())
        return OpenText(
            document.uri,
            self.path(document),
            None if root is None else str(root),
            document.language,
            document.version,
            lambda: document.head(MAX_CHARACTERS),
        )

    def _index_later(self, here: OpenText) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(_STEP_S, self._index, here)

    def _index(self, here: OpenText) -> None:
        self._timer = None
        if self._files.index(here, [self._text(other) for other in self._documents]):
            self._index_later(here)

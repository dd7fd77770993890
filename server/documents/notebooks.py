"""Notebooks: which documents are their cells, and the code of the cells as one text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lsprotocol import types

from ...suggestion.cursor import Window
from ...suggestion.positions import Position, UInteger
from .documents import Document, Documents, OutOfSync, whole_lines

# All cells of all notebooks. Markup cells are needed, too, to know what to leave out.
SYNC = types.NotebookDocumentSyncOptions([types.NotebookDocumentFilterWithNotebook(notebook="*")], save=True)
_CODE = types.NotebookCellKind.Code.value
_BETWEEN_CELLS = "\n"


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: the URI of its document, and its kind: markup (1) or code (2)."""

    document: str
    kind: UInteger


class Notebooks:
    """The notebooks that the editor has open. The text of a cell is a document like any other."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self._cells: dict[str, list[Cell]] = {}
        self._notebook_of: dict[str, str] = {}  # by the cell's URI

    def open(self, uri: str, cells: Iterable[Cell]) -> None:
        """The editor opened a notebook, or opened it again. It opens the documents of the cells separately."""
        self._forget(uri)
        self._set(uri, [*cells])

    def splice(self, uri: str, start: int, deleted: int, cells: Sequence[Cell]) -> None:
        """Replace `deleted` cells from `start` on. If there are not so many, raises OutOfSync and changes nothing."""
        old = self._of(uri)
        if start + deleted > len(old):
            raise OutOfSync(f"an edit of the cells {start} to {start + deleted} of {len(old)}")
        self._forget(uri)
        self._set(uri, [*old[:start], *cells, *old[start + deleted :]])

    def revise(self, uri: str, cells: Iterable[Cell]) -> None:
        """Update cells that exist. Raises OutOfSync if the notebook is not open."""
        new = {cell.document: cell for cell in cells}
        self._set(uri, [new.get(cell.document, cell) for cell in self._of(uri)])

    def close(self, uri: str) -> None:
        """The editor closed a notebook, and with it the documents of its cells."""
        for cell in self._forget(uri):
            self._documents.close(cell.document)

    def lose(self, uri: str | None) -> None:
        """The cells of this notebook may differ from the editor's, so they are not used until it is opened again. None: all notebooks."""
        for notebook in [*self._cells] if uri is None else [uri]:
            for cell in self._forget(notebook):
                self._documents.lose(cell.document)

    def cells_of(self, uri: str) -> list[str]:
        """The URIs of a notebook's cells. Empty if it is not open."""
        return [cell.document for cell in self._cells.get(uri, [])]

    def around(self, document: Document, position: Position, window: Window) -> tuple[str, str, bool]:
        """The text before and after a position, as much of it as the window shows, and whether there is more before what is shown.

        In a code cell the code cells of the same language before and behind it, parted by line feeds, belong to that text.
        """
        before, after = self._neighbours(document)
        if not before and not after:
            prefix, suffix = document.around(position, window)
            return prefix, suffix, document.offset(position) > len(prefix)
        offset = sum(cell.length + len(_BETWEEN_CELLS) for cell in before) + document.offset(position)
        size = offset - window.start(offset)
        parts = [document.before(position, size)]
        missing = size - len(parts[0])
        for cell in reversed(before):
            if missing <= 0:
                break
            parts.append(cell.text + _BETWEEN_CELLS)
            missing -= len(parts[-1])
        prefix = "".join(reversed(parts))
        behind = (_BETWEEN_CELLS + cell.text for cell in after)
        suffix = _start(document.after(position, window.after), behind, window.after)
        return prefix[len(prefix) - size :], suffix, size < offset

    def head(self, document: Document, limit: int) -> str:
        """As many whole lines from the beginning of that text as fit into so many characters, as `Document.head`."""
        before, after = self._neighbours(document)
        cells = [*before, document, *after]
        behind = (_BETWEEN_CELLS + cell.text for cell in cells[1:])
        return whole_lines(_start(cells[0].text, behind, limit + 1), limit) if len(cells) > 1 else document.head(limit)

    def whole(self, document: Document) -> tuple[str, int]:
        """All of that text, and how many lines of it stand above the document's own."""
        before, after = self._neighbours(document)
        text = _BETWEEN_CELLS.join(cell.text for cell in (*before, document, *after))
        return text, sum(cell.line_count for cell in before)

    def _neighbours(self, document: Document) -> tuple[list[Document], list[Document]]:
        """The code cells before and after a code cell, in its language."""
        notebook = self._notebook_of.get(document.uri)
        cells = [] if notebook is None else self._cells[notebook]
        place = next((index for index, cell in enumerate(cells) if cell.document == document.uri), None)
        if place is None or cells[place].kind != _CODE:
            return [], []
        return self._code(cells[:place], document.language), self._code(cells[place + 1 :], document.language)

    def _code(self, cells: list[Cell], language: str) -> list[Document]:
        documents = (self._documents.get(cell.document) for cell in cells if cell.kind == _CODE)
        return [document for document in documents if document is not None and document.language == language]

    def _of(self, uri: str) -> list[Cell]:
        if (cells := self._cells.get(uri)) is None:
            raise OutOfSync("it is not open")
        return cells

    def _set(self, uri: str, cells: list[Cell]) -> None:
        self._cells[uri] = cells
        self._notebook_of.update((cell.document, uri) for cell in cells)

    def _forget(self, uri: str) -> list[Cell]:
        cells = self._cells.pop(uri, [])
        for cell in cells:
            self._notebook_of.pop(cell.document, None)
        return cells


def _start(text: str, behind: Iterable[str], size: int) -> str:
    """The first `size` characters of a text and those that follow it."""
    parts = [text]
    missing = size - len(text)
    for part in behind:
        if missing <= 0:
            break
        parts.append(part)
        missing -= len(part)
    return "".join(parts)[:size]

"""The open documents, kept equal to the editor's by its edits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .positions import Encoding, Position, Range, content, index_at, split_lines


class OutOfSync(Exception):
    """An edit could not be applied, so the document is no longer known to equal the editor's."""


@dataclass(frozen=True, slots=True)
class Change:
    """Put text in place of range; without a range, in place of everything."""

    text: str
    range: Range | None = None


@dataclass(frozen=True, slots=True)
class Window:
    """How much of a text around the cursor is looked at, in characters.

    before: at least so many, where there are; the start moves by `step` at once, so that it stays in place while text is typed and a model
    that saw it before need not read it again. after: at most so many.
    """

    before: int
    after: int
    step: int

    def start(self, offset: int) -> int:
        """Where the text before an offset begins to be shown."""
        return max(0, offset - self.before) // self.step * self.step


class Document:
    """One text as a list of lines: an edit costs as much as the lines it touches, whatever the size of the file."""

    __slots__ = ("_lines", "encoding", "in_sync", "language", "uri", "version")

    def __init__(self, uri: str, language: str, version: int, text: str, encoding: Encoding) -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self.encoding = encoding
        self.in_sync = True
        self._lines = split_lines(text)

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join(self._lines)

    def apply(self, change: Change) -> None:
        """Apply one edit. Raises OutOfSync, and changes nothing, when the range ends before it starts."""
        if change.range is None:
            self._lines = split_lines(change.text)
            return
        if change.range.end < change.range.start:
            raise OutOfSync("the range of an edit ends before it starts")
        first, start = self._locate(change.range.start)
        last, end = self._locate(change.range.end)
        piece = self._lines[first][:start] + change.text + self._lines[last][end:]
        if first > 0 and piece.startswith("\n") and self._lines[first - 1].endswith("\r"):
            first -= 1  # the edit brought a carriage return and a line feed together: one line end now
            piece = self._lines[first] + piece
        lines = split_lines(piece)
        if last < len(self._lines) - 1:
            lines.pop()  # the empty line after the piece's line end is the next line of the document
        self._lines[first : last + 1] = lines

    def around(self, position: Position, window: Window) -> tuple[str, str]:
        """The text before and after a position, as much of it as the window shows."""
        line, index = self._locate(position)
        offset = sum(map(len, self._lines[:line])) + index
        return self._before(line, index, offset - window.start(offset)), self._after(line, index, window.after)

    def _before(self, line: int, index: int, size: int) -> str:
        parts = [self._lines[line][:index]]
        missing = size - index
        while missing > 0:
            line -= 1
            parts.append(self._lines[line])
            missing -= len(self._lines[line])
        return "".join(reversed(parts))[-size:] if size else ""

    def _after(self, line: int, index: int, limit: int) -> str:
        parts = [self._lines[line][index:]]
        size = len(parts[0])
        while line < len(self._lines) - 1 and size < limit:
            line += 1
            parts.append(self._lines[line])
            size += len(self._lines[line])
        return "".join(parts)[:limit]

    def _locate(self, position: Position) -> tuple[int, int]:
        if position.line >= len(self._lines):
            last = len(self._lines) - 1
            return last, len(content(self._lines[last]))
        return position.line, index_at(self._lines[position.line], position.character, self.encoding)


class Documents:
    """The documents that the editor has open, by URI."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding: Encoding = encoding
        self._open: dict[str, Document] = {}

    def open(self, uri: str, language: str, version: int, text: str) -> None:
        """The editor opened a document, or opened it again."""
        self._open[uri] = Document(uri, language, version, text, self.encoding)

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> None:
        """Apply the editor's edits, in order. Raises OutOfSync when that fails; `get` is then None until the text is sent whole."""
        document = self._open.get(uri)
        if document is None:
            raise OutOfSync("it is not open")
        document.version = version
        for change in changes:
            try:
                document.apply(change)
            except OutOfSync:
                document.in_sync = False
                raise
            if change.range is None:
                document.in_sync = True

    def close(self, uri: str) -> None:
        """The editor closed a document."""
        self._open.pop(uri, None)

    def lose(self, uri: str | None) -> None:
        """An edit of this document (None: of an unknown one) could not be read: it is not used until it is sent whole."""
        for document in self._open.values():
            if uri is None or document.uri == uri:
                document.in_sync = False

    def get(self, uri: str) -> Document | None:
        """The document, or None when it is not open or not known to equal the editor's."""
        document = self._open.get(uri)
        return document if document is not None and document.in_sync else None

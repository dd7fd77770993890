"""The open documents, kept equal to the editor's by its edits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...suggestion.cursor import Window
from ...suggestion.positions import LINE_END, Encoding, Position, Range, column_at, count_line_ends, index_at, split_lines

# Characters in a block of lines. An edit copies and splits one block (30 µs). A search for a line passes all blocks (10 µs for 50,000 lines
# of code, which are 125 blocks).
_BLOCK = 1 << 14


class OutOfSync(Exception):
    """An edit could not be applied, so the document may differ from the editor's."""


@dataclass(frozen=True, slots=True)
class Change:
    """Replace a range with a text. Without a range, replace everything."""

    text: str
    range: Range | None = None


@dataclass(frozen=True, slots=True)
class Splice:
    """What an edit did: from the offset `start` (in characters) on, `removed` was replaced with `added`."""

    start: int
    removed: str
    added: str

    @property
    def end(self) -> int:
        """The offset where the removed text ended."""
        return self.start + len(self.removed)


class _Block:
    """Some lines of a document. All are whole, except for the last of the document."""

    __slots__ = ("_line_ends", "_lines", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._line_ends = -1
        self._lines: list[str] | None = None

    @property
    def lines(self) -> list[str]:
        """The lines with their ends, cached: a request looks at those around the cursor several times."""
        if self._lines is None:
            self._lines = split_lines(self.text)
        return self._lines

    @property
    def line_ends(self) -> int:
        """The number of lines. It is counted at the first use, so that a large file opens faster."""
        if self._line_ends < 0:
            self._line_ends = count_line_ends(self.text)
        return self._line_ends


class Document:
    """A text, kept as blocks of lines, so that the cost of an edit does not depend on the size of the file.

    A position past the end of a line means that end. A position past the last line means the end of the text.
    """

    __slots__ = ("_blocks", "encoding", "in_sync", "language", "uri", "version")

    def __init__(self, uri: str, language: str, version: int, text: str, encoding: Encoding) -> None:
        self.uri = uri
        self.language = language
        self.version = version
        self.encoding = encoding
        self.in_sync = True
        self._blocks = _cut(text)

    @property
    def text(self) -> str:
        """The whole text."""
        return "".join([block.text for block in self._blocks])

    @property
    def line_count(self) -> int:
        """The number of lines, at least 1. After the last line end there is one more line, which may be empty."""
        return sum([block.line_ends for block in self._blocks]) + 1

    @property
    def length(self) -> int:
        """The number of characters (code points)."""
        return sum([len(block.text) for block in self._blocks])

    def line(self, number: int) -> str:
        """A line with its end, counted from 0. Raises IndexError if there is none."""
        if not 0 <= number < self.line_count:
            raise IndexError(f"no line {number} in {self.line_count}")
        block, line = self._block_of(number)
        return self._blocks[block].lines[line]

    def head(self, limit: int) -> str:
        """As many whole lines from the beginning as fit into so many characters."""
        return whole_lines(self._after(0, 0, limit + 1), limit)

    def clamp(self, position: Position) -> Position:
        """The nearest valid position: the same, unless it is past an end or inside a character."""
        number = min(position.line, self.line_count - 1)
        line = self.line(number)
        index = index_at(line, position.character, self.encoding) if number == position.line else len(line)
        return Position(number, column_at(line, index, self.encoding))

    def offset(self, position: Position) -> int:
        """The offset of a position, in characters (code points)."""
        return self._offset(*self._find(position))

    def before(self, position: Position, size: int) -> str:
        """The last `size` characters before a position, or as many as there are."""
        return self._before(*self._find(position), size)

    def after(self, position: Position, size: int) -> str:
        """The first `size` characters after a position, or as many as there are."""
        return self._after(*self._find(position), size)

    def around(self, position: Position, window: Window) -> tuple[str, str]:
        """The text before and after a position that is within the window."""
        block, index = self._find(position)
        offset = self._offset(block, index)
        return self._before(block, index, offset - window.start(offset)), self._after(block, index, window.after)

    def between(self, start: int, end: int) -> str:
        """The text between two offsets in characters. Offsets past the end count as the end."""
        parts = []
        for block in self._blocks:
            if end <= 0:
                break
            size = len(block.text)
            if start < size:
                parts.append(block.text[max(0, start) : end])
            start, end = start - size, end - size
        return "".join(parts)

    def position(self, offset: int) -> Position:
        """The position of an offset in characters. An offset past the end gives the end."""
        line = 0
        for block in self._blocks:
            if offset <= len(block.text):
                before = block.text[:offset]
                breaks = count_line_ends(before)
                last = before[max(before.rfind("\n"), before.rfind("\r")) + 1 :]
                return Position(line + breaks, column_at(last, len(last), self.encoding))
            offset -= len(block.text)
            line += block.line_ends
        return self.position(self.length)

    def apply(self, change: Change) -> Splice:
        """Apply one edit, and return what it did. If the range ends before it starts, raises OutOfSync and changes nothing."""
        if change.range is None:
            did = Splice(0, self.text, change.text)
            self._blocks = _cut(change.text)
            return did
        if change.range.end < change.range.start:
            raise OutOfSync("the range of an edit ends before it starts")
        first, start = self._find(change.range.start)
        last, end = (first, start) if change.range.end == change.range.start else self._find(change.range.end)
        did = Splice(self._offset(first, start), self._text(first, start, last, end), change.text)
        piece = self._blocks[first].text[:start] + change.text + self._blocks[last].text[end:]
        if first > 0 and piece.startswith("\n") and self._blocks[first - 1].text.endswith("\r"):
            first -= 1  # the edit brought a carriage return and a line feed together: one line end now
            piece = self._blocks[first].text + piece
        self._blocks[first : last + 1] = _cut(piece)
        return did

    def _text(self, first: int, start: int, last: int, end: int) -> str:
        if first == last:
            return self._blocks[first].text[start:end]
        between = [block.text for block in self._blocks[first + 1 : last]]
        return "".join([self._blocks[first].text[start:], *between, self._blocks[last].text[:end]])

    def _offset(self, block: int, index: int) -> int:
        return sum([len(earlier.text) for earlier in self._blocks[:block]]) + index

    def _before(self, block: int, index: int, size: int) -> str:
        parts = [self._blocks[block].text[max(0, index - size) : index]]
        missing = size - index
        while missing > 0 and block > 0:
            block -= 1
            parts.append(self._blocks[block].text[-missing:])
            missing -= len(parts[-1])
        return "".join(reversed(parts))

    def _after(self, block: int, index: int, size: int) -> str:
        parts = [self._blocks[block].text[index : index + size]]
        missing = size - len(parts[0])
        while missing > 0 and block < len(self._blocks) - 1:
            block += 1
            parts.append(self._blocks[block].text[:missing])
            missing -= len(parts[-1])
        return "".join(parts)

    def _block_of(self, line: int) -> tuple[int, int]:
        """The block of a line, and the line's number in it. A line past the last one is in the last block, past its last line."""
        last = len(self._blocks) - 1
        for index, block in enumerate(self._blocks):
            if line < block.line_ends or index == last:
                return index, line
            line -= block.line_ends
        raise AssertionError("a document has a block")

    def _find(self, position: Position) -> tuple[int, int]:
        """The block of a position, and the index into its text."""
        block, line = self._block_of(position.line)
        lines = self._blocks[block].lines
        if line >= len(lines):
            return block, len(self._blocks[block].text)
        return block, sum(map(len, lines[:line])) + index_at(lines[line], position.character, self.encoding)


class Documents:
    """The documents that the editor has open, by URI."""

    def __init__(self, encoding: Encoding) -> None:
        self.encoding: Encoding = encoding
        self._open: dict[str, Document] = {}

    def __iter__(self) -> Iterator[Document]:
        """The documents that equal the editor's, in the order in which they were opened."""
        return (document for document in list(self._open.values()) if document.in_sync)

    def open(self, uri: str, language: str, version: int, text: str) -> Document:
        """The editor opened a document, or opened it again."""
        self._open.pop(uri, None)
        document = self._open[uri] = Document(uri, language, version, text, self.encoding)
        return document

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> list[Splice]:
        """Apply the editor's edits in order, and return what they did.

        Raises OutOfSync if one can't be applied. Then `get` gives None until the whole text is sent.
        """
        document = self._open.get(uri)
        if document is None:
            raise OutOfSync("it is not open")
        document.version = version
        did = []
        for change in changes:
            try:
                did.append(document.apply(change))
            except OutOfSync:
                document.in_sync = False
                raise
            if change.range is None:
                document.in_sync = True
        return did

    def close(self, uri: str) -> None:
        """The editor closed a document."""
        self._open.pop(uri, None)

    def lose(self, uri: str | None) -> None:
        """An edit of this document could not be read, so it is not used until its whole text is sent. None: all documents."""
        for document in self._open.values():
            if uri is None or document.uri == uri:
                document.in_sync = False

    def get(self, uri: str) -> Document | None:
        """The document, None if it is not open or may differ from the editor's."""
        document = self._open.get(uri)
        return document if document is not None and document.in_sync else None


def whole_lines(text: str, limit: int) -> str:
    """As many whole lines from the beginning of a text as fit into `limit` characters. Of a longer text, `limit` + 1 characters suffice."""
    if len(text) <= limit:
        return text
    if text[limit - 1 : limit + 1] == "\r\n":
        limit -= 1  # the limit must not split a line break
    return text[: max(text.rfind("\n", 0, limit), text.rfind("\r", 0, limit)) + 1]


def _cut(text: str) -> list[_Block]:
    """The text as blocks, at least one. Each except the last ends with a line end."""
    returns = "\r" in text
    blocks = []
    start = 0
    while len(text) - start > 2 * _BLOCK and 0 < (end := _line_end(text, start + _BLOCK, returns)) < len(text):
        blocks.append(_Block(text[start:end]))
        start = end
    return [*blocks, _Block(text[start:])]


def _line_end(text: str, start: int, returns: bool) -> int:
    """The index after the first line end from `start` on, 0 if there is none. returns: whether there may be carriage returns."""
    if not returns:
        return text.find("\n", start) + 1  # 20 times as fast in a line of a megabyte
    match = LINE_END.search(text, start)
    return match.end() if match else 0

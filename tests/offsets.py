"""Offsets of positions, counted the plain way, for tests to compare with."""

from __future__ import annotations

from assay.suggestion.positions import Encoding, Position, index_at, split_lines


def offset_at(text: str, position: Position, encoding: Encoding) -> int:
    """The offset (in code points) of a position: past the end of a line it is the line's end, past the last line the text's."""
    lines = split_lines(text)
    if position.line >= len(lines):
        return len(text)
    return sum(map(len, lines[: position.line])) + index_at(lines[position.line], position.character, encoding)

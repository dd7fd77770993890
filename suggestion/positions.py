"""Lines and columns as the Language Server Protocol counts them: pure functions on strings.

A line ends at \\n, \\r\\n or \\r and nowhere else: `str.splitlines` also splits at form feeds, U+2028 and five more, which are ordinary
characters here. A column counts the units of the agreed encoding: bytes (utf-8), 16-bit units (utf-16) or code points (utf-32).
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Annotated, Literal

import msgspec

Encoding = Literal["utf-8", "utf-16", "utf-32"]
UInteger = Annotated[int, msgspec.Meta(ge=0, le=2**31 - 1)]  # the protocol's; a message with any other number can't be read
LINE_END = re.compile(r"\r\n|\r|\n")
_STRIDES = (4096, 64, 1)  # characters counted at once on the way to a column, so that a line of a megabyte costs 1 ms


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place between two characters; line and character count from 0."""

    line: UInteger
    character: UInteger


@dataclass(frozen=True, slots=True)
class Range:
    """From start up to, not including, end."""

    start: Position
    end: Position

    def as_json(self) -> dict[str, dict[str, int]]:
        """The protocol's Range."""
        return {
            "start": {"line": self.start.line, "character": self.start.character},
            "end": {"line": self.end.line, "character": self.end.character},
        }


def split_lines(text: str) -> list[str]:
    """The lines of text with their ends; never empty, and the last line is the one without an end (perhaps "")."""
    lines = io.StringIO(text, newline="").readlines()
    if not lines or lines[-1].endswith(("\n", "\r")):
        lines.append("")
    return lines


def bare_lines(text: str) -> list[str]:
    """The lines of text without their ends; never empty."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text.split("\n")


def count_line_ends(text: str) -> int:
    """One less than the lines of text."""
    returns = text.count("\r")
    return text.count("\n") + (returns and returns - text.count("\r\n"))


def content(line: str) -> str:
    """The line without its end."""
    if line.endswith("\r\n"):
        return line[:-2]
    return line[:-1] if line.endswith(("\n", "\r")) else line


def index_at(line: str, column: int, encoding: Encoding) -> int:
    """The index into `line` of a column: past the end it is the end (before the line break), inside a character the character's start."""
    text = content(line)
    if encoding == "utf-32" or text.isascii():
        return min(column, len(text))
    index = 0
    for stride in _STRIDES:
        while index < len(text) and (units := _units(text[index : index + stride], encoding)) <= column:
            column -= units
            index += stride
    return min(index, len(text))


def column_at(line: str, index: int, encoding: Encoding) -> int:
    """The column of an index into `line`; the inverse of `index_at`."""
    return _units(line[:index], encoding)


def position_at(text: str, offset: int, encoding: Encoding) -> Position:
    """The position of an offset (in code points) into text."""
    lines = split_lines(text[:offset])
    return Position(len(lines) - 1, column_at(lines[-1], len(lines[-1]), encoding))


def _units(text: str, encoding: Encoding) -> int:
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-16":
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
    return len(text.encode("utf-8", "surrogatepass"))

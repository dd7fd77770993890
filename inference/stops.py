"""Where a generation ends: pure rules on the text so far."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Stop:
    """A rule for the end of the text.

    "line": before the first newline. "block": before the first non-blank line whose indentation is less than `indent` columns (the
    block's own indentation; the line that the text starts on is never looked at), trailing blank lines left out. "none": only the
    model's own end.
    """

    kind: Literal["line", "block", "none"]
    indent: int = 0


LINE = Stop("line")
NONE = Stop("none")

_NEWLINE = re.compile(r"[\r\n]")
_LATER_LINE = re.compile(r"[\r\n]([ \t\f]*)[^ \t\f\r\n]")
_BLANK_LINES_AT_END = re.compile(r"[\r\n][ \t\f\r\n]*\Z")


def indentation(line: str) -> int:
    """Columns of white space that a line starts with, as Python's tokenizer counts.

    A tab fills up to a multiple of 8, a form feed begins again at 0.
    """
    column = 0
    for character in line:
        if character == " ":
            column += 1
        elif character == "\t":
            column += 8 - column % 8
        elif character == "\f":
            column = 0
        else:
            break
    return column


def ending(text: str, stop: Stop) -> int | None:
    r"""Offset at which `stop` ends the text, or None where it goes on.

    Whatever is appended to a text that has ended, the offset stays: a stream may be asked after each piece. A line ends at `\n`, `\r\n`
    and `\r`.
    """
    if stop.kind == "line":
        newline = _NEWLINE.search(text)
        return newline.start() if newline else None
    if stop.kind == "block":
        for line in _LATER_LINE.finditer(text):
            if indentation(line[1]) < stop.indent:
                return len(_without_blank_lines(text[: line.start() + 1]))
    return None


def kept(text: str, stop: Stop) -> str:
    """The part of a whole text that `stop` leaves; a block's trailing blank lines are left out however it ended."""
    offset = ending(text, stop)
    if offset is not None:
        return text[:offset]
    return _without_blank_lines(text) if stop.kind == "block" else text


def _without_blank_lines(text: str) -> str:
    return _BLANK_LINES_AT_END.sub("", text)

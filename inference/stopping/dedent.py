"""A block ends before the first line that is indented less."""

from __future__ import annotations

import re

from .stop import StopPoint
from .text_so_far import Written, without_blank_lines

_LATER_LINE = re.compile(r"[\r\n]([ \t\f]*)[^ \t\f\r\n]")


def indentation(line: str) -> int:
    """The columns of a line's indentation, as Python's tokenizer counts: a tab goes to the next multiple of 8, a form feed to 0."""
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


def at_dedent(written: Written) -> StopPoint | None:
    """Stop before the first line with less indentation than the block. The line that the text starts on does not count."""
    for line in _LATER_LINE.finditer(written.text):
        if indentation(line[1]) < written.stop.indent:
            return StopPoint(len(without_blank_lines(written.text[: line.start() + 1])), "block", line.end())
    return None

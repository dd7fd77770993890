"""Which stopping rule holds at a cursor: the end of the line, or the indentation that a block or a function has at least."""

from __future__ import annotations

import re

from ..inference.completion.task import next_lines, start_of_line
from ..inference.stopping.rules import indentation
from ..inference.stopping.statements import open_brackets, unpaired_closing
from ..inference.stopping.stop import LINE, Stop
from .cursor import Cursor

_LINE_END = re.compile(r"[\r\n]")
_OPENS_A_BLOCK = re.compile(r":[ \t]*(#.*)?$|\{[ \t]*(//.*|/\*.*\*/[ \t]*)?$")
# What begins a function, in the languages that have a word for it.
_FUNCTION = re.compile(
    r"\s*(?:(?:async|export|default|pub(?:\([\w ]*\))?|unsafe|const|local|inline|static|public|private|protected|internal|override)\s+)*"
    r"(?:def|function|fn|func|fun|sub|proc)\b"
)
_CLOSING_LINE = re.compile(r"\s*[)\]}]")


def stop_at(cursor: Cursor) -> Stop:
    """The rule that ends a text of the wanted kind at a cursor."""
    if cursor.kind == "line":
        if _CLOSING_LINE.match(cursor.rest_of_line):
            before = start_of_line(cursor.prefix)
            # Brackets that are open on the line and that nothing behind the cursor closes: with `f(g(` before it and `)` behind it, one.
            may_close = max(0, open_brackets(before) - len(unpaired_closing(cursor.rest_of_line)))
            return Stop("line", before=before, may_close=may_close)
        return LINE
    indent = block_indent(cursor.prefix) if cursor.kind == "block" else function_indent(cursor.prefix)
    return Stop("block", indent, start_of_line(cursor.prefix), next_lines(cursor.suffix, 2))


def block_indent(prefix: str) -> int:
    """The indentation, in columns, that the block at the end of the prefix has at least.

    It is that of the cursor's line. Where the last line that is not blank ends with a colon or a brace, a block begins there and is deeper
    than that line, however far the cursor's own line is indented yet. (At column 0 and with neither a block has no end but the text's.)
    """
    own = indentation(start_of_line(prefix))
    opener = start_of_line(prefix.rstrip())
    return max(own, indentation(opener) + 1) if _OPENS_A_BLOCK.search(opener) else own


def function_indent(prefix: str) -> int:
    """The indentation, in columns, that the body of the function around the cursor has at least; where there is none, as `block_indent`.

    The function is the nearest line above, or the cursor's own, that begins one and is indented less than all between.
    """
    lines = _LINE_END.split(prefix)
    if _FUNCTION.match(lines[-1]):
        return indentation(lines[-1]) + 1
    least = block_indent(prefix)
    for line in reversed(lines[:-1]):
        if least == 0:
            break
        own = indentation(line)
        # The line that closes a signature is as deep as the one that opens it.
        if own < least and line.strip() and not _CLOSING_LINE.match(line):
            if _FUNCTION.match(line):
                return own + 1
            least = own
    return block_indent(prefix)

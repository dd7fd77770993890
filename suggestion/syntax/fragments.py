"""The parts of a file around a cursor that may stand alone.

The smallest is read first, so that a large file costs no more than a small one. A part begins with a line that is indented less than the
cursor's, and ends where the code is indented as little again. Nothing here knows a grammar: a part that is cut out wrongly does not parse,
and then a larger one is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ...inference.completion.task import start_of_line
from ...inference.stopping.rules import indentation
from ...inference.stopping.statements import code_only
from ..cursor import Cursor

# Characters around the cursor that are read at most: no more than any window has, so that editor and studies read the same.
_BEFORE, _BEHIND = 16_384, 6_144
# Parts that are tried before all that is in reach.
_MAX_PARTS = 3

_BRACKET = re.compile(r"[()\[\]{}]")
_NEWLINE = re.compile(r"\r\n|\r")
# Lines that begin no statement: they go on with the one above.
_CONTINUES = re.compile(
    r"[)\]}]|(?:else|elif|elsif|elseif|except|finally|catch|rescue|ensure|when|case|default|then|do|end|fi|done|esac)\b"
)
_CLOSES = re.compile(r"[)\]}]|(?:end|fi|done|esac)\b")
_OPENS = re.compile(r"(?:[({\[:]|\b(?:then|do|in))\s*\Z")


@dataclass(frozen=True, slots=True)
class Fragment:
    r"""A part of a file: lines that end with `\n`, but for the cursor's.

    above, below: the whole lines above and below the cursor's; start, rest: what stands before and behind the cursor on its own.
    """

    above: str
    start: str
    rest: str
    below: str

    def having(self, text: str) -> str:
        """The part with a text at the cursor."""
        return f"{self.above}{self.start}{text}{self.rest}\n{self.below}"

    def with_line(self, line: str) -> str:
        """The part with another line in place of the cursor's."""
        return f"{self.above}{line}\n{self.below}"

    @property
    def line(self) -> str:
        """The cursor's line as it is."""
        return self.start + self.rest


def unpaired(line: str) -> str:
    """The brackets of a line that have no partner in it, in order."""
    left: list[str] = []
    for bracket in _BRACKET.findall(code_only(line)):
        if bracket in ")]}" and left and left[-1] in "([{":
            left.pop()
        else:
            left.append(bracket)
    return "".join(left)


def fragments(cursor: Cursor, text: str) -> Iterator[Fragment]:
    """Parts around the cursor, each within the next; the last is all that is in reach. text: whose first line may be indented."""
    above, start, rest, below = _lines_around(cursor)
    indent = indentation((start + text).split("\n", 1)[0]) if (start + text).strip() else indentation(start)
    first = len(above)
    for _ in range(_MAX_PARTS):
        header = _header(above, first, indent)
        if header is None:
            break
        beside = indentation(above[header]) == indent
        first, indent = header, indentation(above[header])
        end = _end(below, indent)
        if beside:  # a decorator belongs to the statement below it
            while end < len(below) and below[end].startswith("@"):
                end += 1
            end += 1 + _end(below[end + 1 :], indent)
        yield Fragment(_joined(above[_with_decorators(above, first) :]), start, rest, _joined(below[:end]))
    yield Fragment(_joined(above), start, rest, _joined(below))


def _lines_around(cursor: Cursor) -> tuple[list[str], str, str, list[str]]:
    start, rest = start_of_line(cursor.prefix), cursor.rest_of_line
    above = _NEWLINE.sub("\n", cursor.prefix[-_BEFORE:][: -len(start) or None]).split("\n")[:-1]
    if len(cursor.prefix) > _BEFORE:
        above = above[1:]  # it may be the end of a line
    behind = cursor.suffix[len(rest) :]
    below = _NEWLINE.sub("\n", behind[:_BEHIND]).split("\n")[1:]
    return above, start, rest, below[:-1] if len(behind) > _BEHIND else below


def _header(above: list[str], first: int, indent: int) -> int | None:
    """The nearest line above that is indented less, or at the margin the one that begins the statement above."""
    for number in range(first - 1, -1, -1):
        line = above[number]
        if not line.strip():
            continue
        own = indentation(line)
        if own < indent or own == indent == 0:
            if line.strip() != "{" and not _CONTINUES.match(line.lstrip()):
                return number
            indent = own + 1
    return None


def _with_decorators(above: list[str], header: int) -> int:
    own = indentation(above[header])
    while header and above[header - 1].lstrip().startswith("@") and indentation(above[header - 1]) == own:
        header -= 1
    return header


def _end(below: list[str], indent: int) -> int:
    """The number of lines below that belong to a part whose first line is indented so far."""
    for number, line in enumerate(below):
        if not line.strip() or indentation(line) > indent:
            continue
        if not _CONTINUES.match(line.lstrip()) or indentation(line) < indent:
            return number
        if _CLOSES.match(line.lstrip()) and not _OPENS.search(line):
            return number + 1
    return len(below)


def _joined(lines: list[str]) -> str:
    return "".join(line + "\n" for line in lines)

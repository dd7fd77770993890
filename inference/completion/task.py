"""The task at a cursor: which kind of text is wanted, and what the lines around the cursor say of it."""

from __future__ import annotations

import re
from itertools import islice
from typing import Literal

Kind = Literal["line", "block", "function"]
Task = Literal["line", "line_rest", "line_middle", "block", "function"]

# Lines below the cursor among which `next_lines` looks for those that are not blank.
_MAX_BLANK_LINES = 64

_LINE_END = re.compile(r"[\r\n]")
_NEXT_LINE = re.compile(r"[\r\n]([^\r\n]*)")


def task_of(prefix: str, suffix: str, kind: Kind) -> Task:
    """The task at a cursor where text of a kind is wanted.

    "line" is a whole line (only white space is on the cursor's line), "line_rest" the rest of a line, "line_middle" a line with text
    behind the cursor. A "block" or a "function" is its own task wherever the cursor is.
    """
    if kind != "line":
        return kind
    if rest_of_line(suffix).strip():
        return "line_middle"
    return "line_rest" if start_of_line(prefix).strip() else "line"


def kind_of(task: str) -> Kind:
    """The kind of text that a task wants."""
    return "block" if task == "block" else "function" if task == "function" else "line"


def start_of_line(prefix: str) -> str:
    """The text before the cursor on its line."""
    return prefix[max(prefix.rfind("\n"), prefix.rfind("\r")) + 1 :]


def rest_of_line(suffix: str) -> str:
    """The text behind the cursor on its line."""
    return _LINE_END.split(suffix, maxsplit=1)[0]


def next_lines(suffix: str, count: int) -> tuple[str, ...]:
    """The first `count` lines below the cursor's that are not blank."""
    lines = (match[1].rstrip() for match in islice(_NEXT_LINE.finditer(suffix), _MAX_BLANK_LINES))
    return tuple(islice(filter(None, lines), count))

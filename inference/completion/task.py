"""What is asked of a model at a cursor: which kind of text, and what the lines around the cursor say of it."""

from __future__ import annotations

import re
from itertools import islice
from typing import Literal

Kind = Literal["line", "block", "function"]
Task = Literal["line", "line_rest", "line_middle", "block", "function"]

# So many newlines below the cursor are looked at for the next lines that are not blank.
_MAX_BLANK_LINES = 64

_LINE_END = re.compile(r"[\r\n]")
_NEXT_LINE = re.compile(r"[\r\n]([^\r\n]*)")


def task_of(prefix: str, suffix: str, kind: Kind) -> Task:
    """What is asked of the model at a place.

    "line": a whole line (only white space around the cursor on its line); "line_rest": the rest of a line; "line_middle": text stands
    behind the cursor on its line; "block", "function": any of these.
    """
    if kind != "line":
        return kind
    if rest_of_line(suffix).strip():
        return "line_middle"
    return "line_rest" if start_of_line(prefix).strip() else "line"


def kind_of(task: str) -> Kind:
    """The kind of text that a task asks for."""
    return "block" if task == "block" else "function" if task == "function" else "line"


def start_of_line(prefix: str) -> str:
    """What stands before the cursor on its line."""
    return prefix[max(prefix.rfind("\n"), prefix.rfind("\r")) + 1 :]


def rest_of_line(suffix: str) -> str:
    """What stands behind the cursor on its line."""
    return _LINE_END.split(suffix, maxsplit=1)[0]


def next_lines(suffix: str, count: int) -> tuple[str, ...]:
    """The first lines below the cursor's that are not blank."""
    lines = (match[1].rstrip() for match in islice(_NEXT_LINE.finditer(suffix), _MAX_BLANK_LINES))
    return tuple(islice(filter(None, lines), count))

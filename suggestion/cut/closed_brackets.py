"""A bracket that is closed behind the cursor already is not closed twice."""

from __future__ import annotations

import re

from ...inference.completion.task import next_lines
from ...inference.stopping.statements import open_brackets, unpaired_closing
from ..cursor import Cursor

_CLOSING_RUN = re.compile(r"[)\]}]*")


def without_closed_brackets(text: str, cursor: Cursor) -> str:
    """A block or a function without the closing brackets at its end that would close what follows closes again. A line stays as it is."""
    if cursor.kind == "line":
        return text
    following = cursor.rest_of_line.strip() or "".join(next_lines(cursor.suffix, 1)).strip()
    there = _CLOSING_RUN.match(following)
    closing = unpaired_closing(text)
    if not there or not there[0] or not closing:
        return text
    opened = open_brackets(cursor.prefix)
    there_too = there[0][:opened]
    surplus = len(closing) + len(there_too) - opened
    if not 0 < surplus <= len(there_too):
        return text
    start = closing[-surplus]
    end = "".join(text[start:].split())
    return text[:start].rstrip() if len(end) == surplus and there_too.endswith(end) else text

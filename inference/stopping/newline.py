"""A line ends before its newline."""

from __future__ import annotations

import re

from .stop import StopPoint
from .text_so_far import Written

_NEWLINE = re.compile(r"[\r\n]")


def at_newline(written: Written) -> StopPoint | None:
    """Stop before the first newline."""
    newline = _NEWLINE.search(written.text)
    return newline and StopPoint(newline.start(), "line", newline.end())

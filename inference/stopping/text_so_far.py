"""A text as it has been written so far, as the stopping rules see it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from .stop import Stop

_NEWLINE = re.compile(r"[\r\n]")
_BLANK_LINES_AT_END = re.compile(r"[\r\n][ \t\f\r\n]*\Z")


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """A whole line that is not blank. content: without its end and the white space there. start, end: in the text, without its newline."""

    content: str
    start: int
    end: int


@dataclass(frozen=True)
class Written:
    """A text, the rule that it was asked with, and how many of its characters are known not to end it: no rule looks at these again."""

    text: str
    stop: Stop
    checked_until: int = 0

    @cached_property
    def lines(self) -> list[WrittenLine]:
        """The lines that a newline ends and that are not blank."""
        return list(self._lines())

    def _lines(self) -> Iterator[WrittenLine]:
        start = 0
        for newline in _NEWLINE.finditer(self.text):
            line = self.text[start : newline.start()]
            content = (line if start else self.stop.before + line).rstrip()
            if content.strip():
                yield WrittenLine(content, start, newline.start())
            start = newline.end()


def without_blank_lines(text: str) -> str:
    """The text without the blank lines at its end."""
    return _BLANK_LINES_AT_END.sub("", text)

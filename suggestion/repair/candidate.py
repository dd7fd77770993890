"""Other lines in the place of some lines of a file. Pure.

A file is its lines without their ends, and lines count from 0. What is compared, judged and shown is always a change of whole lines, the
smallest that there is: so what two sources say can be told to be the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...analysis.text_edits import changed_span

Lines = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """lines[first:end] become `new`; at least one line on either side."""

    first: int
    end: int
    new: Lines

    def of(self, lines: Lines) -> Lines:
        """The file with the change made."""
        return (*lines[: self.first], *self.new, *lines[self.end :])


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change that a source gives.

    source: its name. is_drawn: one of several texts that a model drew for the same question, so that how many say the same tells something.
    rule: of analysis.repairs, that made it.
    """

    change: Change
    source: str
    is_drawn: bool = False
    rule: str = ""


def change_of(lines: Lines, first: int, end: int, new: Sequence[str]) -> Change:
    """The smallest change of whole lines that makes lines[first:end] `new`.

    Lines that are put in, or taken out, change together with the line below, at the end of a file with the line above.
    """
    new = tuple(new)
    while first < end and new and lines[first] == new[0]:
        first, new = first + 1, new[1:]
    while first < end and new and lines[end - 1] == new[-1]:
        end, new = end - 1, new[:-1]
    if first < end and new:
        return Change(first, end, new)
    if end < len(lines):
        return Change(first, end + 1, (*new, lines[end]))
    return Change(first - 1, end, (lines[first - 1], *new)) if first else Change(0, end, new or ("",))


def around(lines: Lines, first: int, end: int) -> tuple[str, str]:
    """The text before lines[first:end], and behind the last of them, with its line's end."""
    before, after = "\n".join((*lines[:first], "")) if first else "", "\n".join(("", *lines[end:])) if end < len(lines) else ""
    return before, after


def indent_of(line: str) -> str:
    """The white space that a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def edit_size(old: Sequence[str], new: Sequence[str]) -> int:
    """The characters that go and those that come, between the beginning and the end that both have."""
    start, end, text = changed_span("\n".join(old), "\n".join(new))
    return end - start + len(text)

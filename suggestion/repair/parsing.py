"""Whether a file parses with a change in it: in Python, and in each language that a grammar is installed for."""

from __future__ import annotations

from typing import Protocol

from .candidate import Change, Lines
from .parsed_python import parsed_python
from .parsed_tree import parsed_tree


class Parsing(Protocol):
    """A file, and what changes of it do to its syntax."""

    @property
    def parses(self) -> bool:
        """Whether the file does, as it is."""

    @property
    def indents(self) -> bool:
        """Whether the white space that a line begins with says something."""

    def breaks(self, change: Change) -> bool:
        """Whether there is a mistake of syntax with a change that there was not before."""

    def mends(self, change: Change) -> bool:
        """Whether a mistake of syntax goes with a change, and none comes."""

    def says_the_same(self, change: Change, /) -> bool | None:
        """Whether a change is of white space, comments and spelling alone; None where the text must tell."""


def parsing_of(lines: Lines, first: int, end: int, language: str) -> Parsing | None:
    """What is needed to parse a file with lines[first:end] changed, or a line beside them; None for a language that can't be parsed."""
    return parsed_python(lines, first, end) if language == "python" else parsed_tree(lines, language)

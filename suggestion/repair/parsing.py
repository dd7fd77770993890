"""Whether a file parses with a change in it: Python, JSON, TOML, and each language that has a grammar."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn, Protocol

from ...analysis.lines.grammars import GRAMMARS
from ...calibration.language_names import name_of_language
from ..zones import is_prose
from .candidate import Change, Lines
from .parsed_python import parsed_python
from .parsed_tree import parsed_tree


@dataclass(frozen=True, slots=True)
class ParsedData:
    """A file of data. before: what it says, written out; None where it can't be read."""

    lines: Lines
    read: Callable[[str], object]
    before: str | None

    @property
    def parses(self) -> bool:
        """Whether the file does, as it is."""
        return self.before is not None

    @property
    def indents(self) -> bool:
        """In none of these languages."""
        return False

    def breaks(self, change: Change) -> bool:
        """Whether the file can't be read with the change, whether or not it can without."""
        return self._after(change) is None

    def mends(self, change: Change) -> bool:
        """Whether the file can be read with the change alone."""
        return not self.parses and self._after(change) is not None

    def says_the_same(self, change: Change, /) -> bool | None:
        """Whether the file says the same with it; None of one that can't be read."""
        return None if self.before is None else self._after(change) == self.before

    def _after(self, change: Change) -> str | None:
        return _said(change.of(self.lines), self.read)


def parsed_data(lines: Lines, language: str) -> ParsedData:
    """A file in a language of `READERS`."""
    read = READERS[language]
    return ParsedData(lines, read, _said(lines, read))


def _said(lines: Lines, read: Callable[[str], object]) -> str | None:
    try:
        # 1, 1.0 and true are equal, and are not written alike.
        return repr(read("\n".join(lines).removeprefix("\ufeff")))
    except (ValueError, RecursionError):
        return None


def _json(text: str) -> object:
    return json.loads(text, parse_constant=_refused)


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


READERS: Mapping[str, Callable[[str], object]] = {"json": _json, "toml": tomllib.loads}


# Why nothing is made of lines without code.
PROSE = "nothing can check what a repair makes of a comment, a docstring or a text of several lines."


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
    if language == "python":
        return parsed_python(lines, first, end)
    return parsed_data(lines, language) if language in READERS else parsed_tree(lines, language)


def why_not_parsed(language: str) -> str:
    """Why nothing in a language is repaired, in a sentence; empty where something may be."""
    if language == "python" or language in READERS or language in GRAMMARS:
        return ""
    return f"nothing can check what a repair makes of {name_of_language(language)}: there is no parser for it here."


def why_none(lines: Lines, first: int, end: int, language: str) -> str:
    """Why nothing of lines[first:end] of a file is repaired, in a sentence; empty where something may be."""
    if why := why_not_parsed(language):
        return why
    prose = prose_in(lines, first, end, language)
    return PROSE if prose and all(number in prose for number in range(first, end) if lines[number].strip()) else ""


def prose_in(lines: Lines, first: int, end: int, language: str) -> frozenset[int]:
    """Those of lines[first:end] that are a comment, a docstring, or inside of a comment or string."""
    prefix, found = "\n".join((*lines[:first], "")) if first else "", set[int]()
    for number in range(first, end):
        if is_prose(prefix, lines[number], language):
            found.add(number)
        prefix += f"{lines[number]}\n"
    return frozenset(found)

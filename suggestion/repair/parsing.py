"""Whether a file parses with a change in it: Python, JSON, TOML, and each language that has a grammar."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NoReturn, Protocol

from ...analysis.grammars import GRAMMARS
from ...analysis.python.source_text import without_warnings
from ...calibration.language_names import name_of_language
from ..zones import is_prose
from .candidate import Change, Lines, indent_of
from .parsed_tree import parsed_tree

# What begins a statement that is not indented.
_BEGINS = re.compile(r"(?!(?:elif|else|except|finally)\b)[^\s)\]}#]")


@dataclass(frozen=True, slots=True)
class ParsedPython:
    """A file of Python. Of one that parses, only the statements around a change are read again: lines[first:end].

    indent: how far these are indented. before: their tree as they are; None for a file that does not parse.
    """

    lines: Lines
    first: int
    end: int
    indent: int
    before: ast.Module | None

    def after(self, change: Change) -> ast.Module | None:
        """The tree of these lines with a change in them; None where the file then does not parse."""
        changed = change.of(self.lines)
        if any(line.strip() and len(indent_of(line)) < self.indent for line in change.new):
            return _parsed(changed)  # it may end the block that these lines are in
        return _parsed(changed[self.first : len(changed) - (len(self.lines) - self.end)], self.indent)

    @property
    def parses(self) -> bool:
        """Whether the file does, as it is."""
        return self.before is not None

    @property
    def indents(self) -> bool:
        """The white space that a line begins with is syntax."""
        return True

    def breaks(self, change: Change) -> bool:
        """Whether the file parses, and not with the change; of one that does not, whether the statement at its margin does that changes."""
        if self.parses:
            return self.after(change) is None
        first, end = _at_the_margin(self.lines, change)
        changed = change.of(self.lines)
        return _parsed(self.lines[first:end]) is not None and _parsed(changed[first : len(changed) - (len(self.lines) - end)]) is None

    def mends(self, change: Change) -> bool:
        """Whether the file parses with the change alone."""
        return not self.parses and self.after(change) is not None

    def says_the_same(self, change: Change) -> bool | None:
        """Whether a change is of white space, comments, docstrings and spelling alone; None of a file that does not parse."""
        if self.before is None:
            return None
        after = self.after(change)
        return after is not None and _dump(self.before) == _dump(after)


def parsed_python(lines: Lines, first: int, end: int) -> ParsedPython:
    """What is needed to parse a file with lines[first:end] changed, or a line beside them."""
    module = _parsed(lines)
    if module is None:
        return ParsedPython(lines, 0, len(lines), 0, None)
    first, end, indent = max(0, first - 1), min(len(lines), end + 1), 0
    inner = module.body
    for definition in _definitions_around(module, first, end):
        inner, indent = [definition], definition.col_offset
    touched = [(above, below) for above, below in map(_extent, inner) if above < end and first < below]
    if not touched:
        return ParsedPython(lines, first, end, 0, _parsed(lines[first:end]))
    first, end = min(first, touched[0][0]), max(end, touched[-1][1])
    return ParsedPython(lines, first, end, indent, _parsed(lines[first:end], indent))


def _dump(tree: ast.Module) -> str:
    """All that a tree says but its docstrings, and other strings that are statements."""
    bodies = [body for node in ast.walk(tree) if isinstance(body := getattr(node, "body", None), list)]
    whole = [body[:] for body in bodies]
    for body in bodies:
        body[:] = [statement for statement in body if not _is_string(statement)]
    dumped = ast.dump(tree)
    for body, statements in zip(bodies, whole, strict=True):
        body[:] = statements
    return dumped


def _is_string(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)


def _at_the_margin(lines: Lines, change: Change) -> tuple[int, int]:
    """The first line of the statement that a change is in, and the first line behind it; of statements that are not indented."""
    first = next((number for number in range(change.first, 0, -1) if _BEGINS.match(lines[number])), 0)
    return first, next((number for number in range(change.end, len(lines)) if _BEGINS.match(lines[number])), len(lines))


def _definitions_around(module: ast.Module, first: int, end: int) -> Iterator[ast.stmt]:
    """The classes and functions that hold all of these lines, the innermost last."""
    body = module.body
    while True:
        within = [statement for statement in body if (extent := _extent(statement))[0] <= first and end <= extent[1]]
        if not within or not isinstance(within[0], ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            return
        yield within[0]
        body = within[0].body


def _extent(statement: ast.stmt) -> tuple[int, int]:
    """The lines of a statement. A decorator stands above the line that a function has in the tree."""
    numbers = [statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))]
    return min(numbers) - 1, statement.end_lineno or statement.lineno


def _parsed(lines: Lines, indent: int = 0) -> ast.Module | None:
    around = ("if True:",) if indent else ()
    try:
        with without_warnings():
            return ast.parse("\n".join((*around, *lines, "")).removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


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
        """The white space that a line begins with says nothing."""
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

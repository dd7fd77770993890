"""Whether a file of Python parses with a change in it."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

from .candidate import Change, Lines, indent_of

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
        """Indentation is syntax."""
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse("\n".join((*around, *lines, "")).removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None

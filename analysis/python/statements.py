"""The statements of a Python file: which block each stands in, its kind, and the characters it takes up.

`statement_parsing` reads them. Nothing here writes code: whoever changes a file cuts and pastes its text, so what is not changed stays the
same byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

_SEMICOLON = re.compile(r"(?:[ \t\f]|\\\r?\n)*;(?:[ \t\f]|\\\r?\n)*")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, or several that share a line (`a = 1; b = 2`) and count as one of the first one's kind.

    start, end: offsets; from the first decorator's @, where there is one, to before a trailing comment.
    first_line, last_line: from 1.
    header_last_line: of a compound statement the last line before its first block's statements, else last_line.
    runs: whether it makes code that a tracer sees (`global`, a bare annotation or constant make none).
    own_line: whether its code begins a line.
    blocks: those of a compound statement, in the source's order.
    """

    kind: str
    start: int
    end: int
    first_line: int
    last_line: int
    header_last_line: int
    runs: bool
    own_line: bool
    blocks: tuple[tuple[Statement, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Docstring:
    """One of the plain strings that a module, class or function begins with: source[start:end], parentheses included.

    first: whether it is the docstring; a later one would become it if the ones before were removed. alone: whether the body has nothing
    else and may not be empty.
    """

    start: int
    end: int
    first_line: int
    last_line: int
    first: bool
    alone: bool


@dataclass(frozen=True, slots=True)
class Function:
    """One function.

    name: dotted, with the names of the classes and functions around it. first_line: that of its `def`.
    """

    name: str
    first_line: int
    last_line: int
    docstring: Docstring | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Module:
    """A file's functions and docstrings, in the source's order, outer before inner.

    starts: as `line_starts`. continued: the lines, from 1, that continue a string from an earlier line.
    """

    functions: tuple[Function, ...]
    docstrings: tuple[Docstring, ...]
    starts: tuple[int, ...]
    continued: frozenset[int]


def blocks_of(function: Function) -> Iterator[tuple[Statement, ...]]:
    """A function's own block and the blocks inside it, without those of functions inside it."""
    pending = [function.body]
    while pending:
        block = pending.pop()
        yield block
        pending.extend(inner for statement in reversed(block) if statement.kind != "function" for inner in reversed(statement.blocks))


def all_statements(block: tuple[Statement, ...]) -> Iterator[Statement]:
    """Every statement of a block and of the blocks inside it, also of functions."""
    pending = list(reversed(block))
    while pending:
        statement = pending.pop()
        yield statement
        pending.extend(inner for block in reversed(statement.blocks) for inner in reversed(block))


def is_covered(statement: Statement, lines: Collection[int]) -> bool:
    """Whether a line of the statement (of its header, where it has blocks) is among the executed lines."""
    return any(line in lines for line in range(statement.first_line, statement.header_last_line + 1))


def begins_line(source: str, line_start: int, start: int) -> bool:
    """Whether the code at an offset of a line is the first of a logical line."""
    if source[line_start:start].strip():
        return False
    before = source[max(line_start - 2, 0) : line_start].rstrip("\r\n")
    if not before.endswith("\\"):
        return True
    # a backslash at the end of a comment does not join lines
    previous = source[:line_start].rstrip("\r\n")
    return previous[max(previous.rfind("\n"), previous.rfind("\r")) + 1 :].lstrip().startswith("#")


def header_last_line(first: int, blocks: Sequence[Sequence[Statement]]) -> int:
    """The last line of the header of a compound statement whose keyword is on line `first`."""
    inside = blocks[0][0]
    return max(first, inside.first_line - inside.own_line)


def joined_where_lines_are_shared(source: str, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Join the statements that have only semicolons between them."""
    found: list[Statement] = []
    for statement in statements:
        between = _SEMICOLON.match(source, found[-1].end) if found else None
        if between and between.end() == statement.start:
            before = found[-1]
            last = statement.last_line
            runs = before.runs or statement.runs
            found[-1] = replace(before, end=statement.end, last_line=last, header_last_line=last, runs=runs)
        else:
            found.append(statement)
    return tuple(found)

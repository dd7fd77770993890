"""The statements of a Python file: which block each stands in, its kind, and the characters it takes up.

Read with Python's own parser, and where that is older than the source's syntax, with libcst (`statements_libcst`). Neither writes any code:
whoever changes a file cuts and pastes its text, so what is not changed stays byte for byte.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from .source_text import BOM, UnreadableSource, line_starts

KINDS = {
    "FunctionDef": "function",
    "AsyncFunctionDef": "function",
    "ClassDef": "class",
    "Return": "return",
    "Delete": "delete",
    "Del": "delete",
    "Assign": "assign",
    "AugAssign": "assign",
    "AnnAssign": "assign",
    "TypeAlias": "type",
    "For": "for",
    "AsyncFor": "for",
    "While": "while",
    "If": "if",
    "With": "with",
    "AsyncWith": "with",
    "Match": "match",
    "Raise": "raise",
    "Try": "try",
    "TryStar": "try",
    "Assert": "assert",
    "Import": "import",
    "ImportFrom": "import",
    "Global": "global",
    "Nonlocal": "nonlocal",
    "Expr": "expression",
    "Pass": "pass",
    "Break": "break",
    "Continue": "continue",
}
"""The kind of each statement, by the name of its node in Python's and in libcst's trees."""

# what may stand between two statements on one line
_SEMICOLON = re.compile(r"(?:[ \t\f]|\\\r?\n)*;(?:[ \t\f]|\\\r?\n)*")
_DECORATOR = re.compile(r"[ \t\f]*@")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, or several that share a line (`a = 1; b = 2`), whose kind is the first one's.

    start (of the first decorator's @, where there is one) and end are offsets; end is before a trailing comment. Lines are numbered from 1.
    header_last_line: of a compound statement the last line before its first block's statements, else last_line. runs: it makes code, which
    a tracer sees (`global`, a bare annotation or constant make none). own_line: its code begins a line. blocks: in the source's order.
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
    """One of the plain strings that begin a module, class or function: source[start:end], parentheses included.

    first: it is the docstring; the ones that follow would be if it were not there. alone: the body has nothing else and may not be empty.
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

    name: with those of the classes and functions around it, dotted. first_line: that of its `def`. header_last_line: that of the end of its
    parameters and of what it says to return.
    """

    name: str
    first_line: int
    header_last_line: int
    last_line: int
    docstring: Docstring | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Module:
    """What a file is made of; functions and docstrings in the source's order, outer before inner.

    starts: as `line_starts`. newer: its syntax is newer than the Python that runs.
    """

    functions: tuple[Function, ...]
    docstrings: tuple[Docstring, ...]
    starts: tuple[int, ...]
    newer: bool = False


@lru_cache(maxsize=8)
def parsed(source: str) -> Module:
    """The statements of a text, in any syntax from Python 3.0 on that the running Python or an installed libcst reads.

    Raises UnreadableSource with line and reason.
    """
    try:
        return _read(source)
    except UnreadableSource as refusal:
        try:
            from . import statements_libcst
        except ImportError:
            raise UnreadableSource(f"{refusal} (syntax newer than this Python's is read where libcst is installed)") from None
        try:
            return statements_libcst.read(source)
        except UnreadableSource as other:
            raise UnreadableSource(f"{refusal}; and by libcst: {str(other).splitlines()[0]}") from None


def blocks_of(function: Function) -> Iterator[tuple[Statement, ...]]:
    """A function's own block and all inside it, classes' included, but not those of functions inside it."""
    pending = [function.body]
    while pending:
        block = pending.pop()
        yield block
        pending.extend(inner for statement in reversed(block) if statement.kind != "function" for inner in reversed(statement.blocks))


def all_statements(block: tuple[Statement, ...]) -> Iterator[Statement]:
    """Each statement of a block and of the blocks inside it, functions inside it included."""
    pending = list(reversed(block))
    while pending:
        statement = pending.pop()
        yield statement
        pending.extend(inner for block in reversed(statement.blocks) for inner in reversed(block))


def is_fully_covered(function: Function, lines: Collection[int]) -> bool:
    """Whether all statements of a function that make code were executed, those of functions and classes inside it included."""
    return all(is_covered(statement, lines) for statement in all_statements(function.body) if statement.runs)


def is_covered(statement: Statement, lines: Collection[int]) -> bool:
    """Whether one of the lines of a statement, or of its header where it has blocks, is among those that were executed."""
    return any(line in lines for line in range(statement.first_line, statement.header_last_line + 1))


def begins_line(source: str, line_start: int, start: int) -> bool:
    """Whether what starts at an offset of a line is the first code of a logical line, too."""
    if source[line_start:start].strip():
        return False
    before = source[max(line_start - 2, 0) : line_start].rstrip("\r\n")
    if not before.endswith("\\"):
        return True
    # a backslash joins lines, but not at the end of a comment
    previous = source[:line_start].rstrip("\r\n")
    return previous[max(previous.rfind("\n"), previous.rfind("\r")) + 1 :].lstrip().startswith("#")


def _tree(source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's code are not our user's business
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableSource(f"not Python that can be parsed: {error}") from None


def _read(source: str) -> Module:
    """By Python's own parser; raises UnreadableSource."""
    tree = _tree(source.removeprefix(BOM))
    reader = _Reader(source)
    reader.leading_strings(tree.body, empty=True)
    reader.block(tree.body, ())
    return Module(
        tuple(sorted(reader.functions, key=lambda f: (f.first_line, -f.last_line))),
        tuple(sorted(reader.docstrings, key=lambda d: d.start)),
        tuple(reader.starts),
    )


class _Reader:
    """Collects the functions and docstrings of one file while it makes statements of nodes."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = line_starts(source)
        self.functions: list[Function] = []
        self.docstrings: list[Docstring] = []

    def span(self, node: ast.stmt) -> tuple[int, int]:
        last = node.end_lineno or node.lineno
        return self.offset(node.lineno, node.col_offset), self.offset(last, node.end_col_offset or 0)

    def offset(self, line: int, column: int) -> int:
        """Of a place that the parser counts in bytes of UTF-8."""
        start = self.starts[line - 1]
        text = self.source[start : start + column]
        return start + (column if text.isascii() else len(text.encode()[:column].decode()))

    def block(self, nodes: Sequence[ast.stmt], names: tuple[str, ...]) -> tuple[Statement, ...]:
        return joined_where_lines_are_shared(self.source, [self.statement(node, names) for node in nodes])

    def statement(self, node: ast.stmt, names: tuple[str, ...]) -> Statement:
        start, end = self.span(node)
        first, last = node.lineno, node.end_lineno or node.lineno
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names = (*names, node.name)
            if node.decorator_list:
                first, start = self.decorator(node.decorator_list[0].lineno)
        blocks = tuple(self.block(body, names) for body in self.bodies(node))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            docstring = self.leading_strings(node.body)
            if not isinstance(node, ast.ClassDef):
                header = [part.end_lineno for part in ast.walk(node.args) if isinstance(part, ast.expr | ast.arg)]
                header += [node.lineno, node.returns.end_lineno if node.returns else None]
                header_last = max(filter(None, header))
                self.functions.append(Function(".".join(names), node.lineno, header_last, last, docstring, blocks[0]))
        name = type(node).__name__
        return Statement(
            kind=KINDS.get(name, name.lower()),
            start=start,
            end=end,
            first_line=first,
            last_line=last,
            header_last_line=header_last_line(node.lineno, blocks) if blocks else last,
            runs=_runs(node),
            own_line=begins_line(self.source, self.starts[first - 1], start),
            blocks=blocks,
        )

    def decorator(self, line: int) -> tuple[int, int]:
        """Line and offset of the @ of a decorator whose expression begins on a line, itself perhaps behind an opening bracket."""
        while not (at := _DECORATOR.match(self.source, self.starts[line - 1])):
            line -= 1
        return line, at.end() - 1

    def bodies(self, node: ast.stmt) -> Iterator[list[ast.stmt]]:
        """The statement lists of a compound statement; an `elif` is a block of the `if` that it belongs to."""
        while isinstance(node, ast.If):
            yield node.body
            if not self.is_elif(node.orelse):
                if node.orelse:
                    yield node.orelse
                return
            (node,) = node.orelse
        inside = [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
        lists = [getattr(node, "body", []), *(part.body for part in inside), getattr(node, "orelse", []), getattr(node, "finalbody", [])]
        yield from filter(None, lists)

    def is_elif(self, nodes: list[ast.stmt]) -> bool:
        return len(nodes) == 1 and isinstance(nodes[0], ast.If) and self.source.startswith("elif", self.span(nodes[0])[0])

    def leading_strings(self, body: Sequence[ast.stmt], *, empty: bool = False) -> Docstring | None:
        """Keep the plain strings that a body begins with, which may be empty without them; gives the first."""
        strings: list[ast.stmt] = []
        for node in body:
            if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):
                break
            strings.append(node)
        alone = len(strings) == len(body) and not empty
        found = [
            Docstring(*self.span(node), node.lineno, node.end_lineno or node.lineno, first=i == 0, alone=alone)
            for i, node in enumerate(strings)
        ]
        self.docstrings.extend(found)
        return found[0] if found else None


def _runs(node: ast.stmt) -> bool:
    match node:
        case ast.Global() | ast.Nonlocal() | ast.AnnAssign(value=None) | ast.Expr(value=ast.Constant()):
            return False
    return True


def header_last_line(first: int, blocks: Sequence[Sequence[Statement]]) -> int:
    """Of a compound statement whose keyword is on line `first`: the last line before the statements of its first block."""
    inside = blocks[0][0]
    return max(first, inside.first_line - inside.own_line)


def joined_where_lines_are_shared(source: str, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Statements with semicolons between them made one."""
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

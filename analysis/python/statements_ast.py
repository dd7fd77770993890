"""Statements as Python's own parser finds them."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator, Sequence

from .source_text import BOM, UnreadableSource, line_starts
from .statements import Docstring, Function, Module, Statement, begins_line, header_last_line, joined_where_lines_are_shared, kind_of

_DECORATOR = re.compile(r"[ \t\f]*@")


def _tree(source: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in other people's code are not our user's business
            return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise UnreadableSource(f"not Python that can be parsed: {error}") from None


def read(source: str) -> Module:
    """Read a file. Raises UnreadableSource where this Python does not parse it."""
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
    """Makes statements of nodes, and collects the functions and docstrings of the file on the way."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = line_starts(source)
        self.functions: list[Function] = []
        self.docstrings: list[Docstring] = []

    def span(self, node: ast.stmt) -> tuple[int, int]:
        last = node.end_lineno or node.lineno
        return self.offset(node.lineno, node.col_offset), self.offset(last, node.end_col_offset or 0)

    def offset(self, line: int, column: int) -> int:
        """The offset of a column, which the parser counts in bytes of UTF-8."""
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
                self.functions.append(Function(".".join(names), node.lineno, last, docstring, blocks[0]))
        return Statement(
            kind=kind_of(type(node).__name__),
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
        """The line and offset of a decorator's @. line: where its expression begins, which may be below the @ after an opening bracket."""
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
        """Collect the plain strings that a body begins with. empty: whether the body may be empty without them. Returns the first."""
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

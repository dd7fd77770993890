"""Statements as libcst finds them, for syntax that is newer than the Python that runs (say type parameters on Python 3.11).

Some fifteen times slower than Python's own parser, so it is tried second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

import libcst as cst
import libcst.matchers as m
from libcst.metadata import CodePosition, CodeRange, MetadataWrapper, PositionProvider

from .libcst_parsing import parse_module
from .source_text import UnreadableSource, line_starts
from .statements import Docstring, Function, Module, Statement, begins_line, header_last_line, kind_of

# libcst drops a form feed at the start of a line and the white space before it, which is no indentation
_BEFORE_FORM_FEED = re.compile(r"[ \t\f]*\f")
_CONSTANTS = cst.Integer | cst.Float | cst.Imaginary | cst.Ellipsis | cst.SimpleString
_COMPOUND = cst.BaseCompoundStatement


def read(source: str) -> Module:
    """Read a file. Raises UnreadableSource where libcst does not parse the text, or would not write it back unchanged."""
    reader = _Reader(source)
    body = reader.tree.body
    reader.leading_strings(body, empty=True)
    reader.block(body, ())
    return Module(
        tuple(sorted(reader.functions, key=lambda f: (f.first_line, -f.last_line))),
        tuple(sorted(reader.docstrings, key=lambda d: d.start)),
        tuple(reader.starts),
        newer=True,
    )


def lines_inside_strings(source: str) -> set[int]:
    """The numbers (from 1) of the lines that continue a string from an earlier line. Raises UnreadableSource."""
    reader = _Reader(source)
    try:
        strings = m.findall(reader.tree, m.SimpleString() | m.FormattedString() | m.TemplatedString())
    except RecursionError:
        raise UnreadableSource("nested too deep for libcst") from None
    ranges = [reader.ranges[node] for node in strings]
    return {line for where in ranges for line in range(where.start.line + 1, where.end.line + 1)}


class _Reader:
    """Makes statements of nodes, and collects the functions and docstrings of the file on the way."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.starts = line_starts(source)
        # the offset of libcst's column 0 in each line
        self.columns = [found.end() if (found := _BEFORE_FORM_FEED.match(source, start)) else start for start in self.starts]
        ends = [*self.starts[1:], len(source)]
        lines = [source[column:end].rstrip("\r\n") for column, end in zip(self.columns, ends, strict=True)]
        self.tree, self.ranges = _positions("\n".join(lines[:-1]))
        self.functions: list[Function] = []
        self.docstrings: list[Docstring] = []

    def offset(self, place: CodePosition) -> int:
        return self.columns[place.line - 1] + place.column

    def block(self, nodes: Sequence[cst.BaseStatement], names: tuple[str, ...]) -> tuple[Statement, ...]:
        return tuple(
            self.compound(node, names) if isinstance(node, _COMPOUND) else self.simple(cst.ensure_type(node, cst.SimpleStatementLine).body)
            for node in nodes
        )

    def suite(self, suite: cst.BaseSuite, names: tuple[str, ...]) -> tuple[Statement, ...]:
        if isinstance(suite, cst.SimpleStatementSuite):
            return (self.simple(suite.body),)
        return self.block(cst.ensure_type(suite, cst.IndentedBlock).body, names)

    def simple(self, nodes: Sequence[cst.BaseSmallStatement]) -> Statement:
        """Make one statement of the small statements of a line."""
        first, last = self.ranges[nodes[0]], self.ranges[nodes[-1]]
        start = self.offset(first.start)
        return Statement(
            kind=kind_of(type(nodes[0]).__name__),
            start=start,
            end=self.offset(last.end),
            first_line=first.start.line,
            last_line=last.end.line,
            header_last_line=last.end.line,
            runs=any(map(_runs, nodes)),
            own_line=begins_line(self.source, self.starts[first.start.line - 1], start),
        )

    def compound(self, node: cst.BaseCompoundStatement, names: tuple[str, ...]) -> Statement:
        keyword = self.ranges[node].start
        begin = keyword
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            names = (*names, node.name.value)
            if node.decorators:
                begin = self.ranges[node.decorators[0]].start
        blocks = tuple(self.suite(body, names) for body in _bodies(node))
        last = blocks[-1][-1]
        if isinstance(node, cst.FunctionDef | cst.ClassDef):
            docstring = self.leading_strings(node.body.body)
            if isinstance(node, cst.FunctionDef):
                self.functions.append(Function(".".join(names), keyword.line, last.last_line, docstring, blocks[0]))
        start = self.offset(begin)
        return Statement(
            kind=kind_of(type(node).__name__),
            start=start,
            end=last.end,
            first_line=begin.line,
            last_line=last.last_line,
            header_last_line=header_last_line(keyword.line, blocks),
            runs=True,
            own_line=begins_line(self.source, self.starts[begin.line - 1], start),
            blocks=blocks,
        )

    def leading_strings(self, body: Sequence[cst.CSTNode], *, empty: bool = False) -> Docstring | None:
        """Collect the plain strings that a body begins with. empty: whether the body may be empty without them. Returns the first."""
        small = [part for node in body for part in (node.body if isinstance(node, cst.SimpleStatementLine) else [node])]
        strings = list(takewhile(_is_string, small))
        alone = len(strings) == len(small) and not empty
        found = [
            Docstring(self.offset(where.start), self.offset(where.end), where.start.line, where.end.line, first=i == 0, alone=alone)
            for i, where in enumerate(self.ranges[node] for node in strings)
        ]
        self.docstrings.extend(found)
        return found[0] if found else None


def _positions(text: str) -> tuple[cst.Module, Mapping[cst.CSTNode, CodeRange]]:
    try:
        wrapper = MetadataWrapper(parse_module(text), unsafe_skip_copy=True)
        if wrapper.module.code != text:
            raise UnreadableSource("libcst does not write this text back as it is")
        return wrapper.module, wrapper.resolve(PositionProvider)
    except RecursionError:
        raise UnreadableSource("nested too deep for libcst") from None


def _bodies(node: cst.CSTNode) -> Iterator[cst.BaseSuite]:
    """The suites of a compound statement; an `elif` is a block of the `if` that it belongs to."""
    while isinstance(node, cst.If) and node.orelse:
        yield node.body
        node = node.orelse
    inside = [*getattr(node, "handlers", ()), *getattr(node, "cases", ())]
    after = [getattr(node, "orelse", None), getattr(node, "finalbody", None)]
    for part in [node, *inside, *after]:
        if (body := getattr(part, "body", None)) is not None:
            yield body


def _is_string(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Expr) and _is_plain(node.value)


def _is_plain(value: cst.CSTNode) -> bool:
    if isinstance(value, cst.ConcatenatedString):
        return _is_plain(value.left) and _is_plain(value.right)
    return isinstance(value, cst.SimpleString) and "b" not in value.prefix


def _runs(node: cst.BaseSmallStatement) -> bool:
    match node:
        case cst.Global() | cst.Nonlocal() | cst.AnnAssign(value=None):
            return False
        case cst.Expr(value=value):
            constant = isinstance(value, _CONSTANTS) or _is_plain(value)
            return not (constant or (isinstance(value, cst.Name) and value.value in ("None", "True", "False")))
    return True

"""Bugs of one line, made in real functions: what the model learns to mend.

An edit replaces a run of characters inside one line and leaves every other character of the file alone. Kinds:

    comparison   a < b        becomes  a <= b, a > b;   a in b  a not in b;   a is None  a is not None
    arguments    f(a, b)      becomes  f(b, a)
    name         a local name, or an attribute of self, becomes another one that the function uses
    else         x if c else y  becomes  x;   elif c  if c;   not c  c;   if c  if not c
    off_by_one   x[0]         becomes  x[1];   n - 1  n;   range(n)  range(n + 1)

(The kinds follow Tufano et al., arXiv 1812.08693, and Allamanis et al., "Self-supervised bug detection and repair", arXiv 2105.12787.)
"""

from __future__ import annotations

import ast
import random
import re
import threading
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeGuard, get_args

Kind = Literal["comparison", "arguments", "name", "else", "off_by_one"]
Function = ast.FunctionDef | ast.AsyncFunctionDef
KINDS: tuple[Kind, ...] = get_args(Kind)
MAX_LINE = 160
INSTEAD: dict[str, tuple[str, ...]] = {
    "==": ("!=",),
    "!=": ("==",),
    "<": ("<=", ">"),
    "<=": ("<", ">="),
    ">": (">=", "<"),
    ">=": (">", "<="),
    "is": ("is not",),
    "is not": ("is",),
    "in": ("not in",),
    "not in": ("in",),
}
_OPERATOR = re.compile(r"is\s+not\b|not\s+in\b|is\b|in\b|[=!<>]=|[<>]")
_ONE = re.compile(r"\s*[+-]\s*1\Z")
_NOT = re.compile(r"not\b\s*")
# Before Python 3.11.9, two threads that parse at once may fail with "AST constructor recursion depth mismatch".
_PARSER = threading.Lock()
# What stands there is evaluated elsewhere, or is not at the place that the tree says (text inside f-strings, before Python 3.12).
_LEFT_OUT = frozenset({"annotation", "returns", "decorator_list", "type_params"})


@dataclass(frozen=True, slots=True)
class Edit:
    """A run of characters of a line (numbered from 1) and what may replace it."""

    kind: Kind
    line: int
    start: int
    end: int
    instead: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bug:
    """A line of the source (numbered from 1) as it is and with a bug, without newlines."""

    kind: Kind
    line: int
    right: str
    wrong: str


def parse(text: str) -> ast.Module | None:
    """The tree of a text, or None where Python does not parse it."""
    try:
        with _PARSER, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def edits(function: Function, lines: Sequence[str]) -> list[Edit]:
    """All edits of a function's body. lines: those of the whole source, split at \n alone."""
    columns = _Columns(lines)
    found = [edit for make in (_comparisons, _arguments, _names, _elses, _off_by_ones) for edit in make(function, columns)]
    return [e for e in found if e.instead and len(lines[e.line - 1]) <= MAX_LINE]


def bug(function: Function, lines: Sequence[str], rng: random.Random) -> Bug | None:
    """A random bug: the kind is drawn first, of those with an edit here, then the edit. None where no try changes the meaning."""
    by_kind: dict[Kind, list[Edit]] = {}
    for edit in edits(function, lines):
        by_kind.setdefault(edit.kind, []).append(edit)
    kinds = sorted(by_kind)
    rng.shuffle(kinds)
    for kind in kinds:
        edit = rng.choice(by_kind[kind])
        right = lines[edit.line - 1]
        wrong = right[: edit.start] + rng.choice(edit.instead) + right[edit.end :]
        if _means_another(function, lines, edit.line, wrong):
            return Bug(kind, edit.line, right, wrong)
    return None


def _means_another(function: Function, lines: Sequence[str], line: int, wrong: str) -> bool:
    """Whether the function with the line replaced still parses, to another tree."""
    first, last = function.lineno, function.end_lineno or function.lineno
    # An indented function is a whole text behind a line that opens a block.
    opening = ["if 1:"] if lines[first - 1][:1].isspace() else []
    here = [*opening, *lines[first - 1 : last]]
    there = [*opening, *lines[first - 1 : line - 1], wrong, *lines[line:last]]
    before, after = parse("\n".join(here)), parse("\n".join(there))
    try:
        return before is not None and after is not None and ast.dump(before) != ast.dump(after)
    except RecursionError:
        return False


class _Columns:
    """Positions of nodes in characters; the tree counts bytes of UTF-8."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines

    def at(self, line: int, column: int) -> int:
        text = self.lines[line - 1]
        return column if text.isascii() else len(text.encode()[:column].decode())

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self.at(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        return self.at(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def text(self, node: ast.expr) -> str:
        """The text of a node that ends on the line on which it begins."""
        return self.lines[node.lineno - 1][self.start(node) : self.end(node)]


def _walk(node: ast.AST) -> Iterator[ast.AST]:
    left = [node]  # a long sum is a tree deeper than Python's stack
    while left:
        for name, value in ast.iter_fields(left.pop()):
            for child in value if isinstance(value, list) else [value]:
                if name not in _LEFT_OUT and isinstance(child, ast.AST) and not isinstance(child, ast.JoinedStr):
                    yield child
                    left.append(child)


def _on_one_line(*nodes: ast.expr) -> bool:
    return len({line for node in nodes for line in (node.lineno, node.end_lineno)}) == 1


def _comparisons(function: Function, columns: _Columns) -> Iterator[Edit]:
    for node in _walk(function):
        if isinstance(node, ast.Compare):
            operands = [node.left, *node.comparators]
            for left, right in pairwise(operands):
                if left.end_lineno != right.lineno:
                    continue
                start = columns.end(left)
                match = _OPERATOR.search(columns.lines[right.lineno - 1], start, columns.start(right))
                if match:
                    yield Edit("comparison", right.lineno, match.start(), match.end(), INSTEAD[" ".join(match[0].split())])


def _arguments(function: Function, columns: _Columns) -> Iterator[Edit]:
    for node in _walk(function):
        if isinstance(node, ast.Call):
            for a, b in pairwise(node.args):
                if not _on_one_line(a, b) or isinstance(a, ast.Starred) or isinstance(b, ast.Starred):
                    continue
                between = columns.lines[a.lineno - 1][columns.end(a) : columns.start(b)]
                swapped = columns.text(b) + between + columns.text(a)
                yield Edit("arguments", a.lineno, columns.start(a), columns.end(b), (swapped,))


def _names(function: Function, columns: _Columns) -> Iterator[Edit]:
    nodes = list(_walk(function))
    local = {node.arg for node in nodes if isinstance(node, ast.arg)}
    local |= {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    of_self = {node.attr for node in nodes if _is_of_self(node)}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in local - {"self", "cls"}:
            others = tuple(sorted(local - {node.id, "self", "cls", "_"}))
            yield Edit("name", node.lineno, columns.start(node), columns.end(node), others)
        elif _is_of_self(node) and isinstance(node.ctx, ast.Load) and _on_one_line(node):
            end = columns.end(node)
            yield Edit("name", node.lineno, end - len(node.attr), end, tuple(sorted(of_self - {node.attr})))


def _is_of_self(node: ast.AST) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def _elses(function: Function, columns: _Columns) -> Iterator[Edit]:
    for node in _walk(function):
        if isinstance(node, ast.IfExp) and _on_one_line(node, node.body):
            yield Edit("else", node.lineno, columns.start(node), columns.end(node), (columns.text(node.body),))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            match = _NOT.match(columns.lines[node.lineno - 1], columns.start(node))
            if match:
                yield Edit("else", node.lineno, match.start(), match.end(), ("",))
        elif isinstance(node, ast.If):
            start = columns.start(node)
            if columns.lines[node.lineno - 1].startswith("elif", start):
                yield Edit("else", node.lineno, start, start + len("elif"), ("if",))
        if isinstance(node, ast.If | ast.While) and node.test.lineno == node.lineno and not _negates(node.test):
            start = columns.start(node.test)
            yield Edit("else", node.lineno, start, start, ("not ",))


def _negates(test: ast.expr) -> bool:
    """Whether "not" in front of it would be another kind of edit, or unnatural."""
    return isinstance(test, ast.Compare | ast.BoolOp) or (isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not))


def _off_by_ones(function: Function, columns: _Columns) -> Iterator[Edit]:
    for node in _walk(function):
        if isinstance(node, ast.Subscript):
            yield from _constants(columns, node.slice)
        elif isinstance(node, ast.Slice):
            yield from _constants(columns, node.lower, node.upper)
        elif isinstance(node, ast.Compare):
            yield from _constants(columns, *node.comparators)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            start, end = columns.end(node.left), columns.end(node.right)
            if node.left.end_lineno == node.right.end_lineno == node.right.lineno:
                if _ONE.match(columns.lines[node.right.lineno - 1][start:end]):
                    yield Edit("off_by_one", node.right.lineno, start, end, ("",))
                else:
                    yield from _constants(columns, node.right)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range" and node.args:
            yield from _constants(columns, *node.args)
            last = node.args[min(1, len(node.args) - 1)]
            if not isinstance(last, ast.Constant | ast.Starred | ast.GeneratorExp) and _on_one_line(last):
                yield Edit("off_by_one", last.lineno, columns.end(last), columns.end(last), (" - 1", " + 1"))


def _constants(columns: _Columns, *nodes: ast.expr | None) -> Iterator[Edit]:
    for node in nodes:
        number = node.operand if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) else node
        if isinstance(number, ast.Constant) and type(number.value) is int and columns.text(number) == str(number.value):
            others = tuple(str(value) for value in (number.value - 1, number.value + 1) if value >= 0)
            yield Edit("off_by_one", number.lineno, columns.start(number), columns.end(number), others)

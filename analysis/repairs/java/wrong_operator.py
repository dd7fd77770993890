"""Use another operator: those that the bug puts in its place, and those in whose place the bug puts it.

Where the bug had to add brackets, they may go with it: `(a + b) * c` becomes `a * b * c`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...bugs.java.wrong_operator import CHANGES, FREE, on_numbers, tokens
from ...morphisms.java.program.precedence import with_operator
from ...morphisms.java.program.syntax import JavaSource, field, parse
from ...morphisms.text_edits import Edit
from ..rule import Change, touches
from .edits import changed

NAME = "wrong_operator"
EXAMPLE = ("int f(int a, int b) { return a - b; }", "int f(int a, int b) { return a + b; }")
# those that move a limit by one come first
_FIRST = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Each operator of the lines becomes each other one. Raises UnreadableSource."""
    java = parse(source)
    for node, token in tokens(java):
        if not touches(*java.span(token), lines):
            continue
        others = dict.fromkeys([*CHANGES[token.type], *(sign for sign, made in CHANGES.items() if token.type in made)])
        if token.type not in FREE and not on_numbers(java, node):
            continue
        for rank, other in enumerate(sorted(others, key=lambda sign: _FIRST.get(token.type) != sign)):
            yield from _with(java, node, token, other, rank)


def _with(java: JavaSource, node: Node, token: Node, sign: str, rank: int) -> Iterator[Change]:
    place = Edit(*java.span(token), sign)
    if node.type != "binary_expression":
        yield changed(java, [place], rank)
        return
    yield changed(java, with_operator(java, node, sign), rank)
    around = [node.parent] if node.parent is not None and node.parent.type == "parenthesized_expression" else []
    inside = [side for side in (field(node, "left"), field(node, "right")) if side.type == "parenthesized_expression"]
    for brackets in (around, inside):
        if brackets:
            yield changed(java, [place, *(edit for one in brackets for edit in _without(java, one))], rank + 1)


def _without(java: JavaSource, brackets: Node) -> tuple[Edit, Edit]:
    start, end = java.span(brackets)
    return Edit(start, start + 1, ""), Edit(end - 1, end, "")

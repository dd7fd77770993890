"""Count one more or less: a whole number that counts or indexes changes by one, ` + 1` or ` - 1` goes away, an index gets one.

`<` and `<=` are exchanged by `wrong_operator`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...morphisms.java.program.syntax import JavaSource, field, operator, parse, role, walk
from ...morphisms.java.program.types import NUMERIC, type_of
from ..rule import Change, touches

EXAMPLE = ("int f(int[] a, int n) { return a[n - 2]; }", "int f(int[] a, int n) { return a[n - 1]; }")
_INDEXES = frozenset({"identifier", "field_access", "method_invocation"})
_INDEXED = ("charAt", "get", "substring", "subList")
_LARGEST = 2**31 - 1


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """The numbers and indexes of the lines, moved by one. Raises UnreadableSource."""
    java = parse(source)
    for number in _numbers(java):
        if touches(*java.span(number), lines):
            value = int(java.text(number))
            near = [other for other in (value - 1, value + 1) if 0 <= other <= _LARGEST]
            yield from (Change(*java.span(number), str(other), rank) for rank, other in enumerate(near))
    for node in walk(java.root):
        if touches(*java.span(node), lines):
            yield from _sums(java, node)


def _numbers(java: JavaSource) -> Iterator[Node]:
    """The whole numbers that count or index something."""
    for node in walk(java.root):
        above = node.parent
        if node.type != "decimal_integer_literal" or above is None or not java.text(node).isdecimal():
            continue
        if (above.type == "binary_expression" and operator(above) in ("+", "-") and type_of(java, above) in NUMERIC) or (
            above.type == "array_access" and role(node) == "index"
        ):
            yield node
        elif above.type == "argument_list" and above.parent is not None and above.parent.type == "method_invocation":
            if java.text(field(above.parent, "name")) in _INDEXED:
                yield node
        elif above.type == "variable_declarator" and above.parent is not None and role(above.parent) == "init":
            yield node


def _sums(java: JavaSource, node: Node) -> Iterator[Change]:
    """A sum with 1 without it, and an index with it."""
    if node.type == "binary_expression" and operator(node) in ("+", "-") and type_of(java, node) in NUMERIC:
        left, right = field(node, "left"), field(node, "right")
        if java.text(right) == "1":
            yield Change(*java.span(node), java.text(left))
    elif node.type in _INDEXES and node.parent is not None and node.parent.type == "array_access" and role(node) == "index":
        yield from (Change(*java.span(node), f"{java.text(node)} {sign} 1", rank) for rank, sign in enumerate("-+", 1))

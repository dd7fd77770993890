"""Negate what is boolean: put a `!` before it, or take one away. `==` and `!=` are exchanged by `wrong_operator`."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...morphisms.java.modify_condition import conditions
from ...morphisms.java.program.syntax import bare, field, operator, parse, walk
from ...morphisms.java.program.types import is_boolean
from ..rule import Change, touches

EXAMPLE = (
    "int f(boolean done) { if (done) return 1; return 0; }",
    "int f(boolean done) { if (!done) return 1; return 0; }",
)
# what a `!` takes whole
_UNARY = frozenset({"identifier", "field_access", "array_access", "method_invocation", "parenthesized_expression"})
_UNARY |= frozenset({"cast_expression", "unary_expression"})


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """The negations of what stands in the lines. Raises UnreadableSource."""
    java = parse(source)
    deciding = {part.id for condition in conditions(java) for part in _parts(condition)}
    for node in walk(java.root):
        start, end = java.span(node)
        if not touches(start, end, lines):
            continue
        if node.type == "unary_expression" and operator(node) == "!":
            yield Change(start, java.span(field(node, "operand"))[0], "")
        if node.type in _UNARY and (node.id in deciding or is_boolean(java, node)):
            double = node.type == "unary_expression" or (node.parent is not None and node.parent.type == "unary_expression")
            rank = 4 if double else 0 if node.id in deciding else 2
            yield Change(start, start, "!", rank)


def _parts(node: Node) -> Iterator[Node]:
    """What a condition is made of by `&&`, `||` and `!`, in brackets or not."""
    yield node
    if node.type == "parenthesized_expression":
        yield from _parts(bare(node))
    elif node.type == "binary_expression" and operator(node) in ("&&", "||"):
        yield from _parts(field(node, "left"))
        yield from _parts(field(node, "right"))
    elif node.type == "unary_expression" and operator(node) == "!":
        yield from _parts(field(node, "operand"))

"""Put a guard before a part of a condition: `s.next() == c` becomes `s != null && s.next() == c`, `a[i] > 0` `i < a.length && a[i] > 0`."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...morphisms.java.modify_condition import conditions
from ...morphisms.java.program.syntax import JavaSource, bare, field, operator, parse, walk
from ..rule import Change, touches

EXAMPLE = (
    "int f(int[] a, int i) { if (a[i] > 0) return a[i]; return 0; }",
    "int f(int[] a, int i) { if (i < a.length && a[i] > 0) return a[i]; return 0; }",
)
_RANK = 2


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Guards in the conditions of the lines. Raises UnreadableSource."""
    java = parse(source)
    for condition in conditions(java):
        for part in _conjuncts(bare(condition)):
            start, end = java.span(part)
            if touches(start, end, lines):
                guards = dict.fromkeys(guard for node in walk(part) for guard in _guards(java, node))
                yield from (Change(start, start, f"{guard} && ", rank) for rank, guard in enumerate(guards, _RANK))


def _conjuncts(node: Node) -> Iterator[Node]:
    """The parts of a condition that `&&` joins; one with `||` would need brackets, and is left alone."""
    if node.type == "binary_expression" and operator(node) == "&&":
        yield from _conjuncts(field(node, "left"))
        yield from _conjuncts(field(node, "right"))
    elif node.type != "binary_expression" or operator(node) != "||":
        yield node


def _guards(java: JavaSource, node: Node) -> Iterator[str]:
    """What must hold for a node to be evaluated without an exception."""
    if node.type == "array_access":
        array, index = java.text(field(node, "array")), java.text(field(node, "index"))
        yield from (f"{index} < {array}.length", f"{index} >= 0", f"{array} != null")
    elif node.type == "method_invocation":
        target = node.child_by_field_name("object")
        if target is None or target.type != "identifier":
            return
        name, of = java.text(field(node, "name")), java.text(target)
        given = [java.text(one) for one in field(node, "arguments").named_children]
        if len(given) == 1 and name in ("charAt", "get"):
            yield f"{given[0]} < {of}.{'length' if name == 'charAt' else 'size'}()"
            yield f"{given[0]} >= 0"
        yield f"{of} != null"
        yield f"!{of}.isEmpty()"
    elif node.type == "field_access" and (of_field := field(node, "object")).type == "identifier":
        yield f"{java.text(of_field)} != null"

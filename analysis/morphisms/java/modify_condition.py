"""Replace an operator in a condition, which changes what the program does: `i < n` becomes `i <= n`.

The conditions are those of `if`, `while`, `do`, `for` and `?:`; nothing else is touched. `<`, `<=`, `>`, `>=` become one another, `==` and
`!=` change places, and so do `&&` and `||`, and `+` and `-` between numbers; `*` becomes `+`. Precondition: javac must not see the change
in its analysis of the flow, so the condition is not constant, and no variable gets its value or its scope there.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tree_sitter import Node

from ...text_edits import Edit
from ..morphism import Refused, Site
from .program.flow import assigns_tracked_variable, binds_pattern, may_be_constant
from .program.syntax import JavaSource, bare, field, operator, walk, with_operator, words
from .program.types import NUMERIC, UNBOXED, type_of

EXAMPLE = (
    "int f(int a, int b) { if (a == b) return 1; return 0; }",
    "int f(int a, int b) { if (a != b) return 1; return 0; }",
)
_ORDER = ("<", "<=", ">", ">=")
CHANGES = {sign: tuple(s for s in _ORDER if s != sign) for sign in _ORDER}
CHANGES |= {"==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",), "+": ("-",), "-": ("+",), "*": ("+",)}
_CONDITIONAL = words("if_statement while_statement do_statement for_statement ternary_expression")


def conditions(java: JavaSource) -> Iterator[Node]:
    """The conditions of a file."""
    for node in walk(java.root):
        condition = node.child_by_field_name("condition") if node.type in _CONDITIONAL else None
        if condition is not None:
            yield condition


def _skeleton(node: Node) -> Iterator[Node]:
    inner = bare(node)
    yield inner
    if inner.type == "binary_expression":
        yield from _skeleton(field(inner, "left"))
        yield from _skeleton(field(inner, "right"))
    elif inner.type == "unary_expression":
        yield from _skeleton(field(inner, "operand"))


def places(java: JavaSource) -> Iterator[tuple[Site, tuple[Node, Node]]]:
    """The operators in conditions, outside of calls and indices, each with the condition and the binary expression."""
    found: dict[int, tuple[Site, tuple[Node, Node]]] = {}
    for condition in conditions(java):
        for node in _skeleton(condition):
            if node.type == "binary_expression" and operator(node) in CHANGES:
                token = next(c for c in node.children if c.type == operator(node))
                found.setdefault(token.start_byte, (Site(*java.span(token), token.type), (condition, node)))
    return iter(found.values())


def edits(java: JavaSource, place: tuple[Node, Node], rng: random.Random) -> list[Edit]:
    """Put a random other operator there, so bracketed that nothing else changes. Raises Refused where javac would notice."""
    condition, node = place
    new = rng.choice(CHANGES[operator(node)])
    if may_be_constant(java, condition):
        raise Refused("the condition may be constant, which javac's flow analysis sees")
    if assigns_tracked_variable(java, condition):
        raise Refused("a variable gets its value in the condition")
    if binds_pattern(condition):
        raise Refused("the condition binds a pattern's variable, whose scope would change")
    if new in "+-" and any(UNBOXED.get(t := type_of(java, field(node, side)) or "", t) not in NUMERIC for side in ("left", "right")):
        raise Refused("the operands are not shown to be numbers")
    return with_operator(java, node, new)

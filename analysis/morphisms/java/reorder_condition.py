"""Swap the two sides of a comparison, or of `&&` and `||`: `a < b` becomes `b > a`.

Precondition: the sides may be evaluated in either order. Of `&&` and `||` either side may now be evaluated where it was not before, so both
must always give a value, and change nothing. Nothing is negated, so NaN compares as before.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...text_edits import Edit
from ..morphism import Refused, Site
from .program.effects import NULL, Effects, commute, effects
from .program.flow import may_be_constant
from .program.names import lacks_initial_value, names_of
from .program.syntax import LEVEL, JavaSource, bare, field, operator, walk
from .program.types import PRIMITIVE, is_primitive, type_of

EXAMPLE = (
    "boolean f(int n, String s) { return n < s.length() && n != 3; }",
    "boolean f(int n, String s) { return s.length() > n && n != 3; }",
)
MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!=", "&&": "&&", "||": "||"}


def places(java: JavaSource) -> Iterator[tuple[Site, Node]]:
    """The comparisons, conjunctions and disjunctions."""
    for node in walk(java.root):
        if node.type == "binary_expression" and operator(node) in MIRRORED:
            yield Site(*java.span(node), operator(node)), node


def edits(java: JavaSource, node: Node, _: object) -> list[Edit]:
    """Swap the sides. Raises Refused."""
    sign = operator(node)
    left, right = field(node, "left"), field(node, "right")
    if java.text(left) == java.text(right):
        raise Refused("both sides are the same")
    reason = _not_both(java, left, right) if sign in ("&&", "||") else commute(*_compared(java, left, right, sign))
    if reason:
        raise Refused(reason)
    token = next(c for c in node.children if c.type == sign)
    moved = f"({java.text(left)})" if left.type == "binary_expression" and LEVEL[operator(left)] <= LEVEL[sign] else java.text(left)
    return [Edit(*java.span(left), java.text(right)), Edit(*java.span(token), MIRRORED[sign]), Edit(*java.span(right), moved)]


def _compared(java: JavaSource, left: Node, right: Node, sign: str) -> tuple[Effects, Effects]:
    """The effects of either side, unboxing included."""
    types = type_of(java, left), type_of(java, right)
    references = sign in ("==", "!=") and None not in types and not any(t in PRIMITIVE for t in types)
    if references or any(bare(n).type == "null_literal" for n in (left, right)):
        return effects(java, left), effects(java, right)
    unboxed = Effects(throws=frozenset({NULL}))
    first, second = (effects(java, n) | (Effects() if is_primitive(java, n) else unboxed) for n in (left, right))
    return first, second


def _not_both(java: JavaSource, left: Node, right: Node) -> str:
    for side in (left, right):
        if not is_primitive(java, side):
            return "a side is not shown to be a boolean, which a null would make throw"
        if not effects(java, side).total:
            return "a side may throw or change something, so it matters whether it is evaluated"
        if may_be_constant(java, side):
            return "a side may be constant, which javac's flow analysis sees"
        if any(lacks_initial_value(v) for n in walk(side) if (v := names_of(java).meanings.get(n.id)) is not None):
            return "a side uses a variable that may have no value yet"
    return ""

"""The precedence of Java's operators, and how to exchange an operator without changing what its operands are."""

from __future__ import annotations

from tree_sitter import Node

from ...text_edits import Edit
from .syntax import JavaSource, field, operator

_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>", ">>>"),
    ("+", "-"),
    ("*", "/", "%"),
)
LEVEL = {sign: level for level, signs in enumerate(_LEVELS) for sign in signs}


def with_operator(java: JavaSource, node: Node, new: str) -> list[Edit]:
    """The edits that give a binary expression another operator, with brackets so that all operands stay the same."""
    old = operator(node)
    token = next(c for c in node.children if c.type == old)
    edits, level = [Edit(*java.span(token), new)], LEVEL[new]
    if level == LEVEL[old]:
        return edits
    left, right, above = field(node, "left"), field(node, "right"), node.parent
    for side in (left, right):
        if side.type == "binary_expression" and (LEVEL[operator(side)] < level or (side == right and LEVEL[operator(side)] == level)):
            edits += _brackets(java, side)
    if above is not None and above.type == "binary_expression":
        outer = LEVEL[operator(above)]
        if level < outer or (level == outer and field(above, "right") == node):
            edits += _brackets(java, node)
    return edits


def _brackets(java: JavaSource, node: Node) -> list[Edit]:
    start, end = java.span(node)
    return [Edit(start, start, "("), Edit(end, end, ")")]

"""Replace an operator of an expression by another one of its family: arithmetic, bits, order, equality, `and` and `or`. Random: which."""

from __future__ import annotations

import random
from collections.abc import Iterator

import libcst as cst

from ..morphisms.morphism import Site
from ..morphisms.text_edits import Edit
from ..python.syntax.parsed import Parsed

EXAMPLE = ("def f(a, b):\n    return a and b\n", "def f(a, b):\n    return a or b\n")
FAMILIES = (
    ("+", "-", "*"),
    ("/", "//", "%"),
    ("+=", "-=", "*="),
    ("/=", "//=", "%="),
    ("&", "|", "^"),
    ("&=", "|=", "^="),
    ("<<", ">>"),
    ("<", "<=", ">", ">="),
    ("==", "!="),
    ("and", "or"),
)
# the bar between the alternatives of a pattern is no operator
_OPERATIONS = (cst.BinaryOperation, cst.AugAssign, cst.BooleanOperation, cst.ComparisonTarget)


def places(parsed: Parsed) -> Iterator[tuple[Site, cst.CSTNode]]:
    """Each operator that has others in its family; what: the operator."""
    yield from ((Site(*parsed.spans[operator], parsed.text(operator)), operator) for operator in operators(parsed))


def edits(parsed: Parsed, operator: cst.CSTNode, rng: random.Random) -> list[Edit]:
    """Put another operator there."""
    text = parsed.text(operator)
    family = next(family for family in FAMILIES if text in family)
    return [Edit(*parsed.spans[operator], rng.choice([other for other in family if other != text]))]


def operators(parsed: Parsed) -> list[cst.CSTNode]:
    """The operators that have others in their family."""
    known = {text for family in FAMILIES for text in family}
    operations: list[cst.CSTNode] = [node for kind in _OPERATIONS for node in parsed.all(kind)]
    found = [child for node in operations for child in node.children if child is getattr(node, "operator", None)]
    return [operator for operator in found if parsed.text(operator) in known]

"""Replace an operator of an expression by another one of its family: arithmetic, bits, order, equality, `and` and `or`. Random: which."""

from __future__ import annotations

import random

import libcst as cst

from ...morphisms.morphism import Refused, Site
from ...morphisms.text_edits import Edit, edited
from ...python.syntax.parsed import Parsed, parse

NAME = "wrong_operator"
EQUIVALENT = False
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


def sites(source: str) -> list[Site]:
    """One for each operator that has others in its family; what: the operator. Raises UnreadableSource."""
    parsed = parse(source)
    return sorted((Site(*parsed.spans[o], parsed.text(o)) for o in operators(parsed)), key=lambda s: s.start)


def apply(source: str, site: Site, rng: random.Random) -> str:
    """The source with another operator there. Raises Refused."""
    parsed = parse(source)
    operator = next((o for o in operators(parsed) if parsed.spans[o] == (site.start, site.end)), None)
    if operator is None:
        raise Refused("no operator stands here")
    text = parsed.text(operator)
    family = next(family for family in FAMILIES if text in family)
    return edited(source, [Edit(site.start, site.end, rng.choice([other for other in family if other != text]))])


def operators(parsed: Parsed) -> list[cst.CSTNode]:
    """The operators that have others in their family."""
    known = {text for family in FAMILIES for text in family}
    operations: list[cst.CSTNode] = [node for kind in _OPERATIONS for node in parsed.all(kind)]
    found = [child for node in operations for child in node.children if child is getattr(node, "operator", None)]
    return [operator for operator in found if parsed.text(operator) in known]

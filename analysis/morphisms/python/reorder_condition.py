"""Swap the two sides of a condition's comparison, `and` or `or`: `a < 2` becomes `2 > a`.

Precondition of a comparison: one operator, not `in`; one side is a constant or a variable that surely has a value and that the other side
can't bind, so that the order of evaluation does not show; and the operator means the same from the other side: it is `is`, or both types
are certain and plain, or one side is certainly an int, str, bytes or None: these leave the decision to the other side, whichever comes
first. Of `and`, `or`: both sides can be evaluated, and asked for their truth, without effect or exception, and only the truth counts.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...python.syntax.effects import Effects, effects
from ...python.syntax.exact_types import ATOMS, CONTAINERS
from ...python.syntax.layout import decisions
from ...python.syntax.parsed import Parsed
from ...text_edits import Edit
from ..morphism import Refused, Site

EXAMPLE = (
    "def sign(n):\n    if n < 0:\n        return -1\n    return 1\n",
    "def sign(n):\n    if 0 > n:\n        return -1\n    return 1\n",
)
_MIRROR = {
    "Equal": "==", "NotEqual": "!=", "Is": "is", "IsNot": "is not",
    "LessThan": ">", "LessThanEqual": ">=", "GreaterThan": "<", "GreaterThanEqual": "<=",
}  # fmt: skip
# not bool and float, which compare themselves with the subclass of another number before that is asked
_LEAVE_THE_DECISION = frozenset({"int", "str", "bytes", "NoneType"})


def places(parsed: Parsed) -> Iterator[tuple[Site, cst.BooleanOperation | cst.Comparison]]:
    """Each comparison but `in`, each `and` and each `or` of a condition; what: the operator."""
    for node in decisions(parsed):
        if isinstance(node, cst.BooleanOperation):
            yield Site(*parsed.spans[node], "and" if isinstance(node.operator, cst.And) else "or"), node
        elif not any(isinstance(t.operator, cst.In | cst.NotIn) for t in node.comparisons):
            yield Site(*parsed.spans[node], parsed.text(node.comparisons[0].operator)), node


def edits(parsed: Parsed, node: cst.BooleanOperation | cst.Comparison, _: object) -> list[Edit]:
    """Exchange the two sides. Raises Refused."""
    if parsed.printed(node):
        raise Refused('an f-string prints the text of the condition by "="')
    known = effects(parsed)
    if isinstance(node, cst.BooleanOperation):
        left, right, operator = node.left, node.right, "and" if isinstance(node.operator, cst.And) else "or"
        _check_boolean(known, left, right)
    else:
        if len(node.comparisons) > 1:
            raise Refused("a chain of comparisons evaluates its sides in its order")
        left, right = node.left, node.comparisons[0].comparator
        operator = _MIRROR[type(node.comparisons[0].operator).__name__]
        _check_comparison(known, left, right, operator)
    (first, first_end), (second, second_end) = parsed.span(left), parsed.span(right)
    if "#" in parsed.source[first_end:second]:
        raise Refused("a comment stands between the two sides")
    return [Edit(first, second_end, f"{parsed.text(right)} {operator} {parsed.text(left)}")]


def _check_boolean(known: Effects, left: cst.BaseExpression, right: cst.BaseExpression) -> None:
    for side in (left, right):
        if not known.quiet(side):
            raise Refused(f"{known.parsed.text(side)!r} may raise or have an effect, and is not always evaluated")
        if not known.types.only(side, ATOMS | CONTAINERS):
            raise Refused(f"the type of {known.parsed.text(side)!r} is not certain, and its truth may be an effect")


def _check_comparison(known: Effects, left: cst.BaseExpression, right: cst.BaseExpression, operator: str) -> None:
    text = known.parsed.text
    if not (known.quiet(left) and known.quiet(right)) and not known.still(left, right) and not known.still(right, left):
        raise Refused(f"both {text(left)!r} and {text(right)!r} may raise or have an effect: their order shows")
    if operator in ("is", "is not"):
        return
    if known.types.only(left, ATOMS) and known.types.only(right, ATOMS):
        return
    if not any(known.types.only(side, _LEAVE_THE_DECISION) for side in (left, right)):
        raise Refused(f"the types of {text(left)!r} and {text(right)!r} are not certain, and may give {operator} a meaning of their own")

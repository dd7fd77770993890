"""Make a bound one too large or too small: in an index, a slice, an argument of `range`, or a side of `<`, `<=`, `>`, `>=`.

A whole number there becomes one more or less; anything else gets `+ 1` or `- 1`. Random: which of the two.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import libcst as cst

from ..morphisms.morphism import Site
from ..morphisms.text_edits import Edit
from ..python.syntax.exact_types import INTS, exact_types
from ..python.syntax.parsed import Parsed
from ..python.syntax.scopes import scopes

EXAMPLE = (
    "def f(items):\n    return [i for i in range(len(items))]\n",
    "def f(items):\n    return [i for i in range(len(items) - 1)]\n",
)
_ORDERINGS = cst.LessThan | cst.LessThanEqual | cst.GreaterThan | cst.GreaterThanEqual


def places(parsed: Parsed) -> Iterator[tuple[Site, cst.BaseExpression]]:
    """Each bound."""
    # of one that comes twice, the first node
    found = {parsed.span(bound): bound for bound in reversed(bounds(parsed))}
    yield from ((Site(*span), found[span]) for span in sorted(found))


def edits(parsed: Parsed, bound: cst.BaseExpression, rng: random.Random) -> list[Edit]:
    """Move the bound."""
    by = rng.choice((-1, 1))
    text = str(bound.evaluated_value + by) if isinstance(bound, cst.Integer) else moved(parsed, bound, by)
    return [Edit(*parsed.span(bound), text)]


def moved(parsed: Parsed, bound: cst.BaseExpression, by: int) -> str:
    """The text of a bound and `+ 1` or `- 1`, in brackets where these would take only a part of it."""
    text = parsed.text(bound)
    simple = bound.lpar or isinstance(bound, cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.BinaryOperation)
    if isinstance(bound, cst.BinaryOperation) and not bound.lpar and not isinstance(bound.operator, cst.Add | cst.Subtract | cst.Multiply):
        simple = False
    return f"{text if simple else f'({text})'} {'+' if by > 0 else '-'} 1"


def bounds(parsed: Parsed) -> list[cst.BaseExpression]:
    """The expressions that bound something; one may come twice."""
    found: list[cst.BaseExpression] = []
    types, known = exact_types(parsed), scopes(parsed)
    for node in parsed.nodes:
        match node:
            case cst.Slice():
                found += [bound for bound in (node.lower, node.upper) if bound is not None]
            case cst.Index() if types.only(node.value, INTS):
                found.append(node.value)
            case cst.Call() if known.is_builtin(node.func, "range"):
                found += [arg.value for arg in node.args[:2] if not arg.star and arg.keyword is None]
            case cst.ComparisonTarget() if isinstance(node.operator, _ORDERINGS) and types.only(node.comparator, INTS):
                found.append(node.comparator)
    return found

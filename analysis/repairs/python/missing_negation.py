"""Negate: put a `not` before a condition, a part of one, or a value; `is` becomes `is not`, `in` `not in`, `==` `!=`, True False.

The other way round too: what is negated loses its `not`. Numbers, strings and containers are not negated.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...python.syntax.exact_types import exact_types
from ...python.syntax.layout import tests
from ...python.syntax.parsed import Parsed, parse
from ...python.syntax.scopes import CONSTANTS
from ..rule import Change, touches

EXAMPLE = ("def f(items):\n    return items\n", "def f(items):\n    return not items\n")
_OPPOSITE: dict[type[cst.CSTNode], str] = {
    cst.In: "not in",
    cst.Is: "is not",
    cst.Equal: "!=",
    cst.NotIn: "in",
    cst.IsNot: "is",
    cst.NotEqual: "==",
}
_NEVER_NEGATED = cst.BaseNumber | cst.BaseString | cst.BaseList | cst.BaseSet | cst.BaseDict | cst.Tuple | cst.GeneratorExp | cst.Lambda
# what a value may stand directly in, and the rank that a `not` before it has there
_VALUES: dict[type[cst.CSTNode], int] = {
    cst.Return: 1,
    cst.Assign: 1,
    cst.AugAssign: 1,
    cst.AnnAssign: 1,
    cst.NamedExpr: 1,
    cst.Lambda: 1,
    cst.IfExp: 2,
    cst.GeneratorExp: 1,
    cst.ListComp: 2,
    cst.SetComp: 2,
    cst.DictComp: 2,
    cst.Arg: 2,
    cst.Param: 2,
    cst.Yield: 2,
    cst.Index: 3,
    cst.Element: 3,
    cst.DictElement: 3,
    cst.Expr: 4,
    cst.UnaryOperation: 4,
    cst.FormattedStringExpression: 4,
}
_FIELDS = ("value", "body", "orelse", "elt", "default", "expression")
_BRACKETED = (cst.Name, cst.Attribute, cst.Subscript, cst.Call, cst.Comparison)


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """The negations of what stands in the lines. Raises UnreadableSource."""
    parsed = parse(source)
    for kind, text in _OPPOSITE.items():
        for node in parsed.all(kind):
            if touches(*parsed.spans[node], lines):
                yield Change(*parsed.spans[node], text)
    for name in parsed.all(cst.Name):
        if name.value in ("True", "False") and touches(*parsed.spans[name], lines):
            yield Change(*parsed.spans[name], "False" if name.value == "True" else "True")
    for operation in parsed.all(cst.UnaryOperation):
        if isinstance(operation.operator, cst.Not) and touches(*parsed.span(operation), lines):
            yield Change(parsed.spans[operation][0], parsed.span(operation.expression)[0], "")
    conditions = [(test, 0) for test in tests(parsed)]
    parts = [(part, 0) for both in parsed.all(cst.BooleanOperation) for part in (both.left, both.right)]
    for node, rank in (*conditions, *parts, *_values(parsed, lines)):
        if touches(*parsed.span(node), lines) and not isinstance(node, _NEVER_NEGATED):
            yield from _negated(parsed, node, rank)


def _values(parsed: Parsed, lines: tuple[int, int]) -> Iterator[tuple[cst.BaseExpression, int]]:
    """Those that stand for themselves; what is certainly no bool has a higher rank."""
    types = exact_types(parsed)
    for kind, rank in _VALUES.items():
        for owner in parsed.all(kind):
            for node in (getattr(owner, field, None) for field in _FIELDS):
                if isinstance(node, cst.BaseExpression) and touches(*parsed.span(node), lines):
                    found = types(node)
                    yield node, rank if found is None or "bool" in found else rank + 2
    for kind in _BRACKETED:
        yield from ((node, 4) for node in parsed.all(kind) if node.lpar)


def _negated(parsed: Parsed, node: cst.BaseExpression, rank: int) -> Iterator[Change]:
    """A `not` before an expression, and inside of each of the brackets around it."""
    if isinstance(node, cst.Name) and node.value in CONSTANTS:
        return
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Not):
        rank += 4
    for order, part in enumerate((*node.lpar, node)):
        start = parsed.spans[part][0]
        yield Change(start, start, "not ", rank + order)

"""Move a bound back by one: take ` + 1` or ` - 1` away, or make a whole number one less or more, or put `+ 1` or `- 1` to it.

The last two are proposed for the bounds that the bug moves, and, of a higher rank, for indexes of unknown type, calls of `len`, and what a
function calls itself with.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...bugs import bounds, moved
from ...python.syntax.exact_types import INTS, Types, exact_types
from ...python.syntax.parsed import Parsed, parse
from ...python.syntax.scopes import scopes
from ..rule import Change, touches

EXAMPLE = (
    "def f(items):\n    return [i for i in range(len(items) - 1)]\n",
    "def f(items):\n    return [i for i in range(len(items))]\n",
)
# by how much the rank of a change is higher at a place that the bug would leave alone
_LOOSE = 2
_WHOLE = (cst.Name, cst.Attribute, cst.Call, cst.Subscript, cst.Integer)


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """The bounds of the lines, moved by one. Raises UnreadableSource."""
    parsed = parse(source)
    near = {node for node in bounds(parsed) if touches(*parsed.span(node), lines)}
    for node in sorted(near, key=parsed.span):
        yield from _moved(parsed, node, 0)
    for node in parsed.all(cst.BinaryOperation):
        if touches(*parsed.span(node), lines):
            yield from _without_one(parsed, node)
    for node in _loose(parsed, lines):
        if node not in near:
            yield from _moved(parsed, node, _LOOSE)


def _moved(parsed: Parsed, bound: cst.BaseExpression, rank: int) -> Iterator[Change]:
    """A number, or the number at the end of a sum, changes by one; anything else becomes a sum."""
    number, sign = bound, 1
    match bound:
        case cst.BinaryOperation(operator=cst.Add() | cst.Subtract(), right=cst.Integer() as number):
            pass
        case cst.UnaryOperation(operator=cst.Minus(), expression=cst.Integer() as number):
            sign = -1
    if not isinstance(number, cst.Integer):
        for order, by in enumerate((-1, 1)):
            text = moved(parsed, bound, by)
            yield Change(*parsed.span(bound), f"({text})" if _in_product(parsed, bound) else text, rank + 1 + order)
        return
    start, end = parsed.spans[bound if sign < 0 else number]
    for order, by in enumerate((-1, 1)):
        value = sign * number.evaluated_value + by
        if number is bound or sign < 0 or value > 0:
            yield Change(start, end, str(value), rank + order)


def _without_one(parsed: Parsed, operation: cst.BinaryOperation) -> Iterator[Change]:
    """What a sum with 1 is without it."""
    match operation:
        case cst.BinaryOperation(operator=cst.Add() | cst.Subtract(), left=left, right=one) if _is_one(one):
            rank = 0
        case cst.BinaryOperation(operator=cst.Add(), left=one, right=left) if _is_one(one):
            rank = 1
        case _:
            return
    # the brackets around the sum stay where what is left may need them
    start, end = parsed.span(operation) if isinstance(left, _WHOLE) else parsed.spans[operation]
    text = parsed.text(left)
    if left.lpar:
        yield Change(start, end, text[1:-1].strip(), rank)
    yield Change(start, end, text, rank + 1 if left.lpar else rank)


def _is_one(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Integer) and node.evaluated_value == 1


def _loose(parsed: Parsed, lines: tuple[int, int]) -> Iterator[cst.BaseExpression]:
    """The indexes that may be whole numbers, the lengths, and the arguments of calls of the function itself."""
    types, known = exact_types(parsed), scopes(parsed)
    for index in parsed.all(cst.Index):
        if touches(*parsed.span(index.value), lines) and _may_be_int(types(index.value)) and not parsed.in_annotation(index):
            yield index.value
    for call in parsed.all(cst.Call):
        if not touches(*parsed.span(call), lines):
            continue
        if known.is_builtin(call.func, "len") and not _in_sum(parsed, call):
            yield call
        around = parsed.function_of(call)
        if isinstance(around, cst.FunctionDef) and isinstance(call.func, cst.Name) and call.func.value == around.name.value:
            yield from (arg.value for arg in call.args if not arg.star and _may_be_int(types(arg.value)))


def _may_be_int(found: Types) -> bool:
    return found is None or bool(found & INTS)


def _in_product(parsed: Parsed, node: cst.CSTNode) -> bool:
    """Whether an operator takes it before a sum does."""
    above = parsed.parents[node]
    return isinstance(above, cst.BinaryOperation) and not isinstance(above.operator, cst.Add | cst.Subtract)


def _in_sum(parsed: Parsed, node: cst.CSTNode) -> bool:
    """Whether it is part of a sum with a number already."""
    match parsed.parents[node]:
        case cst.BinaryOperation(operator=cst.Add() | cst.Subtract(), right=cst.Integer()):
            return True
    return False

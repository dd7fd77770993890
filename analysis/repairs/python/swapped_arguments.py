"""Swap two neighbouring positional arguments of a call back; of a higher rank, two parts of an index, or the sides of an operator.

The operators are those for which the order counts; with numbers it does not for `+`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from ...bugs import neighbours
from ...python.syntax.exact_types import NUMBERS, exact_types
from ...python.syntax.parsed import Parsed, parse
from ..rule import Change, touches

EXAMPLE = ("def f(a, b):\n    return divmod(b, a)\n", "def f(a, b):\n    return divmod(a, b)\n")
_ORDERED = cst.Subtract | cst.Divide | cst.FloorDivide | cst.Modulo | cst.Power | cst.Add
_LOOSE = 1


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Each two neighbours change places; what stands between them stays there. Raises UnreadableSource."""
    parsed = parse(source)
    for a, b, rank in (*((a, b, 0) for a, b in neighbours(parsed)), *((a, b, _LOOSE) for a, b in _others(parsed, lines))):
        (start, first_end), (second_start, end) = parsed.span(a), parsed.span(b)
        if touches(start, end, lines):
            yield Change(start, end, source[second_start:end] + source[first_end:second_start] + source[start:first_end], rank)


def _others(parsed: Parsed, lines: tuple[int, int]) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    types = exact_types(parsed)
    for subscript in parsed.all(cst.Subscript):
        parts = [part.slice.value for part in subscript.slice if isinstance(part.slice, cst.Index)]
        if touches(*parsed.span(subscript), lines) and len(parts) == len(subscript.slice) and not parsed.in_annotation(subscript):
            yield from pairwise(parts)
    for operation in parsed.all(cst.BinaryOperation):
        if touches(*parsed.span(operation), lines) and isinstance(operation.operator, _ORDERED):
            numbers = isinstance(operation.operator, cst.Add) and types.only(operation, NUMBERS)
            # the right side of another operation of the same level is not all that stands left of the next
            if not numbers and not _is_open(operation.left):
                yield operation.left, operation.right


def _is_open(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.BinaryOperation) and not node.lpar

"""Use another operator of its family, as the bug does: arithmetic, bits, order, equality, `and` and `or`.

Operators in annotations are left alone. The simplest changes of `<` and the like are those that move the limit by one: `<=` for `<`.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...bugs import FAMILIES, operators
from ...python.syntax.parsed import parse
from ..rule import Change, touches

EXAMPLE = ("def f(a, b):\n    return a < b\n", "def f(a, b):\n    return a <= b\n")
# the order in which the others of a family are tried, where it is not that of the family
_FIRST = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Each operator of the lines becomes each other one of its family. Raises UnreadableSource."""
    parsed = parse(source)
    for operator in operators(parsed):
        start, end = parsed.spans[operator]
        if not touches(start, end, lines) or parsed.in_annotation(operator):
            continue
        text = source[start:end]
        others = [other for family in FAMILIES if text in family for other in family if other != text]
        others.sort(key=lambda other: _FIRST.get(text) != other)
        yield from (Change(start, end, other, rank) for rank, other in enumerate(others))

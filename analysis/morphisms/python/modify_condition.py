"""Replace an operator of a condition: `<` one of `<=`, `>`, `>=`, `==` becomes `!=`, `and` becomes `or`, and the reverse.

Not equivalent, by intent: `outcomes_differ` runs the tests to confirm it. Only operators that decide are changed: the comparisons, `and`
and `or` in the condition of an `if`, `while`, `assert`, conditional expression, comprehension or guard, each by itself. No precondition
beyond that. Random: which of the other orderings.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import libcst as cst

from ...python.syntax.layout import decisions
from ...python.syntax.parsed import Parsed
from ...text_edits import Edit
from ..morphism import Refused, Site

EXAMPLE = (
    "def positive(n):\n    return 1 if n != 0 and n + 0 == n else 0\n",
    "def positive(n):\n    return 1 if n == 0 and n + 0 == n else 0\n",
)
_ORDERINGS = ("<", "<=", ">", ">=")
OTHERS = {
    "Equal": ("!=",), "NotEqual": ("==",), "Is": ("is not",), "IsNot": ("is",), "In": ("not in",), "NotIn": ("in",),
    "And": ("or",), "Or": ("and",),
    "LessThan": _ORDERINGS[1:], "LessThanEqual": ("<", ">", ">="), "GreaterThan": ("<", "<=", ">="), "GreaterThanEqual": _ORDERINGS[:3],
}  # fmt: skip


def places(parsed: Parsed) -> Iterator[tuple[Site, cst.CSTNode]]:
    """Each comparison operator, `and` and `or` of a condition; what: the operator."""
    for node in decisions(parsed):
        for operator in [node.operator] if isinstance(node, cst.BooleanOperation) else [target.operator for target in node.comparisons]:
            yield Site(*parsed.spans[operator], " ".join(parsed.text(operator).split())), operator


def edits(parsed: Parsed, operator: cst.CSTNode, rng: random.Random) -> list[Edit]:
    """Put another operator there. Raises Refused."""
    if "\\" in parsed.text(operator) or "#" in parsed.text(operator):
        raise Refused("the operator stands on two lines")
    return [Edit(*parsed.spans[operator], rng.choice(OTHERS[type(operator).__name__]))]

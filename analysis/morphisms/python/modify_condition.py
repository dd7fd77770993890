"""Replace an operator of a condition: `<` one of `<=`, `>`, `>=`, `==` becomes `!=`, `and` becomes `or`, and the reverse.

Not equivalent, by intent: `outcomes_differ` runs the tests to confirm it. Only operators that decide are changed: the comparisons, `and`
and `or` in the condition of an `if`, `while`, `assert`, conditional expression, comprehension or guard, each by itself. No precondition
beyond that. Random: which of the other orderings.
"""

from __future__ import annotations

import random

import libcst as cst

from ...python.syntax.conditions import decisions
from ...python.syntax.parsed import Parsed, parse
from ..morphism import Refused, Site
from ..text_edits import Edit, edited

NAME = "modify_condition"
EQUIVALENT = False
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


def sites(source: str) -> list[Site]:
    """One for each comparison operator, `and` and `or` of a condition; what: the operator. Raises UnreadableSource."""
    parsed = parse(source)
    return sorted((Site(*parsed.spans[o], " ".join(parsed.text(o).split())) for o in _operators(parsed)), key=lambda s: s.start)


def apply(source: str, site: Site, rng: random.Random) -> str:
    """The source with another operator there. Raises Refused."""
    parsed = parse(source)
    operator = next((o for o in _operators(parsed) if parsed.spans[o] == (site.start, site.end)), None)
    if operator is None:
        raise Refused("no operator of a condition stands here")
    if "\\" in parsed.text(operator) or "#" in parsed.text(operator):
        raise Refused("the operator stands on two lines")
    return edited(source, [Edit(site.start, site.end, rng.choice(OTHERS[type(operator).__name__]))])


def _operators(parsed: Parsed) -> list[cst.CSTNode]:
    found: list[cst.CSTNode] = []
    for node in decisions(parsed):
        found += [node.operator] if isinstance(node, cst.BooleanOperation) else [target.operator for target in node.comparisons]
    return found

"""Forget a negation: `not x` becomes `x`, `is not` becomes `is`, `not in` becomes `in`, `!=` becomes `==`."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..morphisms.morphism import Site
from ..morphisms.text_edits import Edit
from ..python.syntax.parsed import Parsed

EXAMPLE = ("def f(items):\n    return not items\n", "def f(items):\n    return items\n")
_POSITIVE = {"NotIn": "in", "IsNot": "is", "NotEqual": "=="}


def places(parsed: Parsed) -> Iterator[tuple[Site, cst.CSTNode]]:
    """Each negation; what: its text without what is negated."""
    for node in parsed.nodes:
        if isinstance(node, cst.Not | cst.NotIn | cst.IsNot | cst.NotEqual):
            yield Site(*parsed.spans[node], " ".join(parsed.text(node).split())), node


def edits(parsed: Parsed, negation: cst.CSTNode, _: object) -> list[Edit]:
    """Take the negation away."""
    start, end = parsed.spans[negation]
    if not isinstance(negation, cst.Not):
        return [Edit(start, end, _POSITIVE[type(negation).__name__])]
    operation = parsed.parents[negation]
    assert isinstance(operation, cst.UnaryOperation)
    return [Edit(start, parsed.span(operation.expression)[0], "")]

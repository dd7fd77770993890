"""Forget a negation: `not x` becomes `x`, `is not` becomes `is`, `not in` becomes `in`, `!=` becomes `==`."""

from __future__ import annotations

import random

import libcst as cst

from ...morphisms.morphism import Refused, Site
from ...morphisms.text_edits import Edit, edited
from ...python.syntax.parsed import Parsed, parse

NAME = "missing_negation"
EQUIVALENT = False
EXAMPLE = ("def f(items):\n    return not items\n", "def f(items):\n    return items\n")
_POSITIVE = {"NotIn": "in", "IsNot": "is", "NotEqual": "=="}


def sites(source: str) -> list[Site]:
    """One for each negation; what: its text without what is negated. Raises UnreadableSource."""
    parsed = parse(source)
    return sorted((Site(*parsed.spans[n], " ".join(parsed.text(n).split())) for n in _negations(parsed)), key=lambda s: s.start)


def apply(source: str, site: Site, rng: random.Random) -> str:  # noqa: ARG001 - nothing is random here
    """The source without the negation. Raises Refused."""
    parsed = parse(source)
    negation = next((n for n in _negations(parsed) if parsed.spans[n] == (site.start, site.end)), None)
    if negation is None:
        raise Refused("no negation stands here")
    if not isinstance(negation, cst.Not):
        return edited(source, [Edit(site.start, site.end, _POSITIVE[type(negation).__name__])])
    operation = parsed.parents[negation]
    assert isinstance(operation, cst.UnaryOperation)
    start = parsed.span(operation.expression)[0]
    return edited(source, [Edit(site.start, start, "")])


def _negations(parsed: Parsed) -> list[cst.CSTNode]:
    return [node for node in parsed.nodes if isinstance(node, cst.Not | cst.NotIn | cst.IsNot | cst.NotEqual)]

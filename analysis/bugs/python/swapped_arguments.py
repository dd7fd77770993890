"""Swap two neighbouring positional arguments of a call. Precondition: neither is unpacked, and their texts differ."""

from __future__ import annotations

import random

import libcst as cst

from ...morphisms.morphism import Refused, Site
from ...morphisms.text_edits import Edit, edited
from ...python.syntax.parsed import Parsed, parse

NAME = "swapped_arguments"
EQUIVALENT = False
EXAMPLE = ("def f(a, b):\n    return divmod(a, b)\n", "def f(a, b):\n    return divmod(b, a)\n")


def sites(source: str) -> list[Site]:
    """One for each two neighbouring positional arguments with different texts, from the first to the second. Raises UnreadableSource."""
    parsed = parse(source)
    return sorted((Site(parsed.span(a)[0], parsed.span(b)[1]) for a, b in neighbours(parsed)), key=lambda s: (s.start, s.end))


def apply(source: str, site: Site, rng: random.Random) -> str:  # noqa: ARG001 - nothing is random here
    """The source with the two exchanged. Raises Refused."""
    parsed = parse(source)
    for a, b in neighbours(parsed):
        first, second = parsed.span(a), parsed.span(b)
        if (first[0], second[1]) == (site.start, site.end):
            return edited(source, [Edit(*first, parsed.text(b)), Edit(*second, parsed.text(a))])
    raise Refused("no two positional arguments stand here")


def neighbours(parsed: Parsed) -> list[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """The neighbouring positional arguments of calls that are not unpacked, with different texts."""
    found = []
    for call in parsed.all(cst.Call):
        for a, b in zip(call.args, call.args[1:], strict=False):
            plain = not (a.star or b.star) and a.keyword is None and b.keyword is None
            if plain and parsed.text(a.value) != parsed.text(b.value):
                found.append((a.value, b.value))
    return found

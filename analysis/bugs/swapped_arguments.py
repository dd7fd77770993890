"""Swap two neighbouring positional arguments of a call. Precondition: neither is unpacked, and their texts differ."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from ..morphisms.morphism import Site
from ..morphisms.text_edits import Edit
from ..python.syntax.parsed import Parsed

EXAMPLE = ("def f(a, b):\n    return divmod(a, b)\n", "def f(a, b):\n    return divmod(b, a)\n")
Neighbours = tuple[cst.BaseExpression, cst.BaseExpression]


def places(parsed: Parsed) -> list[tuple[Site, Neighbours]]:
    """Each two neighbouring positional arguments with different texts, from the first to the second."""
    found = [(Site(parsed.span(a)[0], parsed.span(b)[1]), (a, b)) for a, b in neighbours(parsed)]
    return sorted(found, key=lambda place: (place[0].start, place[0].end))


def edits(parsed: Parsed, pair: Neighbours, _: object) -> list[Edit]:
    """Exchange the two."""
    a, b = pair
    return [Edit(*parsed.span(a), parsed.text(b)), Edit(*parsed.span(b), parsed.text(a))]


def neighbours(parsed: Parsed) -> Iterator[Neighbours]:
    """The neighbouring positional arguments of calls that are not unpacked, with different texts."""
    for call in parsed.all(cst.Call):
        for a, b in pairwise(call.args):
            plain = not (a.star or b.star) and a.keyword is None and b.keyword is None
            if plain and parsed.text(a.value) != parsed.text(b.value):
                yield a.value, b.value

"""Swap two arguments of a call: `power(base, n)` becomes `power(n, base)`.

Precondition: both are shown to have the same static type, so that the same method is called, and they are not the same text; not for
calls that do not mind, as `Math.max`.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations

from tree_sitter import Node

from ...morphisms.java.program.javac import compilable
from ...morphisms.java.program.syntax import JavaSource, field, parse, walk
from ...morphisms.java.program.types import arguments, library_class, type_of
from ...morphisms.morphism import Refused, Site
from ...morphisms.text_edits import Edit

NAME = "swapped_arguments"
EQUIVALENT = False
EXAMPLE = (
    "String f(String s, int a, int b) { return s.substring(a, b); }",
    "String f(String s, int a, int b) { return s.substring(b, a); }",
)
_SYMMETRIC = ("max", "min", "hypot", "addExact", "multiplyExact")


def _pairs(java: JavaSource) -> Iterator[tuple[Site, Node, Node, Node]]:
    for call in walk(java.root):
        if call.type not in {"method_invocation", "object_creation_expression", "explicit_constructor_invocation"}:
            continue
        for (i, one), (j, two) in combinations(enumerate(arguments(call), 1), 2):
            yield Site(java.span(one)[0], java.span(two)[1], f"{i},{j}"), call, one, two


def sites(source: str) -> list[Site]:
    """Each pair of arguments of a call."""
    return sorted((site for site, *_ in _pairs(parse(source))), key=lambda s: (s.start, s.end))


def apply(source: str, site: Site, rng: random.Random) -> str:  # noqa: ARG001 - nothing is random here
    """Swap them. Raises Refused."""
    java = parse(source)
    pair = next(((call, one, two) for place, call, one, two in _pairs(java) if place == site), None)
    if pair is None:
        raise Refused(f"characters {site.start}-{site.end} are not arguments of one call")
    call, one, two = pair
    if java.text(one) == java.text(two):
        raise Refused("the arguments are the same")
    kind = type_of(java, one)
    if kind is None or kind != type_of(java, two):
        raise Refused("the arguments are not shown to have the same type")
    owner = call.child_by_field_name("object")
    if owner is not None and library_class(java, owner) == "Math" and java.text(field(call, "name")) in _SYMMETRIC:
        raise Refused("the call gives the same either way")
    return compilable(java, [Edit(*java.span(one), java.text(two)), Edit(*java.span(two), java.text(one))])

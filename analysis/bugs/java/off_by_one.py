"""Count one too far or too short: `i < n` becomes `i <= n`, `a[i - 1]` becomes `a[i - 2]`, `int i = 0` becomes `int i = 1`.

The places: `<`, `<=`, `>`, `>=` in conditions; whole numbers added to or taken from numbers, used as an index or as an argument of charAt,
get, substring and subList, and the first value of a variable of a `for`. Precondition: as of `modify_condition` for the operators.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tree_sitter import Node

from ...morphisms.java.modify_condition import exchange, operators
from ...morphisms.java.program.flow import may_be_constant
from ...morphisms.java.program.javac import compilable
from ...morphisms.java.program.syntax import JavaSource, field, operator, parse, role, walk
from ...morphisms.java.program.types import NUMERIC, type_of
from ...morphisms.morphism import Refused, Site
from ...morphisms.text_edits import Edit

NAME = "off_by_one"
EQUIVALENT = False
EXAMPLE = (
    "int f(int[] a, int n) { return n < a.length ? a[n] : 0; }",
    "int f(int[] a, int n) { return n <= a.length ? a[n] : 0; }",
)
_TOUCHING = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_INDEXED = ("charAt", "get", "substring", "subList")
LARGEST = 2**31 - 1


def numbers(java: JavaSource) -> Iterator[Node]:
    """The whole numbers that count or index something."""
    for node in walk(java.root):
        above = node.parent
        if node.type != "decimal_integer_literal" or above is None or not java.text(node).isdecimal():
            continue
        if (above.type == "binary_expression" and operator(above) in ("+", "-") and type_of(java, above) in NUMERIC) or (
            above.type == "array_access" and role(node) == "index"
        ):
            yield node
        elif above.type == "argument_list" and above.parent is not None and above.parent.type == "method_invocation":
            if java.text(field(above.parent, "name")) in _INDEXED:
                yield node
        elif above.type == "variable_declarator" and above.parent is not None and role(above.parent) == "init":
            yield node


def sites(source: str) -> list[Site]:
    """The comparisons and the numbers."""
    java = parse(source)
    found = [Site(*java.span(token), token.type) for _, _, token in operators(java) if token.type in _TOUCHING]
    found += [Site(*java.span(number), java.text(number)) for number in numbers(java)]
    return sorted(found, key=lambda s: s.start)


def apply(source: str, site: Site, rng: random.Random) -> str:
    """Include or exclude the limit, or count one more or less at random. Raises Refused."""
    java = parse(source)
    if site.what in _TOUCHING:
        return exchange(java, site, _TOUCHING[site.what])
    number = next((n for n in numbers(java) if java.span(n) == (site.start, site.end)), None)
    if number is None:
        raise Refused(f"no number that counts stands at characters {site.start}-{site.end}")
    above = number.parent
    if above is not None and above.type == "binary_expression" and may_be_constant(java, above):
        raise Refused("the sum is constant, and what it is assigned to may not hold another")
    value = int(java.text(number))
    # never below zero: `a[-1]` fails at once, which is no subtle bug
    changed = value + 1 if value == 0 or (value < LARGEST and rng.random() < 0.5) else value - 1
    return compilable(java, [Edit(site.start, site.end, str(changed))])

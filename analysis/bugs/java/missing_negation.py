"""Forget a `!`: `if (!done)` becomes `if (done)`.

Precondition: what is negated is not constant, gives no variable its first value and binds no pattern's variable.
"""

from __future__ import annotations

import random

from ...morphisms.java.program.javac import check_not_tracked, compilable
from ...morphisms.java.program.syntax import field, node_at, operator, parse, walk
from ...morphisms.morphism import Site
from ...morphisms.text_edits import Edit

NAME = "missing_negation"
EQUIVALENT = False
EXAMPLE = (
    "int f(boolean done) { if (!done) return 1; return 0; }",
    "int f(boolean done) { if (done) return 1; return 0; }",
)


def sites(source: str) -> list[Site]:
    """What is negated, with its `!`."""
    java = parse(source)
    return [Site(*java.span(n)) for n in walk(java.root) if n.type == "unary_expression" and operator(n) == "!"]


def apply(source: str, site: Site, rng: random.Random) -> str:  # noqa: ARG001 - nothing is random here
    """Remove the `!`. Raises Refused."""
    java = parse(source)
    node = node_at(java, site, {"unary_expression"})
    check_not_tracked(java, node)
    return compilable(java, [Edit(site.start, java.span(field(node, "operand"))[0], "")])

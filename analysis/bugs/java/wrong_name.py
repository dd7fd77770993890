"""Read another variable of the same type: `total += count` becomes `total += limit`.

Precondition: the other variable is in scope and has a value there: it is a parameter or declared with a value before. Where it would be
captured by a lambda or a class, it never changes.
"""

from __future__ import annotations

import random

from tree_sitter import Node

from ...morphisms.java.program.flow import may_be_constant
from ...morphisms.java.program.javac import compilable
from ...morphisms.java.program.names import Variable, is_final, is_write, names_of
from ...morphisms.java.program.syntax import TYPE_BODIES, JavaSource, ancestors, callable_around, parse
from ...morphisms.java.program.types import of_variable
from ...morphisms.morphism import Refused, Site
from ...morphisms.text_edits import Edit

NAME = "wrong_name"
EQUIVALENT = False
EXAMPLE = (
    "int f(int a, int b) { return a - a * b; }",
    "int f(int a, int b) { return b - a * b; }",
)


def sites(source: str) -> list[Site]:
    """The places where a local variable is read."""
    java = parse(source)
    reads = (use for v in names_of(java).variables for use in v.uses if not is_write(use))
    return sorted((Site(*java.span(use), java.text(use)) for use in reads), key=lambda s: s.start)


def apply(source: str, site: Site, rng: random.Random) -> str:
    """Read a random one of the other variables that fit. Raises Refused."""
    java = parse(source)
    found = ((use, v) for v in names_of(java).variables for use in v.uses if java.span(use) == (site.start, site.end))
    use, variable = next(found, (None, None))
    if use is None or variable is None:
        raise Refused(f"no variable is read at characters {site.start}-{site.end}")
    if variable.doubt or (use.parent is not None and use.parent.type in {"resource", "switch_label"}):
        raise Refused("which variable is read here is not shown, or another cannot be")
    others = sorted({v.name for v in names_of(java).variables if v.name != variable.name and fits(java, v, variable, use)})
    if not others:
        raise Refused(f"nothing else of the type of {variable.name} has a value here")
    return compilable(java, [Edit(site.start, site.end, rng.choice(others))])


def fits(java: JavaSource, other: Variable, variable: Variable, use: Node) -> bool:
    """Whether another variable could be read at a use of one: it is of the same type, in scope, and has a value there."""
    if other.kind == "pattern" or not visible(java, other, variable, use):
        return False
    if other.kind == "local" and (other.initial is None or (is_final(java, other) and may_be_constant(java, other.initial))):
        return False
    place, home = callable_around(use), callable_around(other.declared)
    if other.kind in ("parameter", "lambda"):
        home = next((a for a in ancestors(other.declared) if (a.start_byte, a.end_byte) == other.scope), home)
    around = [a for a in ancestors(use) if other.scope[0] <= a.start_byte and a.end_byte <= other.scope[1]]
    if any(a.type in TYPE_BODIES for a in around) or any(a.type == "switch_block" for a in around if _skips(a, other)):
        return False
    return place == home or not any(is_write(u) for u in other.uses)


def visible(java: JavaSource, other: Variable, variable: Variable, use: Node) -> bool:
    """Whether another variable, of the type of one, is in scope at a use of it; whether it has a value there is not asked."""
    kind = of_variable(java, other)
    if other.doubt or kind is None or kind != of_variable(java, variable):
        return False
    declares = other.declaration.start_byte <= use.start_byte < other.declaration.end_byte and other.kind in ("local", "resource")
    return other.scope[0] <= use.start_byte < other.scope[1] and not declares


def _skips(block: Node, other: Variable) -> bool:
    """Whether a switch may jump over the declaration of a variable in one of its groups."""
    return block.start_byte < other.declared.start_byte and block.end_byte >= other.declared.end_byte

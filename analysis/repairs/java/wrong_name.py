"""Read another variable of the same type: first those that surely have a value there, then those that nothing reads, then the nearest."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...morphisms.java.program.flow import may_be_constant
from ...morphisms.java.program.names import Variable, is_final, is_write, names_of
from ...morphisms.java.program.syntax import TYPE_BODIES, JavaSource, ancestors, callable_around, parse
from ...morphisms.java.program.types import of_variable
from ..rule import Change, touches

EXAMPLE = ("int f(int a, int b) { return a - a; }", "int f(int a, int b) { return b - a; }")


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """The local variables that the lines read, each as other ones. Raises UnreadableSource."""
    java = parse(source)
    variables = names_of(java).variables
    for variable in variables:
        for use in variable.uses:
            start, end = java.span(use)
            if is_write(use) or not touches(start, end, lines):
                continue
            others = [other for other in variables if other.name != variable.name and _visible(java, other, variable, use)]
            others.sort(key=lambda other: (not _has_value(java, other, use), _order(other, use)))
            yield from (Change(start, end, name, rank) for rank, name in enumerate(dict.fromkeys(other.name for other in others)))


def _order(other: Variable, use: Node) -> tuple[bool, int]:
    places = [other.declared, *other.uses]
    return any(not is_write(one) for one in other.uses), min(abs(one.start_byte - use.start_byte) for one in places)


def _visible(java: JavaSource, other: Variable, variable: Variable, use: Node) -> bool:
    """Whether another variable, of the type of one, is in scope at a use of it; whether it has a value there is not asked."""
    kind = of_variable(java, other)
    if other.doubt or kind is None or kind != of_variable(java, variable):
        return False
    declares = other.declaration.start_byte <= use.start_byte < other.declaration.end_byte and other.kind in ("local", "resource")
    return other.scope[0] <= use.start_byte < other.scope[1] and not declares


def _has_value(java: JavaSource, other: Variable, use: Node) -> bool:
    """Whether a variable that is visible at a use of another surely has a value there; where it is captured, it never changes."""
    if other.kind == "pattern":
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


def _skips(block: Node, other: Variable) -> bool:
    """Whether a switch may jump over the declaration of a variable in one of its groups."""
    return block.start_byte < other.declared.start_byte and block.end_byte >= other.declared.end_byte

"""Read another variable of the same type: first those that surely have a value there, then those that nothing reads, then the nearest."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...bugs.java.wrong_name import fits, visible
from ...morphisms.java.program.names import Variable, is_write, names_of
from ...morphisms.java.program.syntax import parse
from ..rule import Change, touches

NAME = "wrong_name"
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
            others = [other for other in variables if other.name != variable.name and visible(java, other, variable, use)]
            others.sort(key=lambda other: (not fits(java, other, variable, use), _order(other, use)))
            yield from (Change(start, end, name, rank) for rank, name in enumerate(dict.fromkeys(other.name for other in others)))


def _order(other: Variable, use: Node) -> tuple[bool, int]:
    places = [other.declared, *other.uses]
    return any(not is_write(one) for one in other.uses), min(abs(one.start_byte - use.start_byte) for one in places)

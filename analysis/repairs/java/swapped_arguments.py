"""Swap two arguments of a call, where both are shown to have the same static type, so that the same method is called.

Not of calls that do not mind, as `Math.max`.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from tree_sitter import Node

from ...morphisms.java.program.syntax import JavaSource, field, parse, walk
from ...morphisms.java.program.types import arguments, library_class, type_of
from ...morphisms.text_edits import Edit
from ..rule import Change, touches
from .edits import changed

EXAMPLE = (
    "String f(String s, int a, int b) { return s.substring(b, a); }",
    "String f(String s, int a, int b) { return s.substring(a, b); }",
)
_CALLS = frozenset({"method_invocation", "object_creation_expression", "explicit_constructor_invocation"})
_SYMMETRIC = ("max", "min", "hypot", "addExact", "multiplyExact")


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Each two change places. Raises UnreadableSource."""
    java = parse(source)
    for call in walk(java.root):
        if call.type not in _CALLS or not touches(*java.span(call), lines) or _is_symmetric(java, call):
            continue
        for one, two in combinations(arguments(call), 2):
            kind = type_of(java, one)
            if kind is not None and kind == type_of(java, two) and java.text(one) != java.text(two):
                yield changed(java, [Edit(*java.span(one), java.text(two)), Edit(*java.span(two), java.text(one))])


def _is_symmetric(java: JavaSource, call: Node) -> bool:
    owner = call.child_by_field_name("object")
    return owner is not None and library_class(java, owner) == "Math" and java.text(field(call, "name")) in _SYMMETRIC

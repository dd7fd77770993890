"""Swap two neighbouring statements of a block.

Precondition: neither uses what the other changes; not both may throw, and nothing visible depends on which one threw; neither leaves the
block; the second can complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from ...text_edits import Edit
from ..morphism import Refused, Site
from .program.effects import commute, effects, in_try
from .program.flow import can_complete, check_declarations_may_move, has_loop_of_unknown_length, leaves
from .program.syntax import BLOCKS, TYPE_BODIES, JavaSource, statements, walk, words

EXAMPLE = (
    "int f(int n) {\n    int a = n + 1;\n    int b = n - 1;\n    return a * b;\n}\n",
    "int f(int n) {\n    int b = n - 1;\n    int a = n + 1;\n    return a * b;\n}\n",
)
_FIXED = words("explicit_constructor_invocation return_statement throw_statement break_statement continue_statement yield_statement ;")


def places(java: JavaSource) -> Iterator[tuple[Site, tuple[Node, Node]]]:
    """Each pair of neighbouring statements, without those that leave the block."""
    for block in walk(java.root):
        for a, b in pairwise(statements(block)) if block.type in BLOCKS else ():
            if not {a.type, b.type} & _FIXED:
                yield Site(java.span(a)[0], java.span(b)[1]), (a, b)


def edits(java: JavaSource, pair: tuple[Node, Node], _: object) -> list[Edit]:
    """Swap them; comments stay where they are. Raises Refused."""
    one, two = pair
    check_declarations_may_move(one)
    if any(n.type.endswith("_declaration") and n.type != "local_variable_declaration" for n in pair):
        raise Refused("a class has to be declared before it is used")
    if java.text(one) == java.text(two):
        raise Refused("the two are the same")
    if all(any(n.type in TYPE_BODIES for n in walk(statement)) for statement in pair):
        raise Refused("both declare classes, and their numbers in class names would change")
    first, second = effects(java, one), effects(java, two)
    reason = commute(first, second)
    if reason:
        raise Refused(reason)
    if in_try(one) and ((first.throws and second.writes) or (second.throws and first.writes)):
        raise Refused("one may throw inside a try, where it shows what the other has changed")
    if leaves(one) or leaves(two) or not can_complete(java, two) or any(has_loop_of_unknown_length(java, n) for n in pair):
        raise Refused("one may not be followed by the other")
    return [Edit(*java.span(one), java.text(two)), Edit(*java.span(two), java.text(one))]

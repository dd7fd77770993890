"""Insert a statement without visible effect: a variable that is never used, or code that never runs.

Precondition: control can reach the place, and the next statement does not have to come first, as `super(…)` has to.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from tree_sitter import Node

from ...text_edits import Edit
from ..morphism import Refused, Site
from .program.flow import can_complete, check_declarations_may_move, has_loop_of_unknown_length
from .program.names import fresh_name
from .program.syntax import BLOCKS, JavaSource, indentation, newline, statements, walk
from .program.types import is_own

EXAMPLE = (
    "int f(int n) {\n    return n + 1;\n}\n",
    "int f(int n) {\n    int store = 8;\n    return n + 1;\n}\n",
)


Place = tuple[int, Node, Node | None]


def places(java: JavaSource) -> list[tuple[Site, Place]]:
    """Before each statement of a block or a switch group, and at the end of each block."""
    found = [(Site(at, at, "before" if following else "end"), (at, block, following)) for at, block, following in _places(java)]
    return sorted(found, key=lambda place: (place[0].start, place[0].what))


def _places(java: JavaSource) -> Iterator[Place]:
    """The places for a statement: the character, the block, and the next statement or None at the end of the block."""
    for block in walk(java.root):
        if block.type not in BLOCKS and block.type != "switch_block_statement_group":
            continue
        inside = statements(block)
        for statement in inside:
            yield java.span(statement)[0], block, statement
        if block.type in BLOCKS:
            yield java.span(inside[-1])[1] if inside else java.span(block)[0] + 1, block, None


def edits(java: JavaSource, place: Place, rng: random.Random) -> list[Edit]:
    """Insert a statement of a random kind. Raises Refused."""
    at, block, following = place
    check_declarations_may_move(following or block)
    if following is not None and following.type == "explicit_constructor_invocation":
        raise Refused("a call of another constructor has to stand first")
    inside = statements(block)
    if following is None and inside and (not can_complete(java, inside[-1]) or has_loop_of_unknown_length(java, inside[-1])):
        raise Refused("control may never come to the end of the block")
    end = newline(java)
    if following is not None:
        indent = indentation(java, following)
        return [Edit(at, at, _statement(java, rng, indent, end) + end + indent)]
    if inside:
        indent = indentation(java, inside[-1])
        return [Edit(at, at, end + indent + _statement(java, rng, indent, end))]
    indent = indentation(java, block)
    text = end + indent + "    " + _statement(java, rng, indent + "    ", end) + end + indent
    return [Edit(at, at, text)]


def _statement(java: JavaSource, rng: random.Random, indent: str, end: str) -> str:
    name, number = fresh_name(java, rng), rng.randrange(2, 10)
    kinds = [
        f"int {name} = {number};",
        f"double {name} = {number}.5;",
        f"boolean {name} = false;",
        f"int[] {name} = new int[{number}];",
        f"if (false) {{{end}{indent}    int {name} = {number};{end}{indent}}}",
        f"for (int {name} = {number}; {name} < 0; {name}++) {{{end}{indent}}}",
    ]
    if not is_own(java, "String"):
        kinds.append(f'String {name} = "";')
    return rng.choice(kinds)

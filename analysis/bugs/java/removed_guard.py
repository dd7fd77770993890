"""Remove a guard: an `if` that only leaves (`if (n < 0) return 0;`), or the first part of a condition (`i < n && a[i] > 0`).

Precondition: javac still accepts the method: nothing becomes unreachable, no return is missing, every variable still gets its value, a
`catch` still has what it catches.
"""

from __future__ import annotations

import random

from tree_sitter import Node

from ...morphisms.java.modify_condition import operators
from ...morphisms.java.program.flow import can_complete
from ...morphisms.java.program.javac import check_not_tracked, compilable
from ...morphisms.java.program.syntax import BLOCKS, JavaSource, field, node_at, parse, statements, walk
from ...morphisms.java.remove_else import check_removal
from ...morphisms.morphism import Site
from ...morphisms.text_edits import Edit

NAME = "removed_guard"
EQUIVALENT = False
EXAMPLE = (
    "int f(int[] a, int i) { if (i < a.length && a[i] > 0) return a[i]; return 0; }",
    "int f(int[] a, int i) { if (a[i] > 0) return a[i]; return 0; }",
)


def _guards(java: JavaSource) -> list[Node]:
    """The ifs without an else whose body is one statement, or a few, that leave."""
    guards = []
    for block in walk(java.root):
        if block.type not in BLOCKS:
            continue
        for node in statements(block):
            if node.type != "if_statement" or node.child_by_field_name("alternative") is not None:
                continue
            if not can_complete(java, field(node, "consequence")):
                guards.append(node)
    return guards


def _parts(java: JavaSource) -> list[Node]:
    return [node for _, node, token in operators(java) if token.type == "&&"]


def sites(source: str) -> list[Site]:
    """The guards, and the conjunctions in conditions."""
    java = parse(source)
    places = [Site(*java.span(node), "if") for node in _guards(java)] + [Site(*java.span(node), "&&") for node in _parts(java)]
    return sorted(places, key=lambda s: (s.start, s.end))


def apply(source: str, site: Site, rng: random.Random) -> str:  # noqa: ARG001 - nothing is random here
    """Remove the guard. Raises Refused."""
    java = parse(source)
    if site.what == "&&":
        node = node_at(java, site, {"binary_expression"})
        left, right = field(node, "left"), field(node, "right")
        check_not_tracked(java, node)
        check_not_tracked(java, right)
        return compilable(java, [Edit(java.span(left)[0], java.span(right)[0], "")])
    node = node_at(java, site, {"if_statement"})
    check_removal(java, node, node)
    end = site.end
    line_start = source.rfind("\n", 0, site.start) + 1
    line_end = source.find("\n", end)
    alone = not source[line_start : site.start].strip() and line_end >= 0 and not source[end:line_end].strip()
    return compilable(java, [Edit(line_start, line_end + 1, "") if alone else Edit(site.start, end, "")])

"""Remove a guard: an `if` without `else` whose body ends in `return`, `raise`, `continue` or `break`.

Precondition: it begins its line; where it is all of a body, `pass` takes its place.
"""

from __future__ import annotations

import random

import libcst as cst

from ...morphisms.morphism import Refused, Site
from ...morphisms.text_edits import Edit, edited
from ...python.syntax.layout import next_line
from ...python.syntax.parsed import Parsed, parse

NAME = "removed_guard"
EQUIVALENT = False
EXAMPLE = (
    "def f(items):\n    if not items:\n        return None\n    return items[0]\n",
    "def f(items):\n    return items[0]\n",
)
_LEAVES = cst.Return | cst.Raise | cst.Continue | cst.Break


def sites(source: str) -> list[Site]:
    """One for each guard; what: its condition. Raises UnreadableSource."""
    parsed = parse(source)
    return sorted((Site(*parsed.spans[g], parsed.text(g.test)) for g in _guards(parsed)), key=lambda s: s.start)


def apply(source: str, site: Site, rng: random.Random) -> str:  # noqa: ARG001 - nothing is random here
    """The source without the guard's lines. Raises Refused."""
    parsed = parse(source)
    guard = next((g for g in _guards(parsed) if parsed.spans[g] == (site.start, site.end)), None)
    if guard is None:
        raise Refused("no guard stands here")
    indentation, block = parsed.indentation(guard), parsed.parents[guard]
    if indentation is None:
        raise Refused("the guard does not begin its line")
    if isinstance(block, cst.IndentedBlock) and len(block.body) == 1:
        return edited(source, [Edit(site.start, site.end, "pass")])
    return edited(source, [Edit(parsed.line_start(site.start), next_line(parsed, site.end), "")])


def _guards(parsed: Parsed) -> list[cst.If]:
    found = []
    for node in parsed.all(cst.If):
        elif_ = isinstance(parsed.parents[node], cst.If)
        last: cst.CSTNode = node.body.body[-1]
        if isinstance(last, cst.SimpleStatementLine):
            last = last.body[-1]
        if not elif_ and node.orelse is None and isinstance(last, _LEAVES):
            found.append(node)
    return found

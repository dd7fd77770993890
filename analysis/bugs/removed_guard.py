"""Remove a guard: an `if` without `else` whose body ends in `return`, `raise`, `continue` or `break`.

Precondition: it begins its line; where it is all of a body, `pass` takes its place.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ..morphisms.morphism import Refused, Site
from ..morphisms.text_edits import Edit
from ..python.syntax.layout import next_line
from ..python.syntax.parsed import Parsed

EXAMPLE = (
    "def f(items):\n    if not items:\n        return None\n    return items[0]\n",
    "def f(items):\n    return items[0]\n",
)
_LEAVES = cst.Return | cst.Raise | cst.Continue | cst.Break


def places(parsed: Parsed) -> Iterator[tuple[Site, cst.If]]:
    """Each guard; what: its condition."""
    for node in parsed.all(cst.If):
        elif_ = isinstance(parsed.parents[node], cst.If)
        last: cst.CSTNode = node.body.body[-1]
        if isinstance(last, cst.SimpleStatementLine):
            last = last.body[-1]
        if not elif_ and node.orelse is None and isinstance(last, _LEAVES):
            yield Site(*parsed.spans[node], parsed.text(node.test)), node


def edits(parsed: Parsed, guard: cst.If, _: object) -> list[Edit]:
    """Take the guard's lines away. Raises Refused."""
    (start, end), block = parsed.spans[guard], parsed.parents[guard]
    if parsed.indentation(guard) is None:
        raise Refused("the guard does not begin its line")
    if isinstance(block, cst.IndentedBlock) and len(block.body) == 1:
        return [Edit(start, end, "pass")]
    return [Edit(parsed.line_start(start), next_line(parsed, end), "")]

"""Remove an `elif` or `else` branch.

Not equivalent, by intent: `outcomes_differ` runs the tests to confirm it. Of an `elif` only its own branch goes: what follows it then
belongs to the branch before. Precondition: the branch is one of an `if` statement.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...python.syntax.layout import next_line
from ...python.syntax.parsed import Parsed
from ...text_edits import Edit
from ..morphism import Site

EXAMPLE = (
    "def sign(n):\n    s = 0\n    if n < 0:\n        s = -1\n    else:\n        s = 1\n    return s\n",
    "def sign(n):\n    s = 0\n    if n < 0:\n        s = -1\n    return s\n",
)


def places(parsed: Parsed) -> Iterator[tuple[Site, cst.If | cst.Else]]:
    """Each `elif` and `else` of an `if`; what: which of the two."""
    for node in parsed.all(cst.If):
        if (branch := node.orelse) is not None:
            yield Site(*parsed.spans[branch], "else" if isinstance(branch, cst.Else) else "elif"), branch


def edits(parsed: Parsed, branch: cst.If | cst.Else, _: object) -> list[Edit]:
    """Take the branch's lines away."""
    start, end = parsed.spans[branch]
    following = branch.orelse if isinstance(branch, cst.If) else None
    end = parsed.line_start(parsed.spans[following][0]) if following is not None else next_line(parsed, end)
    return [Edit(parsed.line_start(start), end, "")]

"""Remove an `elif` or `else` branch.

Not equivalent, by intent: `outcomes_differ` runs the tests to confirm it. Of an `elif` only its own branch goes: what follows it then
belongs to the branch before. Precondition: the branch is one of an `if` statement.
"""

from __future__ import annotations

import random

import libcst as cst

from ...python.syntax.layout import next_line
from ...python.syntax.parsed import Parsed, parse
from ..morphism import Refused, Site
from ..text_edits import Edit, edited

NAME = "remove_else"
EQUIVALENT = False
EXAMPLE = (
    "def sign(n):\n    s = 0\n    if n < 0:\n        s = -1\n    else:\n        s = 1\n    return s\n",
    "def sign(n):\n    s = 0\n    if n < 0:\n        s = -1\n    return s\n",
)


def sites(source: str) -> list[Site]:
    """One for each `elif` and `else` of an `if`; what: which of the two. Raises UnreadableSource."""
    parsed = parse(source)
    return sorted((Site(*parsed.spans[b], "else" if isinstance(b, cst.Else) else "elif") for b in _branches(parsed)), key=lambda s: s.start)


def apply(source: str, site: Site, rng: random.Random) -> str:  # noqa: ARG001 - nothing is random here
    """The source without the branch's lines. Raises Refused."""
    parsed = parse(source)
    branch = next((b for b in _branches(parsed) if parsed.spans[b][0] == site.start), None)
    if branch is None:
        raise Refused("no branch of an if begins here")
    start = parsed.line_start(site.start)
    following = branch.orelse if isinstance(branch, cst.If) else None
    end = parsed.line_start(parsed.spans[following][0]) if following is not None else next_line(parsed, parsed.spans[branch][1])
    return edited(source, [Edit(start, end, "")])


def _branches(parsed: Parsed) -> list[cst.If | cst.Else]:
    return [node.orelse for node in parsed.all(cst.If) if node.orelse is not None]

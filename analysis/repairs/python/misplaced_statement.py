"""Take a statement out, or let it change places with the next one in its block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from ...python.syntax.parsed import parse
from ..rule import Change, touches

EXAMPLE = (
    "def f(x):\n    total = x + step\n    step = 2\n    return total\n",
    "def f(x):\n    step = 2\n    total = x + step\n    return total\n",
)
# Behind what changes a statement: few bugs are a line too many.
_SWAP, _DROP = 3, 4
_KEPT = cst.Import | cst.ImportFrom | cst.Pass
# What declares a name must stand before it is used, and what binds it must stay.
_DECLARES = re.compile(r"\b(?:global|nonlocal)\b")


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Of the statements that the lines touch. Imports stay where they are. Raises UnreadableSource."""
    parsed = parse(source)
    blocks: list[cst.IndentedBlock | cst.Module] = [*parsed.all(cst.IndentedBlock), *parsed.all(cst.Module)]
    for block in blocks:
        spans = [parsed.spans[statement] for statement in block.body]
        if len(spans) < 2 or not touches(spans[0][0], spans[-1][1], lines) or _DECLARES.search(source, spans[0][0], spans[-1][1]):
            continue
        moves = [not _stays(statement) for statement in block.body]
        for ((start, first_end), (second, end)), both in zip(pairwise(spans), pairwise(moves), strict=True):
            if all(both) and (touches(start, first_end, lines) or touches(second, end, lines)):
                yield Change(start, end, source[second:end] + source[first_end:second] + source[start:first_end], _SWAP)
        for statement, (start, end), may_move in zip(block.body, spans, moves, strict=True):
            if may_move and isinstance(statement, cst.SimpleStatementLine) and touches(start, end, lines):
                yield Change(parsed.line_start(start), source.find("\n", end) + 1 or len(source), "", _DROP)


def _stays(statement: cst.BaseStatement | cst.SimpleStatementLine) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[0], _KEPT)

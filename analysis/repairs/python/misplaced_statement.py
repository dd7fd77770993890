"""Take a statement out, or let it change places with the next one in its block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

import libcst as cst

from ...python.syntax.layout import line_end, next_line
from ...python.syntax.parsed import Parsed, parse
from ..rule import Change

EXAMPLE = (
    "def f(x):\n    total = x + step\n    step = 2\n    return total\n",
    "def f(x):\n    step = 2\n    total = x + step\n    return total\n",
)
# Behind what changes a statement: few bugs are a line too many.
_SWAP, _DROP = 3, 4
# A longer statement in the wrong place is a rare bug, and takes a model long to read.
_MAX_LINES = 4
_STAYS = cst.FunctionDef | cst.ClassDef | cst.Import | cst.ImportFrom | cst.Pass
# What declares a name must stand before it is used, and what binds it must stay.
_DECLARES = re.compile(r"\b(?:global|nonlocal)\b")


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Of the statements that begin in the lines. Definitions and imports stay where they are. Raises UnreadableSource."""
    parsed = parse(source)
    blocks: list[cst.IndentedBlock | cst.Module] = [*parsed.all(cst.IndentedBlock), *parsed.all(cst.Module)]
    for block in blocks if not _DECLARES.search(source) else ():
        spans = [_movable(parsed, statement) for statement in block.body]
        for one, other in pairwise(spans):
            if one and other and any(lines[0] <= start < lines[1] for start, _ in (one, other)):
                (start, first_end), (second, end) = one, other
                yield Change(start, end, source[second:end] + source[first_end:second] + source[start:first_end], _SWAP)
        for statement, span in zip(block.body, spans, strict=True):
            if span and len(spans) > 1 and isinstance(statement, cst.SimpleStatementLine) and lines[0] <= span[0] < lines[1]:
                yield Change(parsed.line_start(span[0]), next_line(parsed, span[1]), "", _DROP)


def _movable(parsed: Parsed, statement: cst.CSTNode) -> tuple[int, int] | None:
    """Where a statement is, with a comment behind it; None for one that stays."""
    if isinstance(statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else statement, _STAYS):
        return None
    start, end = parsed.spans[statement]
    span = start, line_end(parsed, end)
    return span if parsed.source.count("\n", *span) < _MAX_LINES else None

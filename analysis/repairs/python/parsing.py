"""Whether a Python program with a change still parses, by its smallest statement alone: a whole file for each change takes too long."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import libcst as cst

from ...python.libcst_parsing import parse_module
from ...python.source_text import BOM, UnreadableSource
from ...python.syntax.layout import statement_start
from ...python.syntax.parsed import Parsed, parse
from ..rule import Change

_STATEMENTS = (cst.SimpleStatementLine, cst.BaseCompoundStatement, cst.ExceptHandler, cst.ExceptStarHandler, cst.MatchCase)


@dataclass(frozen=True, slots=True)
class _Part:
    """A statement, without the block in it: before + source[start:end] + after is a program."""

    start: int
    end: int
    before: str
    after: str


def parses(source: str, change: Change) -> bool:
    """Whether the source with the change parses, where the source does."""
    around = [part for part in _parts(parse(source)) if part.start <= change.start and change.end <= part.end]
    if not around:
        return _readable(change.of(source).removeprefix(BOM))
    part = around[-1]
    return _readable(part.before + source[part.start : change.start] + change.text + source[change.end : part.end] + part.after)


@lru_cache(maxsize=4)
def _parts(parsed: Parsed) -> list[_Part]:
    """Of all statements, outer before inner."""
    parts = [_part(parsed, node) for node in parsed.nodes if isinstance(node, _STATEMENTS) and not isinstance(node, cst.Try | cst.TryStar)]
    return [part for part in parts if part is not None]


def _part(parsed: Parsed, node: cst.CSTNode) -> _Part | None:
    start, end, after = statement_start(parsed, node), parsed.spans[node][1], ""
    match getattr(node, "body", None):
        case cst.IndentedBlock(body=[first, *_]):
            end, after = statement_start(parsed, first), "pass"
        case cst.SimpleStatementSuite() as suite:
            end = parsed.spans[suite][1]
    if isinstance(node, cst.Match):
        end, after = parsed.spans[node.cases[0]][0], "case _: pass"
    indentation = parsed.source[parsed.line_start(start) : start]
    if indentation.strip():
        return None
    match node:
        case cst.ExceptHandler() | cst.ExceptStarHandler():
            before = "try: pass\n"
        case cst.If() if isinstance(parsed.parents[node], cst.If):
            before = "if _: pass\n"
        case cst.MatchCase():
            before = f"match _:\n{indentation}"
        case _:
            before = f"if _:\n{indentation}" if indentation else ""
    return _Part(start, end, before, after)


def _readable(text: str) -> bool:
    try:
        parse_module(text)
    except UnreadableSource:
        return False
    return True

"""Insert a statement that does nothing: a value is bound to a name that is nowhere else in the file.

Precondition: in a function's own code, between statements that begin their lines; not before a docstring; not where the file can look at
its own frames. Random: the name and the value.
"""

from __future__ import annotations

import random

import libcst as cst

from ...python.syntax.effects import reflective
from ...python.syntax.layout import newline, statement_start
from ...python.syntax.names import fresh
from ...python.syntax.parsed import Parsed, parse
from ..morphism import Refused, Site
from ..text_edits import Edit, edited

NAME = "unused_statement"
EQUIVALENT = True
EXAMPLE = (
    "def double(n):\n    return 2 * n\n",
    "def double(n):\n    item = 1\n    return 2 * n\n",
)
VALUES = ("0", "1", "None", "True", "False", '""', "[]", "{}", "()")


def sites(source: str) -> list[Site]:
    """One before each statement of a function's code but its docstring; what: kind of that statement. Raises UnreadableSource."""
    parsed = parse(source)
    return [Site(start := statement_start(parsed, s), start, type(s).__name__) for s in _statements(parsed)]


def apply(source: str, site: Site, rng: random.Random) -> str:
    """The source with `name = value` on a line of its own before the site's statement. Raises Refused."""
    parsed = parse(source)
    statement = next((s for s in _statements(parsed) if statement_start(parsed, s) == site.start), None)
    if statement is None:
        raise Refused("no statement of a function begins here")
    if (word := reflective(parsed)) is not None:
        raise Refused(f"the file uses {word}, which may see a new variable")
    line = parsed.line_start(site.start)
    if parsed.source[line : site.start].strip() or parsed.source[:line].rstrip("\r\n").endswith("\\"):
        raise Refused("the statement does not begin its line")
    text = f"{source[line : site.start]}{fresh(parsed, rng)[0]} = {rng.choice(VALUES)}{newline(parsed)}"
    return edited(source, [Edit(line, line, text)])


def _statements(parsed: Parsed) -> list[cst.CSTNode]:
    found: list[cst.CSTNode] = []
    for block in parsed.all(cst.IndentedBlock):
        if parsed.function_of(block) is None:
            continue
        docstring = isinstance(parsed.parents[block], cst.FunctionDef) and _is_string(block.body[0])
        found += block.body[1:] if docstring else block.body
    return sorted(found, key=lambda s: parsed.spans[s][0])


def _is_string(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(statement.body[0], cst.Expr):
        return False
    return isinstance(statement.body[0].value, cst.SimpleString | cst.ConcatenatedString)

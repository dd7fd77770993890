"""Insert a statement that does nothing: a value is bound to a name that is nowhere else in the file.

Precondition: in a function's own code, between statements that begin their lines; not before a docstring; not where the file can look at
its own frames. Random: the name and the value.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import libcst as cst

from ...python.syntax.effects import reflective
from ...python.syntax.layout import fresh, newline, statement_start
from ...python.syntax.parsed import Parsed
from ...text_edits import Edit
from ..morphism import Refused, Site

EXAMPLE = (
    "def double(n):\n    return 2 * n\n",
    "def double(n):\n    item = 1\n    return 2 * n\n",
)
VALUES = ("0", "1", "None", "True", "False", '""', "[]", "{}", "()")


def places(parsed: Parsed) -> Iterator[tuple[Site, int]]:
    """Before each statement of a function's code but its docstring; what: kind of that statement."""
    for block in parsed.all(cst.IndentedBlock):
        if parsed.function_of(block) is None:
            continue
        docstring = isinstance(parsed.parents[block], cst.FunctionDef) and _is_string(block.body[0])
        for statement in block.body[1:] if docstring else block.body:
            start = statement_start(parsed, statement)
            yield Site(start, start, type(statement).__name__), start


def edits(parsed: Parsed, start: int, rng: random.Random) -> list[Edit]:
    """Put `name = value` on a line of its own before the statement. Raises Refused."""
    if (word := reflective(parsed)) is not None:
        raise Refused(f"the file uses {word}, which may see a new variable")
    line = parsed.line_start(start)
    indentation = parsed.source[line:start]
    if indentation.strip() or parsed.source[:line].rstrip("\r\n").endswith("\\"):
        raise Refused("the statement does not begin its line")
    return [Edit(line, line, f"{indentation}{fresh(parsed, rng)} = {rng.choice(VALUES)}{newline(parsed)}")]


def _is_string(statement: cst.CSTNode) -> bool:
    if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(statement.body[0], cst.Expr):
        return False
    return isinstance(statement.body[0].value, cst.SimpleString | cst.ConcatenatedString)

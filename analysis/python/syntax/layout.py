"""Of a Python program: its layout (indentation, lines and line ends), fresh names, and the conditions, of which only the truth counts."""

from __future__ import annotations

import builtins
import keyword
import random
from collections.abc import Iterator, Sequence

import libcst as cst

from .parsed import Parsed


def newline(parsed: Parsed) -> str:
    """The line end of the file."""
    return parsed.tree.default_newline


def reindented(parsed: Parsed, start: int, end: int, old: str, new: str) -> str:
    """source[start:end] with its lines indented by `new` instead of `old`.

    Unchanged are the text before the first line end, lines that begin inside a string, and lines that do not begin with `old` (comments,
    empty lines).
    """
    inside = [parsed.spans[s] for s in (*parsed.all(cst.SimpleString), *parsed.all(cst.FormattedString))]
    parts, at = [], start
    for i in range(start, end):
        if parsed.source[i] == "\n" or (parsed.source[i] == "\r" and parsed.source[i + 1 : i + 2] != "\n"):
            begin = i + 1
            in_string = any(first < begin < last for first, last in inside)
            if (
                begin < end
                and not in_string
                and parsed.source.startswith(old, begin, end)
                and parsed.source[begin : begin + 1] not in "\r\n"
            ):
                parts += [parsed.source[at:begin], new]
                at = begin + len(old)
    return "".join([*parts, parsed.source[at:end]])


def line_end(parsed: Parsed, offset: int) -> int:
    """The end of the line of an offset, before its line end."""
    return min(end for end in (parsed.source.find("\n", offset), parsed.source.find("\r", offset), len(parsed.source)) if end >= 0)


def next_line(parsed: Parsed, offset: int) -> int:
    """The start of the line after that of an offset."""
    end = line_end(parsed, offset)
    return end + (2 if parsed.source[end : end + 2] == "\r\n" else 1 if end < len(parsed.source) else 0)


def statement_start(parsed: Parsed, statement: cst.CSTNode) -> int:
    """The start of a statement with its decorators."""
    decorators = statement.decorators if isinstance(statement, cst.FunctionDef | cst.ClassDef) else ()
    return parsed.spans[decorators[0] if decorators else statement][0]


def own_block(parsed: Parsed, body: cst.BaseSuite) -> str | None:
    """The indentation of a body that begins on a line of its own; None where it follows the colon."""
    if not isinstance(body, cst.IndentedBlock) or not body.body:
        return None
    start = statement_start(parsed, body.body[0])
    return parsed.source[parsed.line_start(start) : start]


WORDS = (
    "value", "item", "result", "current", "entry", "total", "data", "number", "element", "temp", "output", "state", "part", "record",
    "amount", "target", "piece", "buffer", "info", "unit",
)  # fmt: skip


def fresh(parsed: Parsed, rng: random.Random, words: tuple[str, ...] = WORDS) -> str:
    """Draw a name that stands nowhere in the file, not even in strings and comments, and is no keyword or built-in.

    words: the names to draw from; they are numbered (`value_2`) where none is free.
    """
    taken = parsed.identifiers() | set(dir(builtins)) | set(keyword.kwlist) | set(keyword.softkwlist)
    number, free = 1, [word for word in words if word not in taken]
    while not free:
        number += 1
        free = [name for word in words if (name := f"{word}_{number}") not in taken]
    return rng.choice(free)


def tests(parsed: Parsed) -> Iterator[cst.BaseExpression]:
    """The condition of each `if`, `elif`, `while`, `assert`, conditional expression, comprehension's `if` and guard of a `case`."""
    for kind in (cst.If, cst.While, cst.IfExp, cst.Assert, cst.CompIf):
        deciding: Sequence[cst.If | cst.While | cst.IfExp | cst.Assert | cst.CompIf] = parsed.all(kind)
        yield from (node.test for node in deciding)
    yield from (case.guard for case in parsed.all(cst.MatchCase) if case.guard is not None)


def decisions(parsed: Parsed) -> list[cst.BooleanOperation | cst.Comparison]:
    """The comparisons and boolean operations that conditions are made of, by `and`, `or` and `not`, in the order of the text."""
    found: list[cst.BooleanOperation | cst.Comparison] = []
    pending = list(tests(parsed))
    while pending:
        match node := pending.pop():
            case cst.BooleanOperation():
                found.append(node)
                pending += [node.left, node.right]
            case cst.UnaryOperation(operator=cst.Not()):
                pending.append(node.expression)
            case cst.Comparison():
                found.append(node)
    return sorted(found, key=lambda node: (parsed.spans[node][0], -parsed.spans[node][1]))

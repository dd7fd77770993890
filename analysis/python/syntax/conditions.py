"""The conditions of a Python program: expressions of which only the truth value matters."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst

from .parsed import Parsed


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

"""Swap two neighbouring statements that do not depend on each other.

Precondition: both are simple statements of a function, each alone on its lines. One of them (the still one) only binds local variables to
values that can be computed without effect, exception or regard to anything but variables; the other neither reads nor binds these
variables nor binds what the still one reads. What the other may do besides must not see the order: the variables are of no other function,
no value whose end could be noticed is dropped from them, and where the other may raise, no `try` or `with` of the function sees the
variables afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeGuard

import libcst as cst

from ...python.syntax.effects import Effects, bound_elsewhere, effects, reflective
from ...python.syntax.exact_types import ATOMS
from ...python.syntax.layout import line_end
from ...python.syntax.parsed import Parsed
from ...python.syntax.scopes import Variable
from ...text_edits import Edit
from ..morphism import Refused, Site

EXAMPLE = (
    "def area(shape):\n    total = 0\n    width = shape.width()\n    return total + width\n",
    "def area(shape):\n    width = shape.width()\n    total = 0\n    return total + width\n",
)
_MOVABLE = cst.Assign | cst.AnnAssign | cst.AugAssign | cst.Expr | cst.Assert
_LOOPS = cst.For | cst.While
Neighbours = tuple[cst.SimpleStatementLine, cst.SimpleStatementLine]


def places(parsed: Parsed) -> Iterator[tuple[Site, Neighbours]]:
    """Each two neighbouring lines of a function that are assignments, expressions or assertions."""
    for block in parsed.all(cst.IndentedBlock):
        if parsed.function_of(block) is not None:
            for a, b in pairwise(block.body):
                if _movable(a, parsed) and _movable(b, parsed):
                    yield Site(parsed.spans[a][0], parsed.spans[b][1]), (a, b)


def edits(parsed: Parsed, found: Neighbours, _: object) -> list[Edit]:
    """Exchange the two statements, each with the comment behind it. Raises Refused."""
    if (word := reflective(parsed)) is not None:
        raise Refused(f"the file uses {word}, which may see the values of variables")
    spans = [(parsed.spans[line][0], line_end(parsed, parsed.spans[line][1])) for line in found]
    if parsed.source[spans[0][1] : spans[1][0]].strip():
        raise Refused("a comment stands between the two statements")
    known = effects(parsed)
    first = _why_not(known, found[0], found[1])
    second = _why_not(known, found[1], found[0]) if first else None
    if first and second:
        raise Refused(first if first == second else f"{first}; {second}")
    texts = [parsed.source[start:end] for start, end in spans]
    return [Edit(*spans[0], texts[1]), Edit(*spans[1], texts[0])]


def _movable(line: cst.CSTNode, parsed: Parsed) -> TypeGuard[cst.SimpleStatementLine]:
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or not isinstance(line.body[0], _MOVABLE):
        return False
    statement = line.body[0]
    # a string may be the docstring, or become one
    is_string = isinstance(statement, cst.Expr) and isinstance(statement.value, cst.SimpleString | cst.ConcatenatedString)
    return not is_string and parsed.indentation(line) is not None


def _why_not(known: Effects, still: cst.SimpleStatementLine, other: cst.SimpleStatementLine) -> str | None:
    """Why the first statement can't be the still one; None where it can."""
    parsed, statement, text = known.parsed, still.body[0], known.parsed.text(still)
    value = statement.value if isinstance(statement, cst.Assign | cst.AnnAssign) else None
    targets = _targets(statement)
    if value is None or targets is None:
        return f"{text!r} does more than bind names"
    if not known.quiet(value):
        return f"{text!r} may raise or have an effect, or depends on one"
    variables = {known.scopes.of[target] for target in targets}
    if any(v.scope.kind != "function" for v in variables):
        return f"{text!r} binds what is not local"
    if any(_crosses_functions(v) or bound_elsewhere(v) for v in variables):
        return f"another function may see what {text!r} binds"
    read = {known.scopes.of[n] for n in parsed.inside(value) if isinstance(n, cst.Name) and n in known.scopes.of}
    touched = [(n, known.scopes.of[n]) for n in parsed.inside(other) if isinstance(n, cst.Name) and n in known.scopes.of]
    if any(v in variables for _, v in touched):
        return f"{parsed.text(other)!r} uses what {text!r} binds"
    if any(o.node is n for n, v in touched if v in read for o in v.bindings):
        return f"{parsed.text(other)!r} binds what {text!r} reads"
    if any(bound_elsewhere(v) for v in read):
        return f"another function may bind what {text!r} reads"
    if any(_drops(known, v, still) for v in variables):
        return f"{text!r} drops a value whose end may be noticed"
    if not _cannot_raise(known, other) and _guarded(parsed, still):
        return f"{parsed.text(other)!r} may raise inside a try or with, which may see what {text!r} binds"
    return None


def _targets(statement: cst.BaseSmallStatement) -> list[cst.Name] | None:
    """The names that a statement binds; None where it also binds anything else."""
    match statement:
        case cst.Assign():
            found = [target.target for target in statement.targets]
        case cst.AnnAssign():
            found = [statement.target]
        case _:
            return None
    names = [target for target in found if isinstance(target, cst.Name)]
    return names if len(names) == len(found) else None


def _crosses_functions(variable: Variable) -> bool:
    """Whether a place that means the variable runs at another time: in another function, or in a generator."""
    for occurrence in variable.occurrences:
        scope = occurrence.scope
        while scope is not variable.scope and scope.parent is not None:
            if scope.kind != "comprehension" or isinstance(scope.node, cst.GeneratorExp):
                return True
            scope = scope.parent
    return False


def _drops(known: Effects, variable: Variable, still: cst.SimpleStatementLine) -> bool:
    """Whether binding the variable may drop an object, which a finalizer or a weak reference would show."""
    first = variable.bindings[0].node
    fresh = any(first is node for node in known.parsed.inside(still))
    looped = any(isinstance(p, _LOOPS) and known.parsed.function_of(p) is variable.scope.node for p in known.parsed.ancestors(still))
    return not (fresh and not looped) and not known.types.only(variable.bindings[0].node, ATOMS)


def _cannot_raise(known: Effects, other: cst.SimpleStatementLine) -> bool:
    statement = other.body[0]
    if isinstance(statement, cst.Expr):
        return known.quiet(statement.value)
    value = statement.value if isinstance(statement, cst.Assign | cst.AnnAssign) else None
    return value is not None and _targets(statement) is not None and known.quiet(value)


def _guarded(parsed: Parsed, statement: cst.CSTNode) -> bool:
    for parent in parsed.ancestors(statement):
        if isinstance(parent, cst.FunctionDef):
            return False
        if isinstance(parent, cst.Try | cst.TryStar | cst.With):
            return True
    return False

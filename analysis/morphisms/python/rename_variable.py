"""Rename a local variable at every place that means it.

Precondition: a variable of a function or a comprehension, not of a module or a class, where others reach it by its name. A parameter only
where no caller can pass it by keyword: positional-only, `*args`, `**kwargs`, or of a local function that is only ever called, without
keywords. Not functions, classes, imports and type parameters, whose names are values; not names that a class mangles; not where `f"{x=}"`
prints the name, nor where the file can look at its own frames (`locals`, `eval`, …). The new name stands nowhere else in the file.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import libcst as cst

from ...python.syntax.effects import reflective
from ...python.syntax.layout import fresh
from ...python.syntax.parsed import Parsed
from ...python.syntax.scopes import Scopes, Variable, scopes
from ...text_edits import Edit
from ..morphism import Refused, Site

EXAMPLE = (
    "def mean(items, /):\n    total = 0\n    for x in items:\n        total += x\n    return total / len(items)\n",
    "def mean(items, /):\n    value = 0\n    for x in items:\n        value += x\n    return value / len(items)\n",
)


def places(parsed: Parsed) -> Iterator[tuple[Site, Variable]]:
    """Each variable of a function or comprehension, at its first occurrence; what: its name."""
    for variable in scopes(parsed).variables:
        if variable.scope.kind in ("function", "comprehension"):
            yield Site(*parsed.spans[variable.occurrences[0].node], variable.name), variable


def edits(parsed: Parsed, variable: Variable, rng: random.Random) -> list[Edit]:
    """Give it a random fresh name. Raises Refused."""
    _check(parsed, scopes(parsed), variable)
    name = fresh(parsed, rng)
    return [Edit(*parsed.spans[o.node], name) for o in variable.occurrences]


def _check(parsed: Parsed, known: Scopes, variable: Variable) -> None:
    if (word := reflective(parsed)) is not None:
        raise Refused(f"the file uses {word}, which may see the names of variables")
    if variable.name.startswith("__"):
        raise Refused(f"{variable.name} may be mangled by a class")
    kinds = {o.how for o in variable.bindings}
    if not kinds:
        raise Refused(f"nothing binds {variable.name}")
    if named := kinds & {"import", "def", "class", "type"}:
        raise Refused(f"{variable.name} is bound by {min(named)}, whose name is a value")
    for occurrence in variable.occurrences:
        if occurrence.how == "parameter":
            _check_parameter(parsed, known, variable, occurrence.node)
        if parsed.printed(occurrence.node):
            raise Refused(f'an f-string prints the name of {variable.name} by "="')


def _check_parameter(parsed: Parsed, known: Scopes, variable: Variable, node: cst.Name) -> None:
    parameter, parameters = parsed.parents[node], variable.scope.node
    assert isinstance(parameters, cst.FunctionDef | cst.Lambda)
    listed = parameters.params
    if parameter in listed.posonly_params or parameter in (listed.star_arg, listed.star_kwarg):
        return
    if isinstance(parameters, cst.FunctionDef) and not parameters.decorators:
        function = known.of[parameters.name]
        if function.scope.kind == "function" and all(_called_without_keywords(parsed, o.node, o.how) for o in function.occurrences):
            return
    raise Refused(f"{variable.name} is a parameter that a caller may pass by keyword")


def _called_without_keywords(parsed: Parsed, node: cst.Name, how: str) -> bool:
    if how == "def":
        return True
    call = parsed.parents[node]
    return isinstance(call, cst.Call) and call.func is node and all(a.keyword is None and a.star != "**" for a in call.args)

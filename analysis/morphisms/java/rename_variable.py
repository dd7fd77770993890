"""Rename a local variable, a parameter, or what a loop, catch clause, resource, lambda or pattern names.

Precondition: every identifier that means it is known. That is not so where a class inside may inherit a field of that name, where `case
NAME` may be a constant of an enum, and where a pattern's name also means something else in the method. The new name is nowhere else in the
file.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from ...text_edits import Edit
from ..morphism import Refused, Site
from .program.names import Variable, fresh_name, names_of
from .program.syntax import JavaSource, ancestors

EXAMPLE = (
    "int twice(int n) { int result = n * 2; return result; }",
    "int twice(int n) { int store = n * 2; return store; }",
)


def places(java: JavaSource) -> Iterator[tuple[Site, Variable]]:
    """The declarations."""
    yield from ((Site(*java.span(variable.declared), variable.name), variable) for variable in names_of(java).variables)


def edits(java: JavaSource, variable: Variable, rng: random.Random) -> list[Edit]:
    """Give the variable a name drawn from common ones that the file does not use. Raises Refused."""
    if variable.doubt:
        raise Refused(variable.doubt)
    if _named_as_component(variable):
        raise Refused("a record's constructor has to name its parameters as the record does")
    new = fresh_name(java, rng)
    return [Edit(*java.span(node), new) for node in (variable.declared, *variable.uses)]


def _named_as_component(variable: Variable) -> bool:
    around = [
        a.type for a in ancestors(variable.declared) if a.type in {"constructor_declaration", "record_declaration", "lambda_expression"}
    ]
    return variable.kind == "parameter" and around[:2] == ["constructor_declaration", "record_declaration"]

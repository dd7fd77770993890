"""Negate the meaning of a local boolean: its values are negated where they are assigned, and again where they are read.

Precondition: declared `boolean` in the method (not a parameter), every use known, each value shown to be boolean by itself (a generic call
could get another type under `!`), and no assignment used as a value.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...text_edits import Edit
from ..morphism import Refused, Site
from .program.names import Variable, is_write, names_of
from .program.syntax import JavaSource, field, operator, role
from .program.types import is_boolean

EXAMPLE = (
    "boolean f(int n) { boolean found = false; if (n > 1) found = n < 9; if (!found) n++; return found; }",
    "boolean f(int n) { boolean found = true; if (n > 1) found = !(n < 9); if (found) n++; return !found; }",
)


def places(java: JavaSource) -> Iterator[tuple[Site, Variable]]:
    """The declarations of local booleans."""
    for variable in names_of(java).variables:
        if variable.kind == "local" and variable.type == "boolean":
            yield Site(*java.span(variable.declared), variable.name), variable


def edits(java: JavaSource, variable: Variable, _: object) -> list[Edit]:
    """Negate the variable. Raises Refused."""
    if variable.doubt:
        raise Refused(variable.doubt)
    if not any(not is_write(use) for use in variable.uses):
        raise Refused(f"{variable.name} is never read")
    found = [] if variable.initial is None else _negated(java, variable.initial)
    for use in variable.uses:
        found += _written(java, variable, use) if is_write(use) else _read(java, use)
    # two equal edits would negate the same thing twice, as in `found = !found`
    return [edit for edit in found if found.count(edit) == 1]


def _read(java: JavaSource, use: Node) -> list[Edit]:
    above = use.parent
    if above is not None and above.type == "unary_expression" and operator(above) == "!":
        return [Edit(java.span(above)[0], java.span(use)[0], "")]
    at = java.span(use)[0]
    return [Edit(at, at, "!")]


def _written(java: JavaSource, variable: Variable, use: Node) -> list[Edit]:
    assignment = use.parent
    if assignment is None or assignment.type != "assignment_expression":
        raise Refused(f"{variable.name} is assigned in a way that is not read here")
    above = assignment.parent
    standing = above is not None and (above.type == "expression_statement" or role(assignment) in {"init", "update"})
    if not standing or (above is not None and above.parent is not None and above.parent.type == "switch_rule"):
        raise Refused(f"an assignment to {variable.name} is used as a value")
    sign, value = operator(assignment), field(assignment, "right")
    if sign == "^=":
        return []
    mirrored = {"=": "=", "|=": "&=", "&=": "|="}[sign]
    token = next(c for c in assignment.children if c.type == sign)
    return [*([Edit(*java.span(token), mirrored)] if mirrored != sign else []), *_negated(java, value)]


def _negated(java: JavaSource, value: Node) -> list[Edit]:
    if not is_boolean(java, value):
        raise Refused(f"line {value.start_point.row + 1}: the value is not shown to be a boolean by itself")
    start, end = java.span(value)
    if value.type in {"true", "false"}:
        return [Edit(start, end, "false" if value.type == "true" else "true")]
    if value.type == "unary_expression" and operator(value) == "!" and is_boolean(java, field(value, "operand")):
        return [Edit(start, java.span(field(value, "operand"))[0], "")]
    if value.type in {"identifier", "method_invocation", "field_access", "array_access", "parenthesized_expression"}:
        return [Edit(start, start, "!")]
    return [Edit(start, start, "!("), Edit(end, end, ")")]

"""Negate the meaning of a variable that only holds True or False: its values are negated, and again wherever it is read.

Precondition: a local variable of a function, not a parameter, and everything that is bound to it is certainly a bool: by `=` alone on its
side, `:=`, or `&=`, `|=`, `^=`. Every place that means it, in nested functions too, is found and negated. Not where it is deleted, where
`f"{x=}"` prints its text, nor where the file can look at its own frames.
"""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from ...python.syntax.effects import reflective
from ...python.syntax.exact_types import exact_types
from ...python.syntax.parsed import Parsed
from ...python.syntax.scopes import Occurrence, Variable, scopes
from ...text_edits import Edit
from ..morphism import Refused, Site

EXAMPLE = (
    "def has(items, x):\n    found = False\n    for y in items:\n        if y is x:\n            found = True\n    return found\n",
    "def has(items, x):\n    found = True\n    for y in items:\n        if y is x:\n            found = False\n    return not found\n",
)
_OPPOSITE = {"True": "False", "False": "True"}


def places(parsed: Parsed) -> Iterator[tuple[Site, Variable]]:
    """Each local variable to which a constant, negation or comparison that is a bool is assigned."""
    for variable in scopes(parsed).variables:
        if variable.scope.kind == "function" and any(_looks_boolean(parsed, o) for o in variable.bindings):
            yield Site(*parsed.spans[variable.occurrences[0].node], variable.name), variable


def edits(parsed: Parsed, variable: Variable, _: object) -> list[Edit]:
    """Negate the variable everywhere. Raises Refused."""
    if (word := reflective(parsed)) is not None:
        raise Refused(f"the file uses {word}, which may see the values of variables")
    # of nested assignments the outer one's text goes around the inner one's
    return sorted((e for o in variable.occurrences for e in _negated(parsed, variable, o)), key=lambda e: e.start)


def _looks_boolean(parsed: Parsed, occurrence: Occurrence) -> bool:
    value = _assigned(parsed, occurrence)
    return isinstance(value, cst.Comparison | cst.UnaryOperation | cst.Name) and exact_types(parsed).only(value, frozenset({"bool"}))


def _assigned(parsed: Parsed, occurrence: Occurrence) -> cst.BaseExpression | None:
    """The value of an assignment with the variable as its only target, where the value can be negated in place; else None."""
    parent = parsed.parents[occurrence.node]
    match parent:
        case cst.AssignTarget():
            assign = parsed.parents[parent]
            return assign.value if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None
        case cst.AnnAssign() | cst.NamedExpr() | cst.AugAssign() if parent.target is occurrence.node:
            return parent.value
    return None


def _negated(parsed: Parsed, variable: Variable, occurrence: Occurrence) -> Iterator[Edit]:
    """The edits for one occurrence; insertions but for True and False, so that those of nested expressions never overlap."""
    name, node = variable.name, occurrence.node
    parent = parsed.parents[node]
    if parsed.printed(node):
        raise Refused(f'an f-string prints the text of {name} by "="')
    if occurrence.how in ("declaration", "annotation"):
        return
    if occurrence.how == "read":
        yield from _read(parsed, node, parent)
        return
    value = _assigned(parsed, occurrence) if occurrence.how in ("assign", "walrus", "augmented") else None
    if value is None:
        raise Refused(f"{name} is bound by {occurrence.how}, where it can't be negated")
    if not exact_types(parsed).only(value, frozenset({"bool"})):
        raise Refused(f"{parsed.text(value)!r}, which is assigned to {name}, may be something else than True or False")
    start, end = parsed.span(value)
    if isinstance(parent, cst.NamedExpr):
        # its value is used as it was
        yield from _around(*parsed.span(parent), *(("(not ", ")") if parent.lpar else ("(not (", "))")))
    if isinstance(parent, cst.AugAssign):
        sign = type(parent.operator).__name__
        symbol = {"BitAndAssign": "&", "BitOrAssign": "|", "BitXorAssign": "^"}.get(sign)
        if symbol is None:
            raise Refused(f"{name} is changed by an operator that gives no bool")
        yield Edit(parsed.spans[parent.operator][0], start, "= ")
        yield from _around(start, end, f"not ((not {name}) {symbol} (", "))")
    elif isinstance(value, cst.Name) and value.value in _OPPOSITE:
        yield Edit(*parsed.spans[value], _OPPOSITE[value.value])
    else:
        yield from _around(start, end, "not (", ")")


def _read(parsed: Parsed, node: cst.Name, parent: cst.CSTNode) -> Iterator[Edit]:
    if any(isinstance(p, cst.MatchPattern) for p in parsed.ancestors(node)):
        raise Refused(f"{node.value} stands in a pattern, where it can't be negated")
    if isinstance(parent, cst.UnaryOperation) and isinstance(parent.operator, cst.Not) and not node.lpar:
        yield Edit(parsed.spans[parent][0], parsed.spans[node][0], "")
    elif isinstance(parent, cst.Return | cst.If | cst.While | cst.Assign) and not node.lpar:
        yield Edit(parsed.spans[node][0], parsed.spans[node][0], "not ")
    else:
        yield from _around(*parsed.spans[node], "(not ", ")")


def _around(start: int, end: int, before: str, after: str) -> Iterator[Edit]:
    yield Edit(start, start, before)
    yield Edit(end, end, after)

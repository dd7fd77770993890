"""Read another name: a variable of the functions around, a name of the module, or another attribute of the same object.

Variables come first: those that nothing reads, then those of the same kind (parameter or not), then those that stand nearest. What is
called becomes a variable that is called elsewhere, before others. Names of the module and attributes come after: those that look alike,
and attributes that stand nearest. `min` and `max`, `any` and `all` stand for one another.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

import libcst as cst

from ...python.syntax.parsed import Parsed, parse
from ...python.syntax.scopes import Occurrence, Scope, Variable, scopes
from ..rule import Change, touches

EXAMPLE = ("def f(low, high):\n    return low - low\n", "def f(low, high):\n    return high - low\n")
_OPPOSITE = {"min": "max", "max": "min", "any": "all", "all": "any"}
# of names of the module, of attributes of the same object, and of attributes that look alike
_MAX_FAR = 4
_ALIKE = 0.6


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """The names and attributes that the lines read, each as other ones. Raises UnreadableSource."""
    parsed = parse(source)
    known = scopes(parsed)
    for variable in known.variables:
        for found in variable.occurrences:
            start, end = parsed.spans[found.node]
            if found.how != "read" or not touches(start, end, lines) or parsed.in_annotation(found.node):
                continue
            if known.is_builtin(found.node, *_OPPOSITE):
                yield Change(start, end, _OPPOSITE[variable.name])
            others = [other.name for other in _visible(parsed, known.variables, variable, found)]
            others += _of_module(parsed, known.variables, variable, found)
            for rank, name in enumerate(dict.fromkeys(others)):
                yield Change(start, end, name, rank)
    for attribute in parsed.all(cst.Attribute):
        start, end = parsed.spans[attribute.attr]
        if touches(start, end, lines) and not parsed.in_annotation(attribute):
            for rank, name in enumerate(_attributes(parsed, attribute), 1):
                yield Change(start, end, name, rank)


def _visible(parsed: Parsed, among: tuple[Variable, ...], wrong: Variable, place: Occurrence) -> list[Variable]:
    """The variables of the functions and comprehensions around a place, the likeliest first."""
    around: list[Scope] = []
    scope: Scope | None = place.scope
    while scope is not None:
        if scope.kind in ("function", "comprehension") or (scope is place.scope and scope.kind == "class"):
            around.append(scope)
        scope = scope.parent
    at, called = parsed.spans[place.node][0], parsed.is_called(place.node)

    def order(other: Variable) -> tuple[int | bool, ...]:
        uses = _uses(parsed, other)
        starts = [parsed.spans[o.node][0] for o in other.occurrences]
        return (
            called is not (True in uses),
            min(starts) > at,
            bool(uses),
            around.index(other.scope),
            _is_parameter(other) is not _is_parameter(wrong),
            min(abs(start - at) for start in starts),
        )

    # where a name of the module is called by mistake, what was meant is called elsewhere, too
    needs_call = called and wrong.scope.kind == "module"
    fitting = (v for v in among if v.scope in around and v.name != wrong.name and (not needs_call or True in _uses(parsed, v)))
    return sorted(fitting, key=order)


def _uses(parsed: Parsed, variable: Variable) -> set[bool]:
    """For each place that reads it, whether it is called there."""
    return {parsed.is_called(o.node) for o in variable.occurrences if o.how == "read"}


def _is_parameter(variable: Variable) -> bool:
    return any(o.how == "parameter" for o in variable.occurrences)


def _of_module(parsed: Parsed, among: tuple[Variable, ...], wrong: Variable, place: Occurrence) -> list[str]:
    """The names of the module that look like one of them, and are called or not as it is."""
    if wrong.scope.kind != "module":
        return []
    called = parsed.is_called(place.node)
    names = [v.name for v in among if v.scope.kind == "module" and v is not wrong and called in _uses(parsed, v)]
    return difflib.get_close_matches(wrong.name, names, _MAX_FAR, _ALIKE)


def _attributes(parsed: Parsed, wrong: cst.Attribute) -> list[str]:
    """Other attributes, called or not as this one is: of the same object in the same class by nearness, then what looks alike."""
    at, name = parsed.spans[wrong.attr][0], wrong.attr.value
    called = parsed.is_called(wrong)
    fitting = [other for other in parsed.all(cst.Attribute) if parsed.is_called(other) is called and other.attr.value != name]
    of, home = parsed.text(wrong.value), _class_around(parsed, wrong)
    same = [other for other in fitting if parsed.text(other.value) == of and _class_around(parsed, other) is home]
    same.sort(key=lambda other: abs(parsed.spans[other.attr][0] - at))
    near = list(dict.fromkeys(other.attr.value for other in same))[:_MAX_FAR]
    alike = difflib.get_close_matches(name, sorted({other.attr.value for other in fitting}), _MAX_FAR, _ALIKE)
    return list(dict.fromkeys([*near, *alike]))


def _class_around(parsed: Parsed, node: cst.CSTNode) -> cst.CSTNode | None:
    return next((above for above in parsed.ancestors(node) if isinstance(above, cst.ClassDef)), None)

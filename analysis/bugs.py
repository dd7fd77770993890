"""Bugs of Python programs, as morphisms that change what a program does: six kinds, and how one is put into a line.

A new kind is an example, its places and its edits, as those of a module of `morphisms`, in `_RULES`, and a line in `morphisms/registry.py`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import libcst as cst

from .morphisms.morphism import Morphism, Refused, Rewrite, Site, rewrite
from .morphisms.registry import KINDS as KINDS
from .python.syntax.exact_types import INTS, exact_types
from .python.syntax.layout import next_line
from .python.syntax.parsed import Parsed, parse
from .python.syntax.scopes import Occurrence, Variable, scopes
from .text_edits import Edit, edited

Neighbours = tuple[cst.BaseExpression, cst.BaseExpression]
FAMILIES = (
    ("+", "-", "*"),
    ("/", "//", "%"),
    ("+=", "-=", "*="),
    ("/=", "//=", "%="),
    ("&", "|", "^"),
    ("&=", "|=", "^="),
    ("<<", ">>"),
    ("<", "<=", ">", ">="),
    ("==", "!="),
    ("and", "or"),
)
# the bar between the alternatives of a pattern is no operator
_OPERATIONS = (cst.BinaryOperation, cst.AugAssign, cst.BooleanOperation, cst.ComparisonTarget)
_ORDERINGS = cst.LessThan | cst.LessThanEqual | cst.GreaterThan | cst.GreaterThanEqual
_POSITIVE = {"NotIn": "in", "IsNot": "is", "NotEqual": "=="}
_LEAVES = cst.Return | cst.Raise | cst.Continue | cst.Break


@dataclass(slots=True)
class _Kind:
    """A rule as `morphism.Rule` has it."""

    EXAMPLE: tuple[str, str]
    places: Callable[[Any], Iterable[tuple[Site, Any]]]
    edits: Callable[[Any, Any, random.Random], Sequence[Edit]]


def neighbours(parsed: Parsed) -> Iterator[Neighbours]:
    """The neighbouring positional arguments of calls that are not unpacked, with different texts."""
    for call in parsed.all(cst.Call):
        for a, b in pairwise(call.args):
            plain = not (a.star or b.star) and a.keyword is None and b.keyword is None
            if plain and parsed.text(a.value) != parsed.text(b.value):
                yield a.value, b.value


def _pairs(parsed: Parsed) -> list[tuple[Site, Neighbours]]:
    """Each two neighbouring positional arguments, from the first to the second."""
    found = [(Site(parsed.span(a)[0], parsed.span(b)[1]), (a, b)) for a, b in neighbours(parsed)]
    return sorted(found, key=lambda place: (place[0].start, place[0].end))


def _swap(parsed: Parsed, pair: Neighbours, _: object) -> list[Edit]:
    a, b = pair
    return [Edit(*parsed.span(a), parsed.text(b)), Edit(*parsed.span(b), parsed.text(a))]


def _reads(parsed: Parsed) -> Iterator[tuple[Site, tuple[Variable, Occurrence]]]:
    """Each place that reads a function's variable; what: its name."""
    for variable in scopes(parsed).variables:
        for occurrence in variable.occurrences if variable.scope.kind == "function" else ():
            if occurrence.how == "read":
                yield Site(*parsed.spans[occurrence.node], variable.name), (variable, occurrence)


def _read_another(parsed: Parsed, read: tuple[Variable, Occurrence], rng: random.Random) -> list[Edit]:
    """Put another variable of the same function there, comprehensions' left out, that is bound by that place of the text."""
    variable, (start, end) = read[0], parsed.spans[read[1].node]
    others = {
        other.name
        for other in scopes(parsed).variables
        if other.scope is variable.scope and other is not variable and any(parsed.spans[b.node][1] <= start for b in other.bindings)
    }
    if not others:
        raise Refused(f"the function has no other variable by then than {variable.name}")
    return [Edit(start, end, rng.choice(sorted(others)))]


def bounds(parsed: Parsed) -> list[cst.BaseExpression]:
    """The expressions that bound something: indexes, slices, arguments of `range`, sides of `<` and the like; one may come twice."""
    found: list[cst.BaseExpression] = []
    types, known = exact_types(parsed), scopes(parsed)
    for node in parsed.nodes:
        match node:
            case cst.Slice():
                found += [bound for bound in (node.lower, node.upper) if bound is not None]
            case cst.Index() if types.only(node.value, INTS):
                found.append(node.value)
            case cst.Call() if known.is_builtin(node.func, "range"):
                found += [arg.value for arg in node.args[:2] if not arg.star and arg.keyword is None]
            case cst.ComparisonTarget() if isinstance(node.operator, _ORDERINGS) and types.only(node.comparator, INTS):
                found.append(node.comparator)
    return found


def _bound_once(parsed: Parsed) -> Iterator[tuple[Site, cst.BaseExpression]]:
    # of one that comes twice, the first node
    found = {parsed.span(bound): bound for bound in reversed(bounds(parsed))}
    yield from ((Site(*span), found[span]) for span in sorted(found))


def _move(parsed: Parsed, bound: cst.BaseExpression, rng: random.Random) -> list[Edit]:
    """A whole number becomes one more or less; anything else gets `+ 1` or `- 1`."""
    by = rng.choice((-1, 1))
    text = str(bound.evaluated_value + by) if isinstance(bound, cst.Integer) else moved(parsed, bound, by)
    return [Edit(*parsed.span(bound), text)]


def moved(parsed: Parsed, bound: cst.BaseExpression, by: int) -> str:
    """The text of a bound and `+ 1` or `- 1`, in brackets where these would take only a part of it."""
    text = parsed.text(bound)
    simple = bound.lpar or isinstance(bound, cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.BinaryOperation)
    if isinstance(bound, cst.BinaryOperation) and not bound.lpar and not isinstance(bound.operator, cst.Add | cst.Subtract | cst.Multiply):
        simple = False
    return f"{text if simple else f'({text})'} {'+' if by > 0 else '-'} 1"


def operators(parsed: Parsed) -> list[cst.CSTNode]:
    """The operators that have others in their family: arithmetic, bits, order, equality, `and` and `or`."""
    known = {text for family in FAMILIES for text in family}
    operations: list[cst.CSTNode] = [node for kind in _OPERATIONS for node in parsed.all(kind)]
    found = [child for node in operations for child in node.children if child is getattr(node, "operator", None)]
    return [operator for operator in found if parsed.text(operator) in known]


def _operator_places(parsed: Parsed) -> Iterator[tuple[Site, cst.CSTNode]]:
    yield from ((Site(*parsed.spans[operator], parsed.text(operator)), operator) for operator in operators(parsed))


def _another_of_its_family(parsed: Parsed, operator: cst.CSTNode, rng: random.Random) -> list[Edit]:
    text = parsed.text(operator)
    family = next(family for family in FAMILIES if text in family)
    return [Edit(*parsed.spans[operator], rng.choice([other for other in family if other != text]))]


def _negations(parsed: Parsed) -> Iterator[tuple[Site, cst.CSTNode]]:
    """Each `not`, `is not`, `not in` and `!=`; what: its text without what is negated."""
    for node in parsed.nodes:
        if isinstance(node, cst.Not | cst.NotIn | cst.IsNot | cst.NotEqual):
            yield Site(*parsed.spans[node], " ".join(parsed.text(node).split())), node


def _forget(parsed: Parsed, negation: cst.CSTNode, _: object) -> list[Edit]:
    start, end = parsed.spans[negation]
    if not isinstance(negation, cst.Not):
        return [Edit(start, end, _POSITIVE[type(negation).__name__])]
    operation = parsed.parents[negation]
    assert isinstance(operation, cst.UnaryOperation)
    return [Edit(start, parsed.span(operation.expression)[0], "")]


def _guards(parsed: Parsed) -> Iterator[tuple[Site, cst.If]]:
    """Each `if` without `else` whose body ends in `return`, `raise`, `continue` or `break`; what: its condition."""
    for node in parsed.all(cst.If):
        elif_ = isinstance(parsed.parents[node], cst.If)
        last: cst.CSTNode = node.body.body[-1]
        if isinstance(last, cst.SimpleStatementLine):
            last = last.body[-1]
        if not elif_ and node.orelse is None and isinstance(last, _LEAVES):
            yield Site(*parsed.spans[node], parsed.text(node.test)), node


def _remove(parsed: Parsed, guard: cst.If, _: object) -> list[Edit]:
    """Take the guard's lines away; where it is all of a body, `pass` takes its place."""
    (start, end), block = parsed.spans[guard], parsed.parents[guard]
    if parsed.indentation(guard) is None:
        raise Refused("the guard does not begin its line")
    if isinstance(block, cst.IndentedBlock) and len(block.body) == 1:
        return [Edit(start, end, "pass")]
    return [Edit(parsed.line_start(start), next_line(parsed, end), "")]


_RULES: Mapping[str, _Kind] = {
    "swapped_arguments": _Kind(
        ("def f(a, b):\n    return divmod(a, b)\n", "def f(a, b):\n    return divmod(b, a)\n"),
        _pairs,
        _swap,
    ),
    "wrong_name": _Kind(("def f(low, high):\n    return high\n", "def f(low, high):\n    return low\n"), _reads, _read_another),
    "off_by_one": _Kind(
        (
            "def f(items):\n    return [i for i in range(len(items))]\n",
            "def f(items):\n    return [i for i in range(len(items) - 1)]\n",
        ),
        _bound_once,
        _move,
    ),
    "wrong_operator": _Kind(
        ("def f(a, b):\n    return a and b\n", "def f(a, b):\n    return a or b\n"),
        _operator_places,
        _another_of_its_family,
    ),
    "missing_negation": _Kind(("def f(items):\n    return not items\n", "def f(items):\n    return items\n"), _negations, _forget),
    "removed_guard": _Kind(
        (
            "def f(items):\n    if not items:\n        return None\n    return items[0]\n",
            "def f(items):\n    return items[0]\n",
        ),
        _guards,
        _remove,
    ),
}


def bug(kind: str) -> Morphism:
    """The morphism that makes such a bug. Raises ValueError that lists what there is."""
    if kind not in KINDS:
        raise ValueError(f"no bug {kind!r}; there are {', '.join(KINDS)}")
    return Morphism(kind, False, _RULES[kind], parse, edited)


def inject(source: str, seed: str, line: tuple[int, int], *, kind: str | None = None) -> Rewrite:
    """Put a bug of a random kind, or of the one named, at a random place of a line, so that it makes one other line of it.

    line: source[start:end], without the newline. The same source, seed and line give the same bug. Raises Refused where no bug fits.
    """
    rng = random.Random(f"{seed}:bug")
    for name in [kind] if kind is not None else rng.sample(KINDS, len(KINDS)):
        morphism = bug(name)
        sites = [site for site in morphism.sites(source) if site.start < line[1] and line[0] < site.end]
        for site in rng.sample(sites, len(sites)):
            try:
                step = rewrite(morphism, source, site, rng)
            except Refused:
                continue
            if line[0] <= step.start and step.end <= line[1] and "\n" not in step.text:
                return step
    raise Refused("no place for a bug in this line")

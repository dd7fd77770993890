"""Put a guard before a statement, an `if` that leaves, or before a condition: `node.next` becomes `node and node.next`.

What a guard asked and did is guessed. It asks whether a variable or an attribute that the statement reads is empty, None, or no positive
number. It leaves by `continue` or `break` in a loop, or as the function returns or raises elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import libcst as cst

from ...python.syntax.layout import newline, tests
from ...python.syntax.parsed import Function, Parsed, parse
from ...python.syntax.scopes import scopes
from ..rule import Change, touches

EXAMPLE = (
    "def f(items):\n    return items[0]\n",
    "def f(items):\n    if not items:\n        return None\n    return items[0]\n",
)
_STATEMENTS = (cst.SimpleStatementLine, cst.If, cst.For, cst.While, cst.With)
_CONDITIONS = ("not {}", "{} is None", "{}", "{} is not None", "{} < 0", "{} == 0", "{} <= 0")
_PARTS = ("{} and ", "not {} or ", "{} is not None and ", "{} is None or ")
_NUMERIC = cst.BinaryOperation | cst.ComparisonTarget | cst.Comparison | cst.UnaryOperation | cst.Index | cst.Slice
_MAX_SUBJECTS = 3
# that of the likeliest guard: a statement that lacks none is the usual case
_RANK = 2
# the sum of the orders of subject, condition and leaving, from 0
_MAX_RANK = 4


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Guards before the statements that begin in the lines, and in their conditions. Raises UnreadableSource."""
    parsed = parse(source)
    for kind in _STATEMENTS:
        for statement in parsed.all(kind):
            start = parsed.spans[statement][0]
            if lines[0] <= start < lines[1] and isinstance(parsed.parents[statement], cst.IndentedBlock):
                yield from _guards(parsed, statement)
    for test in tests(parsed):
        if touches(*parsed.span(test), lines):
            yield from _parts(parsed, test)


def _guards(parsed: Parsed, statement: cst.CSTNode) -> Iterator[Change]:
    function, indentation = parsed.function_of(statement), parsed.indentation(statement)
    # Python forbids to leave an `except*` by return, break or continue
    if indentation is None or any(isinstance(above, cst.ExceptStarHandler) for above in parsed.ancestors(statement)):
        return
    start, end, leavings = parsed.spans[statement][0], newline(parsed), _leavings(parsed, statement, function)
    for i, (subject, numeric) in enumerate(islice(_subjects(parsed, statement).items(), _MAX_SUBJECTS)):
        conditions = [text for text in _CONDITIONS if numeric or "0" not in text]
        for j, condition in enumerate(conditions):
            for k, leaving in enumerate(leavings):
                if i + j + k <= _MAX_RANK:
                    inner = indentation + parsed.tree.default_indent
                    text = f"if {condition.format(subject)}:{end}{inner}{leaving}{end}{indentation}"
                    yield Change(start, start, text, _RANK + i + j + k)


def _parts(parsed: Parsed, test: cst.BaseExpression) -> Iterator[Change]:
    """Guards in a condition, for the variables whose attributes or items it asks for."""
    if isinstance(test, cst.IfExp | cst.Lambda | cst.NamedExpr):
        return
    start, end = parsed.span(test)
    inside = (node.value for node in parsed.inside(test) if isinstance(node, cst.Attribute | cst.Subscript))
    names = dict.fromkeys(node.value for node in inside if isinstance(node, cst.Name) and node.value not in ("self", "cls"))
    for i, name in enumerate(islice(names, _MAX_SUBJECTS)):
        for j, part in enumerate(_PARTS):
            if "and" in part and isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.Or) and not test.lpar:
                yield Change(start, end, f"{part.format(name)}({parsed.text(test)})", _RANK + i + j)
            else:
                yield Change(start, start, part.format(name), _RANK + i + j)


def _subjects(parsed: Parsed, statement: cst.CSTNode) -> dict[str, bool]:
    """The variables, and attributes of variables, that a statement reads before a block in it; and whether they may be numbers."""
    known, found = scopes(parsed), dict[str, bool]()
    body = getattr(statement, "body", None)
    until = parsed.spans[body][0] if isinstance(body, cst.BaseSuite) else parsed.spans[statement][1]
    local = {o.node: o.how for v in known.variables if v.scope.kind == "function" for o in v.occurrences}
    for node in sorted(parsed.inside(statement), key=lambda n: parsed.spans[n]):
        if not isinstance(node, cst.Name) or local.get(node) not in ("read", "augmented") or parsed.spans[node][0] >= until:
            continue
        above: cst.CSTNode = node
        if node.value in ("self", "cls"):
            above = parsed.parents[node]
            if not isinstance(above, cst.Attribute) or parsed.is_called(above):
                continue
        text = parsed.source[slice(*parsed.spans[above])]
        found[text] = found.get(text, False) or isinstance(parsed.parents[above], _NUMERIC)
    return found


def _leavings(parsed: Parsed, statement: cst.CSTNode, function: Function | None) -> list[str]:
    """How a guard there may leave, the likeliest first."""
    found = ["continue"] if _loop(parsed, statement) is not None else []
    if function is not None:
        found += _endings(parsed, function, parsed.spans[statement][0])
    return list(dict.fromkeys([*found, "break"] if "continue" in found else found))


def _endings(parsed: Parsed, function: Function, at: int) -> list[str]:
    """The other returns of a function that need nothing computed, and its raises, the nearest first; else one that gives nothing."""
    returns = [node for node in parsed.all(cst.Return) if parsed.function_of(node) is function]
    raises = [node for node in parsed.all(cst.Raise) if parsed.function_of(node) is function]
    gives = any(node.value is not None for node in returns)
    ready: list[cst.Return | cst.Raise] = [n for n in returns if n.value is None or _is_ready(parsed, n.value, at)]
    ready = sorted([*ready, *raises], key=lambda node: abs(parsed.spans[node][0] - at))
    texts = [text for node in ready if "\n" not in (text := parsed.text(node))]
    return list(dict.fromkeys([*texts, "return None" if gives else "return"]))


def _is_ready(parsed: Parsed, value: cst.BaseExpression, at: int) -> bool:
    """Whether a value can be given at an offset, with nothing computed: a literal, or a variable that is bound above."""
    match value:
        case cst.Name():
            variable = scopes(parsed).of.get(value)
            return variable is None or any(parsed.spans[bound.node][1] <= at for bound in variable.bindings)
        case cst.Integer() | cst.Float() | cst.SimpleString():
            return True
        case cst.List(elements=[]) | cst.Tuple(elements=[]) | cst.Dict(elements=[]):
            return True
        case cst.UnaryOperation():
            return _is_ready(parsed, value.expression, at)
    return False


def _loop(parsed: Parsed, statement: cst.CSTNode) -> cst.CSTNode | None:
    """The loop that a `continue` there would go on with."""
    below = statement
    for above in parsed.ancestors(statement):
        if isinstance(above, cst.FunctionDef | cst.ClassDef):
            return None
        if isinstance(above, cst.For | cst.While) and above.body is below:
            return above
        below = above
    return None

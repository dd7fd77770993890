"""Write a `match` as a chain of `if`, `elif` and `else` that makes the same comparisons in the same order.

Precondition: every pattern is a literal or dotted name (compared by `==`), None, True or False (by `is`), a built-in type without arguments
(`int()`, by isinstance), alternatives of these, `_`, or one of them with a name for all of it, that without a guard, which would see the
name. The subject is a local variable that neither the patterns nor the guards bind, or the match is in a function, where a fresh variable
holds it. Sequences, mappings and classes with arguments look into the subject in ways that no expression does.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import libcst as cst

from ...python.syntax.effects import bound_elsewhere, effects, reflective
from ...python.syntax.layout import fresh, newline, own_block, reindented
from ...python.syntax.parsed import Parsed
from ...python.syntax.scopes import scopes
from ...text_edits import Edit
from ..morphism import Refused, Site

EXAMPLE = (
    "def name(n):\n    match n:\n        case 0 | 1:\n            return 'few'\n        case _:\n            return 'many'\n",
    "def name(n):\n    if n == 0 or n == 1:\n        return 'few'\n    else:\n        return 'many'\n",
)
# match requires that a class in a pattern is a type; these are
TYPES = ("bool", "bytearray", "bytes", "complex", "dict", "float", "frozenset", "int", "list", "object", "set", "str", "tuple")
SUBJECTS = ("subject", "matched", "choice", "case_value", "selected")


def places(parsed: Parsed) -> Iterator[tuple[Site, cst.Match]]:
    """Each `match`; what: its subject."""
    yield from ((Site(*parsed.spans[node], parsed.text(node.subject)), node) for node in parsed.all(cst.Match))


def edits(parsed: Parsed, node: cst.Match, rng: random.Random) -> list[Edit]:
    """Put `if` in its place. Raises Refused."""
    indentation = parsed.indentation(node)
    if indentation is None:
        raise Refused("the match does not begin its line")
    first = parsed.line_start(parsed.spans[node.cases[0]][0])
    if parsed.source[parsed.source.index(":", parsed.span(node.subject)[1]) + 1 : first].strip():
        raise Refused("a comment stands between match and its first case")
    subject, assignment = _subject(parsed, node, rng)
    if assignment is not None:
        assignment = f"{assignment}{newline(parsed)}{indentation}"
    text = "".join(_clauses(parsed, node, subject, indentation))
    return [Edit(*parsed.spans[node], (assignment or "") + text)]


def _subject(parsed: Parsed, node: cst.Match, rng: random.Random) -> tuple[str, str | None]:
    """The name of the subject in the branches, and the assignment that gives it this name, or None where it has it already."""
    known = scopes(parsed)
    variable = known.of.get(node.subject) if isinstance(node.subject, cst.Name) else None
    inside = {n for case in node.cases for part in (case.pattern, case.guard) if part is not None for n in parsed.inside(part)}
    if variable is not None and variable.scope.node is parsed.function_of(node) and isinstance(node.subject, cst.Name):
        asked = not isinstance(node.cases[0].pattern, cst.MatchAs) or effects(parsed).surely_bound(node.subject)
        if asked and not bound_elsewhere(variable) and not any(o.node in inside for o in variable.bindings):
            return variable.name, None
    if parsed.function_of(node) is None:
        raise Refused("outside of a function the subject would have to be kept in a variable that others see")
    if (word := reflective(parsed)) is not None:
        raise Refused(f"the file uses {word}, which may see a new variable")
    if isinstance(node.subject, cst.Tuple) and not node.subject.lpar:
        raise Refused("the subject is a tuple without parentheses, whose patterns look into it")
    name = fresh(parsed, rng, SUBJECTS)
    return name, f"{name} = {parsed.text(node.subject)}"


def _clauses(parsed: Parsed, node: cst.Match, subject: str, indentation: str) -> Iterator[str]:
    end = None
    for number, case in enumerate(node.cases):
        start, stop = parsed.spans[case]
        if end is not None:
            yield reindented(parsed, end, parsed.line_start(start), parsed.source[parsed.line_start(start) : start], indentation)
        condition, name = _branch(parsed, case, subject)
        head = "else:" if condition is None and number else f"{'elif' if number else 'if'} {condition or 'True'}:"
        yield head if number == 0 else indentation + head
        colon = parsed.source.index(":", parsed.span(case.guard or case.pattern)[1]) + 1
        old = parsed.source[parsed.line_start(start) : start]
        yield _body(parsed, case, (colon, stop), (old, indentation), name and f"{name} = {subject}")
        end = stop


def _body(parsed: Parsed, case: cst.MatchCase, span: tuple[int, int], indentations: tuple[str, str], binding: str | None) -> str:
    start, stop = span
    if binding is None:
        return reindented(parsed, start, stop, *indentations)
    inner = own_block(parsed, case.body)
    if inner is None:
        raise Refused("a case that binds a name has its body on its own line")
    old, new = indentations
    first = parsed.line_start(parsed.spans[case.body.body[0]][0])
    rest = reindented(parsed, first - 1, stop, old, new)[1:]
    return f"{reindented(parsed, start, first, old, new)}{new}{inner.removeprefix(old)}{binding}{newline(parsed)}{rest}"


def _branch(parsed: Parsed, case: cst.MatchCase, subject: str) -> tuple[str | None, str | None]:
    """The condition of a case, None where its pattern always matches; and the name that it binds the subject to, if it does."""
    pattern, name = case.pattern, None
    if isinstance(pattern, cst.MatchAs):
        name = pattern.name.value if pattern.name is not None else None
        if name is not None and case.guard is not None:
            raise Refused(f"the guard of a case may see the name {name} that it binds")
        condition = _condition(parsed, pattern.pattern, subject) if pattern.pattern is not None else None
    else:
        condition = _condition(parsed, pattern, subject)
    if case.guard is None:
        return condition, name
    guard = parsed.text(case.guard)
    if condition is None:
        return guard, name
    return f"{condition if ' or ' not in condition else f'({condition})'} and ({guard})", name


def _condition(parsed: Parsed, pattern: cst.MatchPattern, subject: str) -> str | None:
    """The expression that is true where the pattern matches; None for `_`. Raises Refused."""
    match pattern:
        case cst.MatchValue():
            text = parsed.text(pattern.value)
            return f"{subject} == {text if len(text.splitlines()) == 1 else f'({text})'}"
        case cst.MatchSingleton():
            return f"{subject} is {pattern.value.value}"
        case cst.MatchAs(pattern=None, name=None):
            return None
        case cst.MatchOr():
            return " or ".join(_condition(parsed, part.pattern, subject) or "True" for part in pattern.patterns)
        case cst.MatchClass(cls=cst.Name(value=kind)) if not pattern.patterns and not pattern.kwds:
            if not scopes(parsed).is_builtin(pattern.cls, *TYPES):
                raise Refused(f"{kind} may be something else than the built-in type")
            if not scopes(parsed).unbound("isinstance"):
                raise Refused("isinstance is bound to something else")
            return f"isinstance({subject}, {kind})"
        case cst.MatchAs():
            raise Refused("a name inside of a pattern is bound where no expression binds it")
    raise Refused(f"the pattern {parsed.text(pattern)!r} looks into the subject")

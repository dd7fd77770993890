"""The rules for Java, on tree-sitter's trees: what each proposes, and whether a program with a change parses. javac is not asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations

from tree_sitter import Node

from ..grammars import parser_of
from ..morphisms.java.modify_condition import conditions
from ..morphisms.java.program.flow import may_be_constant
from ..morphisms.java.program.names import Variable, is_final, is_write, names_of
from ..morphisms.java.program.syntax import (
    COMMENTS,
    TYPE_BODIES,
    JavaSource,
    ancestors,
    bare,
    callable_around,
    field,
    operator,
    parse,
    role,
    splice,
    walk,
    with_operator,
)
from ..morphisms.java.program.types import NUMERIC, UNBOXED, arguments, is_boolean, library_class, of_variable, type_of
from ..text_edits import Edit, changed_span
from .rule import Change, Rule, touches

_ORDER = ("<", "<=", ">", ">=")
_FREE = {sign: tuple(s for s in _ORDER if s != sign) for sign in _ORDER} | {"==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",)}
_ON_NUMBERS = {"+": ("-",), "-": ("+",), "*": ("+",), "/": ("*",), "%": ("/",), "<<": (">>",), ">>": ("<<",)}
_ASSIGNING = {"+=": ("-=",), "-=": ("+=",), "*=": ("+=",), "/=": ("*=",)}
# what stands by mistake for what
_BUGS = _FREE | _ON_NUMBERS | _ASSIGNING | {"++": ("--",), "--": ("++",)}
_WITH_OPERATOR = frozenset({"binary_expression", "assignment_expression", "update_expression"})
# those that move a limit by one come first
_FIRST = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
_INDEXES = frozenset({"identifier", "field_access", "method_invocation"})
_INDEXED = ("charAt", "get", "substring", "subList")
_LARGEST = 2**31 - 1
# what a `!` takes whole
_UNARY = frozenset({"identifier", "field_access", "array_access", "method_invocation", "parenthesized_expression"})
_UNARY |= frozenset({"cast_expression", "unary_expression"})
_CALLS = frozenset({"method_invocation", "object_creation_expression", "explicit_constructor_invocation"})
# calls that do not mind in which order their arguments are
_SYMMETRIC = ("max", "min", "hypot", "addExact", "multiplyExact")
_GUARD_RANK = 2


@dataclass(slots=True)
class _Rule:
    """A rule as `rule.Rule` has it."""

    EXAMPLE: tuple[str, str]
    changes: Callable[[str, tuple[int, int]], Iterable[Change]]


def parses(source: str, change: Change) -> bool:
    """Whether the source with the change parses."""
    return not parser_of("java").parse(change.of(source).encode()).root_node.has_error


def _changed(java: JavaSource, edits: Iterable[Edit], rank: int = 0) -> Change:
    """The one change that makes all edits, with blanks where words or operators would run into one another."""
    return Change(*changed_span(java.source, splice(java.source, list(edits))), rank)


def _other_operators(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Another operator: `a - b` becomes `a + b`, `total -= x` becomes `total += x`, `i--` becomes `i++`, `<` each other one of its kind.

    Arithmetic is left alone where its operands are not shown to be numbers. Where the wrong operator needed brackets, they may go with it:
    `(a + b) * c` becomes `a * b * c`.
    """
    java = parse(source)
    nodes = [n for n in walk(java.root) if n.type in _WITH_OPERATOR and operator(n) in _BUGS]
    tokens = [(n, next(c for c in n.children if c.type == operator(n))) for n in nodes]
    for node, token in sorted(tokens, key=lambda pair: pair[1].start_byte):
        if not touches(*java.span(token), lines) or (token.type not in _FREE and not _on_numbers(java, node)):
            continue
        others = dict.fromkeys([*_BUGS[token.type], *(sign for sign, made in _BUGS.items() if token.type in made)])
        for rank, other in enumerate(sorted(others, key=lambda sign: _FIRST.get(token.type) != sign)):
            yield from _with(java, node, token, other, rank)


def _on_numbers(java: JavaSource, node: Node) -> bool:
    """Whether all operands of an expression are shown to be numbers."""
    operands = [c for c in node.named_children if c.type not in COMMENTS]
    return all(UNBOXED.get(t := type_of(java, o) or "", t) in NUMERIC for o in operands)


def _with(java: JavaSource, node: Node, token: Node, sign: str, rank: int) -> Iterator[Change]:
    place = Edit(*java.span(token), sign)
    if node.type != "binary_expression":
        yield _changed(java, [place], rank)
        return
    yield _changed(java, with_operator(java, node, sign), rank)
    around = [node.parent] if node.parent is not None and node.parent.type == "parenthesized_expression" else []
    inside = [side for side in (field(node, "left"), field(node, "right")) if side.type == "parenthesized_expression"]
    for brackets in (around, inside):
        if brackets:
            yield _changed(java, [place, *(edit for one in brackets for edit in _without(java, one))], rank + 1)


def _without(java: JavaSource, brackets: Node) -> tuple[Edit, Edit]:
    start, end = java.span(brackets)
    return Edit(start, start + 1, ""), Edit(end - 1, end, "")


def _one_more_or_less(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """A whole number that counts or indexes changes by one, ` + 1` or ` - 1` goes away, an index gets one."""
    java = parse(source)
    for number in _numbers(java):
        if touches(*java.span(number), lines):
            value = int(java.text(number))
            near = [other for other in (value - 1, value + 1) if 0 <= other <= _LARGEST]
            yield from (Change(*java.span(number), str(other), rank) for rank, other in enumerate(near))
    for node in walk(java.root):
        if touches(*java.span(node), lines):
            yield from _sums(java, node)


def _numbers(java: JavaSource) -> Iterator[Node]:
    """The whole numbers that count or index something."""
    for node in walk(java.root):
        above = node.parent
        if node.type != "decimal_integer_literal" or above is None or not java.text(node).isdecimal():
            continue
        if (above.type == "binary_expression" and operator(above) in ("+", "-") and type_of(java, above) in NUMERIC) or (
            above.type == "array_access" and role(node) == "index"
        ):
            yield node
        elif above.type == "argument_list" and above.parent is not None and above.parent.type == "method_invocation":
            if java.text(field(above.parent, "name")) in _INDEXED:
                yield node
        elif above.type == "variable_declarator" and above.parent is not None and role(above.parent) == "init":
            yield node


def _sums(java: JavaSource, node: Node) -> Iterator[Change]:
    """A sum with 1 without it, and an index with it."""
    if node.type == "binary_expression" and operator(node) in ("+", "-") and type_of(java, node) in NUMERIC:
        left, right = field(node, "left"), field(node, "right")
        if java.text(right) == "1":
            yield Change(*java.span(node), java.text(left))
    elif node.type in _INDEXES and node.parent is not None and node.parent.type == "array_access" and role(node) == "index":
        yield from (Change(*java.span(node), f"{java.text(node)} {sign} 1", rank) for rank, sign in enumerate("-+", 1))


def _negations(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Negate what is boolean: put a `!` before it, or take one away."""
    java = parse(source)
    deciding = {part.id for condition in conditions(java) for part in _deciding(condition)}
    for node in walk(java.root):
        start, end = java.span(node)
        if not touches(start, end, lines):
            continue
        if node.type == "unary_expression" and operator(node) == "!":
            yield Change(start, java.span(field(node, "operand"))[0], "")
        if node.type in _UNARY and (node.id in deciding or is_boolean(java, node)):
            double = node.type == "unary_expression" or (node.parent is not None and node.parent.type == "unary_expression")
            rank = 4 if double else 0 if node.id in deciding else 2
            yield Change(start, start, "!", rank)


def _deciding(node: Node) -> Iterator[Node]:
    """What a condition is made of by `&&`, `||` and `!`, in brackets or not."""
    yield node
    if node.type == "parenthesized_expression":
        yield from _deciding(bare(node))
    elif node.type == "binary_expression" and operator(node) in ("&&", "||"):
        yield from _deciding(field(node, "left"))
        yield from _deciding(field(node, "right"))
    elif node.type == "unary_expression" and operator(node) == "!":
        yield from _deciding(field(node, "operand"))


def _swapped(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Swap two arguments of a call that are shown to have the same static type, so that the same method is called."""
    java = parse(source)
    for call in walk(java.root):
        if call.type not in _CALLS or not touches(*java.span(call), lines) or _is_symmetric(java, call):
            continue
        for one, two in combinations(arguments(call), 2):
            kind = type_of(java, one)
            if kind is not None and kind == type_of(java, two) and java.text(one) != java.text(two):
                yield _changed(java, [Edit(*java.span(one), java.text(two)), Edit(*java.span(two), java.text(one))])


def _is_symmetric(java: JavaSource, call: Node) -> bool:
    owner = call.child_by_field_name("object")
    return owner is not None and library_class(java, owner) == "Math" and java.text(field(call, "name")) in _SYMMETRIC


def _other_names(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Read another variable of the same type: first those that surely have a value, then those that nothing reads, then the nearest."""
    java = parse(source)
    variables = names_of(java).variables
    for variable in variables:
        for use in variable.uses:
            start, end = java.span(use)
            if is_write(use) or not touches(start, end, lines):
                continue
            others = [other for other in variables if other.name != variable.name and _visible(java, other, variable, use)]
            others.sort(key=lambda other: (not _has_value(java, other, use), _nearness(other, use)))
            yield from (Change(start, end, name, rank) for rank, name in enumerate(dict.fromkeys(other.name for other in others)))


def _nearness(other: Variable, use: Node) -> tuple[bool, int]:
    places = [other.declared, *other.uses]
    return any(not is_write(one) for one in other.uses), min(abs(one.start_byte - use.start_byte) for one in places)


def _visible(java: JavaSource, other: Variable, variable: Variable, use: Node) -> bool:
    """Whether another variable, of the type of one, is in scope at a use of it; whether it has a value there is not asked."""
    kind = of_variable(java, other)
    if other.doubt or kind is None or kind != of_variable(java, variable):
        return False
    declares = other.declaration.start_byte <= use.start_byte < other.declaration.end_byte and other.kind in ("local", "resource")
    return other.scope[0] <= use.start_byte < other.scope[1] and not declares


def _has_value(java: JavaSource, other: Variable, use: Node) -> bool:
    """Whether a variable that is visible at a use of another surely has a value there; where it is captured, it never changes."""
    if other.kind == "pattern":
        return False
    if other.kind == "local" and (other.initial is None or (is_final(java, other) and may_be_constant(java, other.initial))):
        return False
    place, home = callable_around(use), callable_around(other.declared)
    if other.kind in ("parameter", "lambda"):
        home = next((a for a in ancestors(other.declared) if (a.start_byte, a.end_byte) == other.scope), home)
    around = [a for a in ancestors(use) if other.scope[0] <= a.start_byte and a.end_byte <= other.scope[1]]
    if any(a.type in TYPE_BODIES for a in around) or any(a.type == "switch_block" for a in around if _skips(a, other)):
        return False
    return place == home or not any(is_write(u) for u in other.uses)


def _skips(block: Node, other: Variable) -> bool:
    """Whether a switch may jump over the declaration of a variable in one of its groups."""
    return block.start_byte < other.declared.start_byte and block.end_byte >= other.declared.end_byte


def _guarded(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Guards before parts of conditions: `s.next() == c` becomes `s != null && s.next() == c`, `a[i] > 0` `i < a.length && a[i] > 0`."""
    java = parse(source)
    for condition in conditions(java):
        for part in _conjuncts(bare(condition)):
            start, end = java.span(part)
            if touches(start, end, lines):
                guards = dict.fromkeys(guard for node in walk(part) for guard in _guards(java, node))
                yield from (Change(start, start, f"{guard} && ", rank) for rank, guard in enumerate(guards, _GUARD_RANK))


def _conjuncts(node: Node) -> Iterator[Node]:
    """The parts of a condition that `&&` joins; one with `||` would need brackets, and is left alone."""
    if node.type == "binary_expression" and operator(node) == "&&":
        yield from _conjuncts(field(node, "left"))
        yield from _conjuncts(field(node, "right"))
    elif node.type != "binary_expression" or operator(node) != "||":
        yield node


def _guards(java: JavaSource, node: Node) -> Iterator[str]:
    """What must hold for a node to be evaluated without an exception."""
    if node.type == "array_access":
        array, index = java.text(field(node, "array")), java.text(field(node, "index"))
        yield from (f"{index} < {array}.length", f"{index} >= 0", f"{array} != null")
    elif node.type == "method_invocation":
        target = node.child_by_field_name("object")
        if target is None or target.type != "identifier":
            return
        name, of = java.text(field(node, "name")), java.text(target)
        given = [java.text(one) for one in field(node, "arguments").named_children]
        if len(given) == 1 and name in ("charAt", "get"):
            yield f"{given[0]} < {of}.{'length' if name == 'charAt' else 'size'}()"
            yield f"{given[0]} >= 0"
        yield f"{of} != null"
        yield f"!{of}.isEmpty()"
    elif node.type == "field_access" and (of_field := field(node, "object")).type == "identifier":
        yield f"{java.text(of_field)} != null"


RULES: Mapping[str, Rule] = {
    "wrong_operator": _Rule(("int f(int a, int b) { return a - b; }", "int f(int a, int b) { return a + b; }"), _other_operators),
    "off_by_one": _Rule(("int f(int[] a, int n) { return a[n - 2]; }", "int f(int[] a, int n) { return a[n - 1]; }"), _one_more_or_less),
    "missing_negation": _Rule(
        (
            "int f(boolean done) { if (done) return 1; return 0; }",
            "int f(boolean done) { if (!done) return 1; return 0; }",
        ),
        _negations,
    ),
    "swapped_arguments": _Rule(
        (
            "String f(String s, int a, int b) { return s.substring(b, a); }",
            "String f(String s, int a, int b) { return s.substring(a, b); }",
        ),
        _swapped,
    ),
    "wrong_name": _Rule(("int f(int a, int b) { return a - a; }", "int f(int a, int b) { return b - a; }"), _other_names),
    "missing_guard": _Rule(
        (
            "int f(int[] a, int i) { if (a[i] > 0) return a[i]; return 0; }",
            "int f(int[] a, int i) { if (i < a.length && a[i] > 0) return a[i]; return 0; }",
        ),
        _guarded,
    ),
}

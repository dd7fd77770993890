"""Use another operator: `a - b` becomes `a + b`, `total -= x` becomes `total += x`, `i--` becomes `i++`, `<` each other one of its kind.

Arithmetic is left alone where its operands are not shown to be numbers. Where the wrong operator needed brackets, they may go with it:
`(a + b) * c` becomes `a * b * c`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...morphisms.java.program.precedence import with_operator
from ...morphisms.java.program.syntax import COMMENTS, JavaSource, field, operator, parse, walk
from ...morphisms.java.program.types import NUMERIC, UNBOXED, type_of
from ...morphisms.text_edits import Edit
from ..rule import Change, touches
from .edits import changed

EXAMPLE = ("int f(int a, int b) { return a - b; }", "int f(int a, int b) { return a + b; }")
_ORDER = ("<", "<=", ">", ">=")
_FREE = {sign: tuple(s for s in _ORDER if s != sign) for sign in _ORDER} | {"==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",)}
_ON_NUMBERS = {"+": ("-",), "-": ("+",), "*": ("+",), "/": ("*",), "%": ("/",), "<<": (">>",), ">>": ("<<",)}
_ASSIGNING = {"+=": ("-=",), "-=": ("+=",), "*=": ("+=",), "/=": ("*=",)}
# what stands by mistake for what
_BUGS = _FREE | _ON_NUMBERS | _ASSIGNING | {"++": ("--",), "--": ("++",)}
_WITH_OPERATOR = frozenset({"binary_expression", "assignment_expression", "update_expression"})
# those that move a limit by one come first
_FIRST = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}


def changes(source: str, lines: tuple[int, int]) -> Iterator[Change]:
    """Each operator of the lines becomes each other one. Raises UnreadableSource."""
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
        yield changed(java, [place], rank)
        return
    yield changed(java, with_operator(java, node, sign), rank)
    around = [node.parent] if node.parent is not None and node.parent.type == "parenthesized_expression" else []
    inside = [side for side in (field(node, "left"), field(node, "right")) if side.type == "parenthesized_expression"]
    for brackets in (around, inside):
        if brackets:
            yield changed(java, [place, *(edit for one in brackets for edit in _without(java, one))], rank + 1)


def _without(java: JavaSource, brackets: Node) -> tuple[Edit, Edit]:
    start, end = java.span(brackets)
    return Edit(start, start + 1, ""), Edit(end - 1, end, "")

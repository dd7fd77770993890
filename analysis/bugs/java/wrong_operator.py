"""Use another operator: `a + b` becomes `a - b`, `total += x` becomes `total -= x`, `i++` becomes `i--`.

Precondition: the operator of a binary expression has numbers on both sides, or is one of `==`, `!=`, `<`, `<=`, `>`, `>=`, `&&`, `||`; the
expression is not constant, gives no variable its first value and binds no pattern's variable.
"""

from __future__ import annotations

import random

from tree_sitter import Node

from ...morphisms.java.program.javac import check_not_tracked, compilable
from ...morphisms.java.program.precedence import with_operator
from ...morphisms.java.program.syntax import COMMENTS, JavaSource, field, operator, parse, walk
from ...morphisms.java.program.types import NUMERIC, UNBOXED, type_of
from ...morphisms.morphism import Refused, Site
from ...morphisms.text_edits import Edit

NAME = "wrong_operator"
EQUIVALENT = False
EXAMPLE = (
    "int f(int a, int b) { return a + b; }",
    "int f(int a, int b) { return a - b; }",
)
_ORDER = ("<", "<=", ">", ">=")
FREE = {sign: tuple(s for s in _ORDER if s != sign) for sign in _ORDER} | {"==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",)}
_ON_NUMBERS = {"+": ("-",), "-": ("+",), "*": ("+",), "/": ("*",), "%": ("/",), "<<": (">>",), ">>": ("<<",)}
_ASSIGNING = {"+=": ("-=",), "-=": ("+=",), "*=": ("+=",), "/=": ("*=",)}
_STEPPING = {"++": ("--",), "--": ("++",)}
CHANGES = FREE | _ON_NUMBERS | _ASSIGNING | _STEPPING
_WITH_OPERATOR = {"binary_expression", "assignment_expression", "update_expression"}


def tokens(java: JavaSource) -> list[tuple[Node, Node]]:
    """The expressions with an operator that may be changed, and this operator, in the order of the text."""
    nodes = [n for n in walk(java.root) if n.type in _WITH_OPERATOR and operator(n) in CHANGES]
    pairs = [(n, next(c for c in n.children if c.type == operator(n))) for n in nodes]
    return sorted(pairs, key=lambda pair: pair[1].start_byte)


def sites(source: str) -> list[Site]:
    """The operators."""
    java = parse(source)
    return [Site(*java.span(token), token.type) for _, token in tokens(java)]


def apply(source: str, site: Site, rng: random.Random) -> str:
    """Replace the operator by a random one of those that fit. Raises Refused."""
    java = parse(source)
    node, token = next((pair for pair in tokens(java) if java.span(pair[1]) == (site.start, site.end)), (None, None))
    if node is None or token is None:
        raise Refused(f"no operator stands at characters {site.start}-{site.end}")
    sign = token.type
    if sign not in FREE and not on_numbers(java, node):
        raise Refused("the operands are not shown to be numbers")
    if node.type == "binary_expression":
        check_not_tracked(java, node)
        for side in ("left", "right"):
            if sign in ("&&", "||"):
                check_not_tracked(java, field(node, side))
    new = rng.choice(CHANGES[sign])
    return compilable(java, with_operator(java, node, new) if node.type == "binary_expression" else [Edit(site.start, site.end, new)])


def on_numbers(java: JavaSource, node: Node) -> bool:
    """Whether all operands of an expression are shown to be numbers."""
    operands = [c for c in node.named_children if c.type not in COMMENTS]
    return all(UNBOXED.get(t := type_of(java, o) or "", t) in NUMERIC for o in operands)

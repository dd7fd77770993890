"""Remove an `else` with its code.

Precondition: the code does something, and javac still accepts the method: no return is missing, every variable still gets its value, every
`catch` can still catch something, and a following `else` does not go to another `if`.
"""

from __future__ import annotations

import random

from tree_sitter import Node

from ..morphism import Refused, Site
from ..text_edits import Edit
from .program.flow import assigns_tracked_variable, binds_pattern
from .program.javac import compilable
from .program.syntax import JavaSource, ancestors, field, node_at, parse, statements, walk, words

NAME = "remove_else"
EQUIVALENT = False
EXAMPLE = (
    "int f(int n) { if (n > 3) { n = 1; } else { n = 2; } return n; }",
    "int f(int n) { if (n > 3) { n = 1; } return n; }",
)
_UNCHECKED = words(
    "Exception Throwable RuntimeException Error ArithmeticException NullPointerException IllegalArgumentException IllegalStateException "
    "IndexOutOfBoundsException ArrayIndexOutOfBoundsException StringIndexOutOfBoundsException ClassCastException NumberFormatException "
    "UnsupportedOperationException NoSuchElementException InputMismatchException DateTimeException StackOverflowError"
)


def sites(source: str) -> list[Site]:
    """The ifs that have an else."""
    java = parse(source)
    return [Site(*java.span(n)) for n in walk(java.root) if n.type == "if_statement" and n.child_by_field_name("alternative")]


def apply(source: str, site: Site, rng: random.Random) -> str:  # noqa: ARG001 - nothing is random here
    """Remove the else. Raises Refused."""
    java = parse(source)
    node = node_at(java, site, {"if_statement"})
    other = node.child_by_field_name("alternative")
    if other is None:
        raise Refused("the if has no else")
    if other.type == ";" or (other.type == "block" and not statements(other)):
        raise Refused("the else does nothing")
    check_removal(java, node, other)
    return compilable(java, [Edit(java.span(field(node, "consequence"))[1], java.span(other)[1], "")])


def check_removal(java: JavaSource, node: Node, removed: Node) -> None:
    """Raise Refused where javac would no longer accept a method without an if's else, or without the whole if."""
    if assigns_tracked_variable(java, removed):
        raise Refused("a variable gets its value in what would go")
    if binds_pattern(field(node, "condition")):
        raise Refused("the condition binds a pattern's variable, whose scope would change")
    if any(n.type in {"method_invocation", "object_creation_expression", "throw_statement"} for n in walk(removed)):
        for above in ancestors(node):
            for clause in (c for c in above.children if c.type == "catch_clause"):
                kinds = next(c for p in clause.children if p.type == "catch_formal_parameter" for c in p.children if c.type == "catch_type")
                if any(java.text(k).rsplit(".", 1)[-1] not in _UNCHECKED for k in kinds.named_children):
                    raise Refused("a catch might have nothing left to catch")
    for above in ancestors(node):
        if above.end_byte != node.end_byte:
            if above.type == "if_statement" and field(above, "consequence").end_byte == node.end_byte:
                raise Refused("the else of another if would become this one's")
            break

"""Remove an `else` with its code.

Precondition: the code does something, and javac still accepts the method: no return is missing, every variable still gets its value, every
`catch` can still catch something, and a following `else` does not go to another `if`.
"""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ...text_edits import Edit
from ..morphism import Refused, Site
from .program.flow import assigns_tracked_variable, binds_pattern, flow_error
from .program.syntax import JavaSource, ancestors, field, parse, splice, statements, walk, words

EXAMPLE = (
    "int f(int n) { if (n > 3) { n = 1; } else { n = 2; } return n; }",
    "int f(int n) { if (n > 3) { n = 1; } return n; }",
)
_UNCHECKED = words(
    "Exception Throwable RuntimeException Error ArithmeticException NullPointerException IllegalArgumentException IllegalStateException "
    "IndexOutOfBoundsException ArrayIndexOutOfBoundsException StringIndexOutOfBoundsException ClassCastException NumberFormatException "
    "UnsupportedOperationException NoSuchElementException InputMismatchException DateTimeException StackOverflowError"
)


def places(java: JavaSource) -> Iterator[tuple[Site, tuple[Node, Node]]]:
    """The ifs that have an else."""
    for node in walk(java.root):
        if node.type == "if_statement" and (other := node.child_by_field_name("alternative")):
            yield Site(*java.span(node)), (node, other)


def edits(java: JavaSource, place: tuple[Node, Node], _: object) -> list[Edit]:
    """Remove the else. Raises Refused."""
    node, other = place
    if other.type == ";" or (other.type == "block" and not statements(other)):
        raise Refused("the else does nothing")
    _check_removal(java, node, other)
    removal = [Edit(java.span(field(node, "consequence"))[1], java.span(other)[1], "")]
    if reason := flow_error(parse(splice(java.source, removal))):
        raise Refused(reason)
    return removal


def _check_removal(java: JavaSource, node: Node, removed: Node) -> None:
    """Raise Refused where javac would no longer accept a method without an if's else."""
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

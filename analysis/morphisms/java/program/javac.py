"""Refusals for rewrites that javac would not compile, though the rest of the program is right."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from ...morphism import Refused
from ...text_edits import Edit
from .flow import assigns_tracked_variable, binds_pattern, flow_error, may_be_constant
from .syntax import METHODS, JavaSource, ancestors, parse, splice, walk


def check_compiles(java: JavaSource, edits: Sequence[Edit]) -> None:
    """Raise Refused where after the edits a statement would be unreachable or a return missing."""
    if reason := flow_error(parse(splice(java.source, edits))):
        raise Refused(reason)


def check_not_tracked(java: JavaSource, expression: Node, what: str = "expression") -> None:
    """Raise Refused where javac's flow analysis depends on an expression.

    It does where the expression may be constant, gives a variable its value, or binds a pattern's variable. what: its name in the message.
    """
    if may_be_constant(java, expression):
        raise Refused(f"the {what} may be constant, which javac's flow analysis sees")
    if assigns_tracked_variable(java, expression):
        raise Refused(f"a variable gets its value in the {what}")
    if binds_pattern(expression):
        raise Refused(f"the {what} binds a pattern's variable, whose scope would change")


def check_declarations_may_move(node: Node) -> None:
    """Raise Refused where one more declaration, or one at another place, could make javac refuse what the language allows.

    javac (17) gives the variable that a pattern in the condition of a `for` names to the next declaration after the loop. So whether a
    program compiles depends on how many declarations come in between.
    """
    around = [a for a in ancestors(node) if a.type in METHODS or a.type in {"static_initializer", "class_body"}]
    for loop in walk(around[0]) if around else ():
        condition = loop.child_by_field_name("condition") if loop.type == "for_statement" else None
        if condition is not None and binds_pattern(condition):
            raise Refused("javac loses track of the variable of a pattern in the condition of a for, here in the same method")

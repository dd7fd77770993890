"""Whether javac still accepts a Java file into which a bug was put."""

from __future__ import annotations

from collections.abc import Sequence

from tree_sitter import Node

from ...morphisms.java.flow import binds, may_be_constant, settles, uncompilable
from ...morphisms.java.syntax import JavaSource, parse, splice
from ...morphisms.rule import Edit, Refused


def accepted(java: JavaSource, edits: Sequence[Edit]) -> str:
    """The source after the edits. Raises Refused where a statement would be unreachable or a return missing."""
    after = splice(java.source, edits)
    reason = uncompilable(parse(after))
    if reason:
        raise Refused(reason)
    return after


def check_free(java: JavaSource, expression: Node) -> None:
    """Raise Refused where javac follows an expression: it is constant, gives a variable its value, or binds a pattern's variable."""
    if may_be_constant(java, expression):
        raise Refused("the expression may be constant, which javac's flow analysis sees")
    if settles(java, expression):
        raise Refused("a variable gets its value in the expression")
    if binds(expression):
        raise Refused("the expression binds a pattern's variable, whose scope would change")

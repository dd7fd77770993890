"""Which Java statements can complete, whether javac would find every statement reachable and every return present, and refusals of rewrites
that it would not compile, though the rest of the program is right.

Java Language Specification, section 14.22. The checks are for rewrites of a source that compiles.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from tree_sitter import Node

from ...morphism import Refused
from .names import is_final, lacks_initial_value, names_of
from .syntax import (
    BLOCKS,
    CALLABLES,
    LOOPS,
    METHODS,
    TYPE_BODIES,
    JavaSource,
    ancestors,
    bare,
    field,
    is_switch_statement,
    operator,
    statements,
    walk,
    words,
)

_STOPS = words("return_statement throw_statement break_statement continue_statement yield_statement")
_OTHER_CODE = CALLABLES | TYPE_BODIES
_NEVER_CONSTANT = words(
    "method_invocation array_access object_creation_expression instanceof_expression null_literal assignment_expression update_expression "
    "switch_expression lambda_expression"
)


def constant(java: JavaSource, expression: Node) -> bool | None:
    """The value of a boolean constant expression; None where it is none, or not evaluated here.

    Evaluated are `true`, `false`, final variables with such a value, and `!`, `&&`, `||` of these. `may_be_constant` tells of the others.
    """
    node = bare(expression)
    if node.type in {"true", "false"}:
        return node.type == "true"
    if node.type == "unary_expression" and operator(node) == "!":
        inner = constant(java, field(node, "operand"))
        return None if inner is None else not inner
    if node.type == "binary_expression" and operator(node) in ("&&", "||"):
        left, right = constant(java, field(node, "left")), constant(java, field(node, "right"))
        if left is None or right is None:
            return None
        return (left and right) if operator(node) == "&&" else (left or right)
    variable = names_of(java).meanings.get(node.id)
    if variable is not None and variable.initial is not None and variable.type == "boolean" and is_final(java, variable):
        return constant(java, variable.initial)
    return None


def may_be_constant(java: JavaSource, expression: Node) -> bool:
    """Whether javac may know the value: it has no call, no array element, and no variable that is not final."""
    for node in walk(expression):
        if node.type in _NEVER_CONSTANT:
            return False
        variable = names_of(java).meanings.get(node.id)
        if variable is not None and (variable.kind != "local" or not is_final(java, variable)):
            return False
        if variable is None and node.type == "identifier" and _is_changing_field(java, node):
            return False
    return True


def _is_changing_field(java: JavaSource, name: Node) -> bool:
    """Whether a simple name is a field of the class around it that is not final."""
    body = next((a for a in ancestors(name) if a.type in TYPE_BODIES), None)
    for member in body.named_children if body is not None and body.type == "class_body" else []:
        if member.type == "field_declaration" and any(
            field(d, "name").text == name.text for d in member.children_by_field_name("declarator")
        ):
            return not any("final" in java.text(c).split() for c in member.children if c.type == "modifiers")
    return False


def jump_target(jump: Node) -> Node | None:
    """The loop, switch or labelled statement that a break or continue jumps to; None for other statements."""
    label = next((c for c in jump.named_children if c.type == "identifier"), None)
    for above in ancestors(jump):
        if label is not None:
            if above.type == "labeled_statement" and above.children[0].text == label.text:
                return above
        elif above.type in LOOPS or (jump.type == "break_statement" and is_switch_statement(above)):
            return above
        if above.type in _OTHER_CODE:
            return None
    return None


def own_code(node: Node) -> Iterator[Node]:
    """A node and all below it that runs as part of it: nothing inside lambdas and classes."""
    yield node
    for child in node.children:
        if child.type not in _OTHER_CODE:
            yield from own_code(child)


def jumps_to(target: Node, kind: str) -> list[Node]:
    """The break or continue statements that jump to a loop, switch or labelled statement, by its label, too."""
    labels = [target.parent] if target.parent is not None and target.parent.type == "labeled_statement" else []
    aims = [target, *labels] if kind == "continue_statement" or target.type != "labeled_statement" else [target]
    return [n for n in own_code(target) if n.type == kind and jump_target(n) in aims]


def leaves(node: Node) -> bool:
    """Whether control may leave a statement otherwise than to the next one."""
    inside = {n.id for n in own_code(node)}
    for child in own_code(node):
        if child.type in {"return_statement", "throw_statement", "yield_statement"}:
            return True
        if child.type in {"break_statement", "continue_statement"}:
            target = jump_target(child)
            if target is None or target.id not in inside:
                return True
    return False


def can_complete(java: JavaSource, node: Node) -> bool:
    """Whether a statement that is reached can complete normally, by the rules of the language."""
    if node.type in _STOPS:
        return False
    if node.type in BLOCKS or node.type == "switch_block_statement_group":
        return all(can_complete(java, s) for s in statements(node))
    if node.type == "labeled_statement":
        return can_complete(java, node.named_children[-1]) or bool(jumps_to(node, "break_statement"))
    if node.type == "if_statement":
        other = node.child_by_field_name("alternative")
        return other is None or can_complete(java, field(node, "consequence")) or can_complete(java, other)
    if node.type in LOOPS:
        return _loop_completes(java, node)
    if node.type == "switch_expression":
        return _switch_completes(java, node)
    if node.type == "synchronized_statement":
        return can_complete(java, field(node, "body"))
    if node.type in {"try_statement", "try_with_resources_statement"}:
        last = [c for c in node.children if c.type == "finally_clause"]
        if last and not all(can_complete(java, b) for b in last[0].named_children if b.type == "block"):
            return False
        bodies = [field(node, "body"), *(field(c, "body") for c in node.children if c.type == "catch_clause")]
        return any(can_complete(java, body) for body in bodies)
    return True


def _loop_completes(java: JavaSource, node: Node) -> bool:
    if node.type == "enhanced_for_statement" or jumps_to(node, "break_statement"):
        return True
    condition = node.child_by_field_name("condition")
    if node.type == "for_statement" and condition is None:
        return False
    if condition is None or constant(java, condition) is True:
        return False
    if node.type == "do_statement":
        return can_complete(java, field(node, "body")) or bool(jumps_to(node, "continue_statement"))
    return True


def is_default(java: JavaSource, label: Node) -> bool:
    """Whether a switch label is `default`, or has it."""
    return any(java.text(c) == "default" for c in label.children)


def _switch_completes(java: JavaSource, node: Node) -> bool:
    if jumps_to(node, "break_statement"):
        return True
    branches = [b for b in field(node, "body").named_children if b.type in {"switch_block_statement_group", "switch_rule"}]
    if not any(is_default(java, label) for b in branches for label in b.children if label.type == "switch_label"):
        return True
    if branches[-1].type == "switch_block_statement_group":
        return can_complete(java, branches[-1])
    return any(can_complete(java, b.named_children[-1]) for b in branches)


def flow_error(java: JavaSource) -> str:
    """Why javac would refuse some method: an unreachable statement or a missing return; "" where it would not."""
    for node in walk(java.root):
        if node.type in BLOCKS or node.type == "switch_block_statement_group":
            inside = statements(node)
            for one, following in pairwise(inside):
                if not can_complete(java, one):
                    return f"line {following.start_point.row + 1} would be unreachable"
        if node.type in LOOPS:
            condition = node.child_by_field_name("condition")
            if node.type in {"while_statement", "for_statement"} and condition is not None and constant(java, condition) is False:
                return f"line {node.start_point.row + 1}: the loop would never run"
        body = node.child_by_field_name("body")
        if body is None or body.type != "block" or not can_complete(java, body):
            continue
        if node.type == "method_declaration" and java.text(field(node, "type")) != "void":
            return f"line {node.start_point.row + 1}: a return would be missing"
        if node.type == "lambda_expression" and any(n.type == "return_statement" and n.named_children for n in own_code(body)):
            return f"line {node.start_point.row + 1}: a return would be missing in the lambda"
    return ""


def has_loop_of_unknown_length(java: JavaSource, node: Node) -> bool:
    """Whether javac may find that a loop inside never ends, or never runs, by a constant whose value is not evaluated here."""
    conditions = (n.child_by_field_name("condition") for n in own_code(node) if n.type in LOOPS)
    return any(c is not None and constant(java, c) is None and may_be_constant(java, c) for c in conditions)


def binds_pattern(node: Node) -> bool:
    """Whether a pattern inside names a variable; its scope then depends on the flow."""
    return any(
        n.type in {"type_pattern", "record_pattern"} or (n.type == "instanceof_expression" and n.child_by_field_name("name"))
        for n in walk(node)
    )


def assigns_tracked_variable(java: JavaSource, node: Node) -> bool:
    """Whether a node assigns to a variable that javac tracks on every path: a local declared without a value, a field in a constructor."""
    building = any(a.type in {"constructor_body", "compact_constructor_declaration", "static_initializer"} for a in ancestors(node))
    for inner in walk(node):
        if inner.type == "assignment_expression":
            variable = names_of(java).meanings.get(bare(field(inner, "left")).id)
            if (variable is None and building) or (variable is not None and lacks_initial_value(variable)):
                return True
    return False


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

"""Write a `switch` statement as a chain of `if`, in either form, `case A:` or `case A ->`.

Precondition: no group falls through into another; `break` ends groups only; nothing declared in one group is used in another; the type of
the selector is shown, by itself or by its labels (strings, numbers, characters; constants of an enum of this file); no patterns, no `null`.
The selector is evaluated once; a null throws as it does in a `switch`. Order is free: labels differ and testing them changes nothing.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent, indent

from tree_sitter import Node

from ...text_edits import Edit
from ..morphism import Refused, Site
from .program.flow import can_complete, check_declarations_may_move, is_default, jumps_to
from .program.names import fields_of, fresh_name, variable_at
from .program.syntax import (
    BLOCKS,
    COMMENTS,
    TYPE_BODIES,
    JavaSource,
    bare,
    field,
    indentation,
    is_switch_statement,
    newline,
    statements,
    walk,
    words,
)
from .program.types import PRIMITIVE, UNBOXED, type_of

EXAMPLE = (
    "int f(int n) {\n    switch (n) {\n        case 1:\n        case 2:\n            n = 5;\n            break;\n"
    "        default:\n            n = 0;\n    }\n    return n;\n}\n",
    "int f(int n) {\n    if (n == 1 || n == 2) {\n        n = 5;\n    } else {\n        n = 0;\n    }\n    return n;\n}\n",
)
_NUMBERS = words("decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal character_literal")


@dataclass(frozen=True, slots=True)
class _Branch:
    """values: what its labels name; body: its code without the break at its end; span: where the code came from."""

    values: tuple[Node, ...]
    default: bool
    body: str
    span: tuple[int, int]


def places(java: JavaSource) -> Iterator[tuple[Site, Node]]:
    """The switch statements, without switches whose value is used."""
    yield from ((Site(*java.span(node)), node) for node in walk(java.root) if is_switch_statement(node))


def edits(java: JavaSource, switch: Node, rng: random.Random) -> list[Edit]:
    """Write it as a chain of ifs; the name of the variable that holds the selector is random. Raises Refused."""
    place = switch.parent
    assert place is not None
    if place.type == "labeled_statement":
        raise Refused("the switch has a label")
    check_declarations_may_move(switch)
    branches = _branches(java, switch)
    values = [value for branch in branches for value in branch.values]
    if not any(branch.values and not branch.default for branch in branches):
        raise Refused("there is nothing but a default")
    if any(b.default for b in branches[:-1]) and any(n.type in TYPE_BODIES for n in walk(switch)):
        raise Refused("the default would move past a class, and their numbers in class names would change")
    _check_comments(java, switch, branches)
    subject, before = _selector(java, switch, values, rng)
    tests = [" || ".join(_test(java, switch, subject, value) for value in b.values) for b in branches]
    chain = [(f"if ({test}) ", b.body) for test, b in zip(tests, branches, strict=True) if not b.default]
    chain += [("", b.body) for b in branches if b.default]
    base, end = indentation(java, switch), newline(java)
    text = " else ".join(head + _block(body, base, end) for head, body in chain)
    text = before + (end + base if before else "") + text
    if place.type not in BLOCKS and (before or place.type != "switch_block_statement_group"):
        text = "{ " + text + " }"
    return [Edit(*java.span(switch), text)]


def _block(body: str, base: str, end: str) -> str:
    if not body.strip():
        return "{" + end + base + "}"
    if '"""' in body:
        return "{" + end + body.rstrip() + end + base + "}"
    lines = body.replace("\r\n", "\n").strip("\n").rstrip()
    first, newline_found, others = lines.partition("\n")
    # code on the line of its label does not show how the next lines are indented
    plain = dedent(lines) if first[:1].isspace() and not body.startswith(" ") else first.strip() + newline_found + dedent(others)
    return "{" + end + indent(plain, base + "    ", lambda line: bool(line.strip())).replace("\n", end) + end + base + "}"


def _branches(java: JavaSource, switch: Node) -> list[_Branch]:
    body = field(switch, "body")
    nodes = [n for n in body.named_children if n.type not in COMMENTS]
    breaks = {n.id for n in jumps_to(switch, "break_statement")}
    branches, values, default = list[_Branch](), list[Node](), False
    for i, node in enumerate(nodes):
        labels = [c for c in node.children if c.type == "switch_label"]
        for label in labels:
            default = default or is_default(java, label)
            values += [_value(c) for c in label.named_children if java.text(c) != "default" and c.type not in COMMENTS]
        stop = nodes[i + 1].start_byte if i + 1 < len(nodes) else body.children[-1].start_byte
        if node.type == "switch_rule":
            text, span, cut = _rule_body(java, node, breaks)
        elif not statements(node) and i + 1 < len(nodes):
            continue
        else:
            if i + 1 < len(nodes) and can_complete(java, node):
                raise Refused(f"line {node.start_point.row + 1}: the group falls through into the next")
            text, span, cut = _group_body(java, node, labels[-1], stop, breaks)
        breaks -= cut
        branches.append(_Branch(tuple(values), default, text, span))
        values, default = [], False
    if breaks:
        raise Refused("a break stands elsewhere than at the end of a group")
    _check_scopes(java, nodes)
    return branches


def _value(node: Node) -> Node:
    if node.type in {"pattern", "guard", "type_pattern", "record_pattern", "null_literal"}:
        raise Refused(f"line {node.start_point.row + 1}: a pattern or null is matched")
    return node


def _rule_body(java: JavaSource, rule: Node, breaks: set[int]) -> tuple[str, tuple[int, int], set[int]]:
    body = rule.named_children[-1]
    if body.type != "block":
        return java.text(body), java.span(body), set()
    return _without_break(java, body.start_byte + 1, body.end_byte - 1, statements(body), breaks)


def _group_body(java: JavaSource, group: Node, label: Node, stop: int, breaks: set[int]) -> tuple[str, tuple[int, int], set[int]]:
    inside = statements(group)
    colon = next(c for c in group.children if c.start_byte >= label.end_byte and c.type == ":")
    comments = [c for c in group.children if c.type in COMMENTS]
    blocks = [s for s in inside if s.type == "block"]
    rest = [s for s in inside if s.type != "block" and s.id not in breaks]
    if len(blocks) == 1 and not rest and not comments and inside[0].type == "block":
        block = blocks[0]
        text, span, cut = _without_break(java, block.start_byte + 1, block.end_byte - 1, statements(block), breaks)
        return text, span, cut | {s.id for s in inside if s.id in breaks}
    return _without_break(java, colon.end_byte, stop, inside, breaks)


def _without_break(java: JavaSource, start: int, stop: int, inside: list[Node], breaks: set[int]) -> tuple[str, tuple[int, int], set[int]]:
    last = inside[-1] if inside and inside[-1].id in breaks else None
    span = java.character(start), java.character(stop)
    if last is None:
        return java.source[slice(*span)], span, set()
    at = java.span(last)
    return java.source[span[0] : at[0]].rstrip(" \t") + java.source[at[1] : span[1]], span, {last.id}


def _check_scopes(java: JavaSource, nodes: list[Node]) -> None:
    words = [{java.text(n) for n in walk(node) if n.type in {"identifier", "type_identifier"}} for node in nodes]
    for i, node in enumerate(nodes):
        declared = {java.text(field(d, "name")) for s in node.children for d in s.children_by_field_name("declarator")}
        declared |= {
            java.text(field(s, "name")) for s in node.children if s.type.endswith("_declaration") and s.child_by_field_name("name")
        }
        for j, used in enumerate(words):
            if i != j and declared & used:
                raise Refused(f"{min(declared & used)} is declared in one group and used in another")


def _check_comments(java: JavaSource, switch: Node, branches: list[_Branch]) -> None:
    for comment in (n for n in walk(switch) if n.type in COMMENTS):
        start, end = java.span(comment)
        if not any(b.span[0] <= start and end <= b.span[1] for b in branches):
            raise Refused(f"line {comment.start_point.row + 1}: a comment would be lost")


def _selector(java: JavaSource, switch: Node, values: list[Node], rng: random.Random) -> tuple[str, str]:
    """The expression that stands for the selector in the tests, and the declaration that it needs, or nothing."""
    selector = bare(field(switch, "condition"))
    if variable_at(java, selector) is not None:
        return java.text(selector), ""
    kind = type_of(java, selector)
    if kind not in PRIMITIVE:
        numbers = kind in UNBOXED or all(_is_number(value) for value in values)
        texts = all(value.type == "string_literal" for value in values)
        kind = "int" if numbers else "String" if texts else kind
    if kind is None:
        raise Refused("the type of the selector is not shown")
    name = fresh_name(java, rng)
    return name, f"{kind} {name} = {java.text(selector)};"


def _is_number(value: Node) -> bool:
    inner = bare(value)
    if inner.type == "unary_expression":
        inner = bare(field(inner, "operand"))
    return inner.type in _NUMBERS


def _test(java: JavaSource, switch: Node, subject: str, value: Node) -> str:
    text = java.text(value)
    if _is_number(value):
        return f"{subject} == {text}"
    if value.type == "string_literal":
        return f"{subject}.equals({text})"
    kind = type_of(java, bare(field(switch, "condition")))
    if kind in PRIMITIVE or kind in UNBOXED:
        return f"{subject} == {text}" if value.type in {"identifier", "field_access"} else f"{subject} == ({text})"
    if kind == "String":
        return f"{subject}.equals({text})"
    if kind is not None and value.type == "identifier" and text in _constants(java, kind):
        return f"{subject}.equals({kind}.{text})"
    raise Refused(f"line {value.start_point.row + 1}: what {text} is depends on a type that is not shown")


def _constants(java: JavaSource, kind: str) -> frozenset[str]:
    """The constants of an enum of this file, whose name means nothing else in it."""
    name = kind.rsplit(".", 1)[-1]
    enums = [n for n in walk(java.root) if n.type == "enum_declaration" and java.text(field(n, "name")) == name]
    hidden = any(java.text(n) == kind.split(".")[0] and n.type == "identifier" and _is_declared_name(n) for n in walk(java.root))
    hidden = hidden or any(kind.split(".")[0] in fields_of(java, b) for b in walk(java.root) if b.type in TYPE_BODIES)
    if len(enums) != 1 or hidden:
        return frozenset()
    return frozenset(java.text(field(c, "name")) for c in field(enums[0], "body").named_children if c.type == "enum_constant")


def _is_declared_name(node: Node) -> bool:
    above = node.parent
    return (
        above is not None
        and above.type in {"variable_declarator", "formal_parameter", "catch_formal_parameter", "resource"}
        and (above.child_by_field_name("name") == node)
    )

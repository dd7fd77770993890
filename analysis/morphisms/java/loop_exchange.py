"""Write a `for` as a `while`, and a `while` as a `for`.

The variables of a `for` are declared before the loop (in a block of their own where their names mean something else nearby), and its
updates stand at the end of the body and before every `continue` of this loop.

Precondition for `for`: the body can come to its end, so that javac finds the updates reachable; no `continue` leaves a `try` or a
`synchronized` (the updates would run inside); no name that the updates use is declared in the body; no comment in the header.
"""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import indent

from tree_sitter import Node

from ...text_edits import Edit
from ..morphism import Refused, Site
from .program.flow import (
    binds_pattern,
    can_complete,
    check_declarations_may_move,
    constant,
    has_loop_of_unknown_length,
    jumps_to,
    may_be_constant,
)
from .program.names import names_of
from .program.syntax import BLOCKS, COMMENTS, JavaSource, ancestors, field, indentation, newline, splice, walk

EXAMPLE = (
    "int f(int n) {\n    int s = 0;\n    for (int i = 0; i < n; i++) {\n        s += i;\n    }\n    return s;\n}\n",
    "int f(int n) {\n    int s = 0;\n    int i = 0;\n    while (i < n) {\n        s += i;\n        i++;\n    }\n    return s;\n}\n",
)
_LOOPS = frozenset({"for_statement", "while_statement"})
_GUARDED = frozenset({"try_statement", "try_with_resources_statement", "synchronized_statement"})


def places(java: JavaSource) -> Iterator[tuple[Site, Node]]:
    """The `for` and `while` loops."""
    yield from ((Site(*java.span(n), n.type.split("_")[0]), n) for n in walk(java.root) if n.type in _LOOPS)


def edits(java: JavaSource, loop: Node, _: object) -> list[Edit]:
    """Write the loop in the other way. Raises Refused."""
    check_declarations_may_move(loop)
    return _as_for(java, loop) if loop.type == "while_statement" else [_as_while(java, loop)]


def _as_for(java: JavaSource, loop: Node) -> list[Edit]:
    condition = field(loop, "condition")
    start, end = java.span(condition)
    keyword = java.span(loop)[0]
    inner = java.source[start + 1 : end - 1]
    if binds_pattern(condition):
        raise Refused("javac loses track of the variable of a pattern in the condition of a for")
    if any(n.type == "line_comment" for n in walk(condition)):
        raise Refused("a comment stands in the condition")
    return [Edit(keyword, keyword + len("while"), "for"), Edit(start, end, f"(; {inner.strip()}; )")]


def _as_while(java: JavaSource, loop: Node) -> Edit:
    body = field(loop, "body")
    if any(c.type in COMMENTS for c in loop.children) or any(c.type == "line_comment" for p in _header(loop) for c in walk(p)):
        raise Refused("a comment stands in the header")
    if _is_labelled(loop) and loop.parent is not None and _is_labelled(loop.parent):
        raise Refused("the loop has two labels")
    updates = [java.text(u) + ";" for u in loop.children_by_field_name("update")]
    continues = jumps_to(loop, "continue_statement")
    condition = loop.child_by_field_name("condition")
    if condition is not None and constant(java, condition) is None and may_be_constant(java, condition):
        raise Refused("the condition may be constant, which javac's flow analysis sees")
    if updates:
        _check_updates(java, loop, body, continues)
    whole = loop.parent if loop.parent is not None and _is_labelled(loop) else loop
    before, outer = _initial(java, loop, whole)
    base, end = indentation(java, whole), newline(java)
    text = _changed_body(java, body, updates, continues, indentation(java, loop))
    head = f"while ({'true' if condition is None else java.text(condition)}) "
    label = java.source[java.span(whole)[0] : java.span(loop)[0]]
    lines = [*before, label + head + text]
    if outer:
        return Edit(*java.span(whole), (end + base).join(lines))
    inner = end.join([*before, _dedented(label + head + text, base)])
    block = "{" + end + indent(inner, base + "    ", lambda line: bool(line.strip())) + end + base + "}"
    if any(n.type == "multiline_string_fragment" for n in walk(loop)):
        block = "{ " + " ".join([*before, label + head + text]) + " }"
    return Edit(*java.span(whole), block)


def _is_labelled(node: Node) -> bool:
    return node.parent is not None and node.parent.type == "labeled_statement"


def _dedented(text: str, base: str) -> str:
    """The text with the white space `base` taken from the start of every line after the first."""
    first, *others = text.split("\n")
    return "\n".join([first, *(line.removeprefix(base) for line in others)])


def _header(loop: Node) -> list[Node]:
    return [n for name in ("init", "condition", "update") for n in loop.children_by_field_name(name)]


def _check_updates(java: JavaSource, loop: Node, body: Node, continues: list[Node]) -> None:
    if not can_complete(java, body) and not continues:
        raise Refused("the body never comes to its end, so the updates never run")
    if has_loop_of_unknown_length(java, body):
        raise Refused("a loop in the body may never end in javac's eyes")
    for jump in continues:
        inside = (a for a in ancestors(jump) if body.start_byte <= a.start_byte and a.end_byte <= body.end_byte)
        if any(a.type in _GUARDED for a in inside):
            raise Refused("a continue leaves a try or a synchronized, which the updates would run inside of")
    used = {java.text(n) for u in loop.children_by_field_name("update") for n in walk(u) if n.type in {"identifier", "type_identifier"}}
    declared = {v.name for v in names_of(java).variables if body.start_byte <= v.declared.start_byte < body.end_byte}
    declared |= {
        java.text(field(n, "name")) for n in walk(body) if n.type in {"class_declaration", "record_declaration", "enum_declaration"}
    }
    if any(n.type == "class_body" for u in loop.children_by_field_name("update") for n in walk(u)):
        raise Refused("an update declares a class")
    if used & declared:
        raise Refused(f"{min(used & declared)}, which the updates use, is declared in the body, too")


def _initial(java: JavaSource, loop: Node, whole: Node) -> tuple[list[str], bool]:
    """The statements to stand before the loop, and whether they can stand in the block that the loop, with its label, stands in."""
    parts = loop.children_by_field_name("init")
    before = [java.text(p) if p.type == "local_variable_declaration" else java.text(p) + ";" for p in parts]
    place = whole.parent
    if not before:
        return [], True
    if place is None or place.type not in BLOCKS:
        return before, False
    names = {v.name for v in names_of(java).variables for p in parts if p.start_byte <= v.declared.start_byte < p.end_byte}
    later = (n for s in place.named_children if s.start_byte >= whole.end_byte for n in walk(s))
    return before, not any(n.type in {"identifier", "type_identifier"} and java.text(n) in names for n in later)


def _changed_body(java: JavaSource, body: Node, updates: list[str], continues: list[Node], base: str) -> str:
    start, stop = java.span(body)
    spans = [(java.span(jump), f"{{ {' '.join([*updates, java.text(jump)])} }}") for jump in continues] if updates else []
    local = [Edit(first - start, last - start, text) for (first, last), text in spans]
    text, end = splice(java.source[start:stop], local), newline(java)
    last = end + base + "    "
    added = "".join(last + update for update in updates) if can_complete(java, body) else ""
    if body.type == "block":
        if not added:
            return text
        inner = text[1:-1]
        return "{" + inner.rstrip() + added + end + base + "}"
    if body.type == ";":
        return "{" + added + end + base + "}" if added else ";"
    return "{" + last + text + added + end + base + "}"

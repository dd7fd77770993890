"""Java source as a tree-sitter tree, with offsets in characters, edits that keep all other characters, and the precedence of operators."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

from tree_sitter import Node

from ....grammars import parser_of
from ....python.source_text import UnreadableSource
from ....text_edits import Edit
from ...morphism import Refused


def words(text: str) -> frozenset[str]:
    """The words of a text, for tables of names."""
    return frozenset(text.split())


COMMENTS = frozenset({"line_comment", "block_comment"})
TYPE_BODIES = frozenset({"class_body", "interface_body", "enum_body", "annotation_type_body"})
METHODS = frozenset({"method_declaration", "constructor_declaration", "compact_constructor_declaration"})
CALLABLES = METHODS | {"lambda_expression", "static_initializer"}
LOOPS = frozenset({"for_statement", "enhanced_for_statement", "while_statement", "do_statement"})
BLOCKS = frozenset({"block", "constructor_body"})
STATEMENTS = (
    words(
        "block labeled_statement if_statement switch_expression synchronized_statement local_variable_declaration throw_statement "
        "try_statement try_with_resources_statement expression_statement assert_statement break_statement continue_statement "
        "return_statement yield_statement class_declaration interface_declaration enum_declaration record_declaration ;"
    )
    | LOOPS
)

# The walks over the tree are recursive, with a few calls a level.
_MAX_DEPTH = 200

_PARSER = parser_of("java")
# An escape that javac replaces by its character before it splits the text into tokens; it follows an even number of backslashes.
_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u+([0-9a-fA-F]{4})")
# Two characters that would be one token if nothing stood between them.
_MEETING = re.compile(r"[\w$]{2}|([-+&|<>=])\1")


@dataclass(frozen=True, slots=True, eq=False)
class JavaSource:
    """One file, equal only to itself, as its nodes are.

    starts: the byte at which each character starts; None where every character is one byte.
    """

    source: str
    data: bytes
    root: Node
    starts: Sequence[int] | None

    def character(self, byte: int) -> int:
        """The character that starts at a byte."""
        return byte if self.starts is None else bisect_left(self.starts, byte)

    def span(self, node: Node) -> tuple[int, int]:
        """The start and end of a node, in characters of the source."""
        return self.character(node.start_byte), self.character(node.end_byte)

    def text(self, node: Node) -> str:
        """The source of a node."""
        return self.data[node.start_byte : node.end_byte].decode()


@lru_cache(maxsize=16)
def parse(source: str) -> JavaSource:
    """Parse a Java file. Raises UnreadableSource, with line and reason, where it can't be parsed with certainty."""
    try:
        data = source.encode()
    except UnicodeEncodeError as error:
        raise UnreadableSource(f"not text: {error.reason} at character {error.start}") from None
    root = _PARSER.parse(data).root_node
    if root.has_error:
        wrong = next((node for child in root.children for node in walk(child) if node.is_error or node.is_missing), root)
        raise UnreadableSource(f"line {wrong.start_point.row + 1}: not Java that can be parsed")
    level, depth = [root], 0
    while level:
        if depth > _MAX_DEPTH:
            raise UnreadableSource(f"line {level[-1].start_point.row + 1}: code nested more than {_MAX_DEPTH} deep, as in a very long sum")
        level, depth = [child for node in level for child in node.children], depth + 1
    starts = None if len(data) == len(source) else [0, *accumulate(len(c.encode()) for c in source)]
    java = JavaSource(source, data, root, starts)
    for escape in _ESCAPE.finditer(source):
        at = java.root.descendant_for_byte_range(*(len(source[:i].encode()) for i in (escape.end() - 1, escape.end())))
        inside = at is not None and at.type in {"escape_sequence", "character_literal", *COMMENTS}
        if int(escape[1], 16) < 0x80 or not inside:
            line = source.count("\n", 0, escape.start()) + 1
            raise UnreadableSource(f"line {line}: the Unicode escape {escape[0].lstrip(chr(92))} may stand for a token")
    return java


def walk(node: Node) -> Iterator[Node]:
    """The node and all below it, in the order of the source."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def ancestors(node: Node) -> Iterator[Node]:
    """The nodes around a node, the nearest first."""
    above = node.parent
    while above is not None:
        yield above
        above = above.parent


def callable_around(node: Node) -> Node | None:
    """The method, constructor, lambda or initialiser that a node is code of; None outside of all."""
    for above in ancestors(node):
        if above.type in CALLABLES or (above.type == "block" and above.parent is not None and above.parent.type == "class_body"):
            return above
        if above.type in TYPE_BODIES:
            return None
    return None


def field(node: Node, name: str) -> Node:
    """The child of a node by its field name. Raises Refused where there is none."""
    child = node.child_by_field_name(name)
    if child is None:
        raise Refused(f"line {node.start_point.row + 1}: a {node.type.replace('_', ' ')} without its {name}")
    return child


def operator(node: Node) -> str:
    """The operator of a unary, binary, update or assignment expression."""
    child = node.child_by_field_name("operator")
    return child.type if child is not None else next(c.type for c in node.children if not c.is_named)


def bare(node: Node) -> Node:
    """An expression without the parentheses around it."""
    while node.type == "parenthesized_expression":
        node = next(c for c in node.named_children if c.type not in COMMENTS)
    return node


def statements(block: Node) -> list[Node]:
    """The statements of a block, a constructor's body or a switch group, in their order."""
    return [c for c in block.children if c.type in STATEMENTS or c.type == "explicit_constructor_invocation"]


def is_switch_statement(node: Node) -> bool:
    """Whether a switch is a statement, whose value is not used."""
    above = node.parent
    if node.type != "switch_expression" or above is None:
        return False
    if above.type in BLOCKS or above.type in {"switch_block_statement_group", "labeled_statement"}:
        return True
    return role(node) in ({"body"} if above.type in LOOPS else {"consequence", "alternative"} if above.type == "if_statement" else ())


def role(node: Node) -> str | None:
    """The name of the field that a node is of its parent."""
    above = node.parent
    return None if above is None else next((above.field_name_for_child(i) for i, c in enumerate(above.children) if c == node), None)


def indentation(java: JavaSource, node: Node) -> str:
    """The white space at the start of the line on which a node starts."""
    start = java.span(node)[0]
    line = java.source[java.source.rfind("\n", 0, start) + 1 : start]
    return line[: len(line) - len(line.lstrip())]


def newline(java: JavaSource) -> str:
    """The line end of the file."""
    return "\r\n" if "\r\n" in java.source else "\n"


def splice(source: str, edits: Sequence[Edit]) -> str:
    """The source after all edits, with a space between words and operators that would run into one another.

    Raises Refused where two edits change the same characters.
    """
    out, at = "", 0
    for edit in sorted(edits, key=lambda e: (e.start, e.end)):
        if edit.start < at:
            raise Refused("two changes would meet on the same characters")
        out, at = _joined(_joined(out, source[at : edit.start]), edit.text), edit.end
    return _joined(out, source[at:])


def _joined(before: str, after: str) -> str:
    return f"{before} {after}" if _MEETING.fullmatch(before[-1:] + after[:1]) else before + after


_LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>", ">>>"),
    ("+", "-"),
    ("*", "/", "%"),
)
LEVEL = {sign: level for level, signs in enumerate(_LEVELS) for sign in signs}


def with_operator(java: JavaSource, node: Node, new: str) -> list[Edit]:
    """The edits that give a binary expression another operator, with brackets so that all operands stay the same."""
    old = operator(node)
    token = next(c for c in node.children if c.type == old)
    edits, level = [Edit(*java.span(token), new)], LEVEL[new]
    if level == LEVEL[old]:
        return edits
    left, right, above = field(node, "left"), field(node, "right"), node.parent
    for side in (left, right):
        if side.type == "binary_expression" and (LEVEL[operator(side)] < level or (side == right and LEVEL[operator(side)] == level)):
            edits += _brackets(java, side)
    if above is not None and above.type == "binary_expression":
        outer = LEVEL[operator(above)]
        if level < outer or (level == outer and field(above, "right") == node):
            edits += _brackets(java, node)
    return edits


def _brackets(java: JavaSource, node: Node) -> list[Edit]:
    start, end = java.span(node)
    return [Edit(start, start, "("), Edit(end, end, ")")]

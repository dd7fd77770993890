"""The statements of a Python file: which block each stands in, its kind, and the characters it takes up.

They are read from tree-sitter's tree, which has the syntax of all Pythons. That parser also reads what is no Python. So a text is first
parsed by Python itself, or by libcst where the syntax is newer than the Python that runs; libcst is some fifteen times slower. Nothing here
writes code: whoever changes a file cuts and pastes its text, so what is not changed stays the same byte for byte.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

from ..grammars import mistakes_in, parser_of
from .source_text import BOM, UnreadableSource, characters, line_starts, without_warnings

if TYPE_CHECKING:
    from tree_sitter import Node

_SEMICOLON = re.compile(r"(?:[ \t\f]|\\\r?\n)*;(?:[ \t\f]|\\\r?\n)*")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement, or several that share a line (`a = 1; b = 2`) and count as one of the first one's kind.

    start, end: offsets; from the first decorator's @, where there is one, to before a trailing comment.
    first_line, last_line: from 1.
    header_last_line: of a compound statement the last line before its first block's statements, else last_line.
    runs: whether it makes code that a tracer sees (`global`, a bare annotation or constant make none).
    own_line: whether its code begins a line.
    blocks: those of a compound statement, in the source's order.
    """

    kind: str
    start: int
    end: int
    first_line: int
    last_line: int
    header_last_line: int
    runs: bool
    own_line: bool
    blocks: tuple[tuple[Statement, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Docstring:
    """One of the plain strings that a module, class or function begins with: source[start:end], parentheses included.

    first: whether it is the docstring; a later one would become it if the ones before were removed. alone: whether the body has nothing
    else and may not be empty.
    """

    start: int
    end: int
    first_line: int
    last_line: int
    first: bool
    alone: bool


@dataclass(frozen=True, slots=True)
class Function:
    """One function.

    name: dotted, with the names of the classes and functions around it. first_line: that of its `def`.
    """

    name: str
    first_line: int
    last_line: int
    docstring: Docstring | None
    body: tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Module:
    """A file's functions and docstrings, in the source's order, outer before inner.

    starts: as `line_starts`. continued: the lines, from 1, that continue a string from an earlier line.
    """

    functions: tuple[Function, ...]
    docstrings: tuple[Docstring, ...]
    starts: tuple[int, ...]
    continued: frozenset[int]


def blocks_of(function: Function) -> Iterator[tuple[Statement, ...]]:
    """A function's own block and the blocks inside it, without those of functions inside it."""
    pending = [function.body]
    while pending:
        block = pending.pop()
        yield block
        pending.extend(inner for statement in reversed(block) if statement.kind != "function" for inner in reversed(statement.blocks))


def all_statements(block: tuple[Statement, ...]) -> Iterator[Statement]:
    """Every statement of a block and of the blocks inside it, also of functions."""
    pending = list(reversed(block))
    while pending:
        statement = pending.pop()
        yield statement
        pending.extend(inner for block in reversed(statement.blocks) for inner in reversed(block))


def is_covered(statement: Statement, lines: Collection[int]) -> bool:
    """Whether a line of the statement (of its header, where it has blocks) is among the executed lines."""
    return any(line in lines for line in range(statement.first_line, statement.header_last_line + 1))


def begins_line(source: str, line_start: int, start: int) -> bool:
    """Whether the code at an offset of a line is the first of a logical line."""
    if source[line_start:start].strip():
        return False
    before = source[max(line_start - 2, 0) : line_start].rstrip("\r\n")
    if not before.endswith("\\"):
        return True
    # a backslash at the end of a comment does not join lines
    previous = source[:line_start].rstrip("\r\n")
    return previous[max(previous.rfind("\n"), previous.rfind("\r")) + 1 :].lstrip().startswith("#")


def header_last_line(first: int, blocks: Sequence[Sequence[Statement]]) -> int:
    """The last line of the header of a compound statement whose keyword is on line `first`."""
    inside = blocks[0][0]
    return max(first, inside.first_line - inside.own_line)


def joined_where_lines_are_shared(source: str, statements: Sequence[Statement]) -> tuple[Statement, ...]:
    """Join the statements that have only semicolons between them."""
    found: list[Statement] = []
    for statement in statements:
        between = _SEMICOLON.match(source, found[-1].end) if found else None
        if between and between.end() == statement.start:
            before = found[-1]
            last = statement.last_line
            runs = before.runs or statement.runs
            found[-1] = replace(before, end=statement.end, last_line=last, header_last_line=last, runs=runs)
        else:
            found.append(statement)
    return tuple(found)


# tree-sitter ends no line there
_CARRIAGE_RETURN = re.compile(r"\r(?!\n)")
_STARRED = re.compile(r"((?:[,(\[=]|\breturn|\byield)[ \t]*)\*(?=[\w(\[])")
_ALIAS = re.compile(rb"type(?:\s|\\\r?\n)+\w")
_CLAUSES = frozenset({"elif_clause", "else_clause", "except_clause", "except_group_clause", "finally_clause", "case_clause"})
_CONSTANTS = frozenset({"integer", "float", "ellipsis", "true", "false", "none"})


def parse_statements(source: str) -> Module:
    """The statements of a text, in any syntax from Python 3.0 on that the running Python or libcst reads.

    Raises UnreadableSource with line and reason.
    """
    found = _read(source)
    if isinstance(found, str):
        raise UnreadableSource(found)
    return found


@lru_cache(maxsize=8)
def _read(source: str) -> Module | str:
    """The statements, or why they can't be read: that, too, is asked again and again."""
    text = source.removeprefix(BOM)
    try:
        with without_warnings():
            ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        from .libcst_parsing import parse_module

        refusal = f"not Python that can be parsed: {error}"
        try:
            parse_module(text)
        except UnreadableSource as other:
            return f"{refusal}; and by libcst: {str(other).splitlines()[0]}"
    try:
        return _Reader(source).module()
    except UnreadableSource as refused:
        return str(refused)


def _tree(text: str) -> Node:
    """Tree-sitter's tree. Its grammar lacks a product behind a star, as in `return *[a] * n, b`: such stars are taken away."""
    parser, lines = parser_of("python"), text.split("\n")
    tree = parser.parse(text.encode(errors="surrogatepass"))
    for first, last in mistakes_in(tree):
        lines[first : last + 1] = (_STARRED.sub(lambda found: f"{found[1]} ", line) for line in lines[first : last + 1])
    return parser.parse("\n".join(lines).encode(errors="surrogatepass")).root_node if tree.root_node.has_error else tree.root_node


class _Reader:
    """Makes statements of nodes, and collects the functions and docstrings of the file on the way."""

    def __init__(self, source: str) -> None:
        text = source.removeprefix(BOM)
        self.source = source
        self.starts = line_starts(source)
        self.offsets = characters(text, len(source) - len(text))
        self.root = _tree(_CARRIAGE_RETURN.sub("\n", text))
        self.functions: list[Function] = []
        self.docstrings: list[Docstring] = []

    def module(self) -> Module:
        body = _code(self.root)
        self.leading_strings(body, empty=True)
        self.block(body, ())
        functions = sorted(self.functions, key=lambda f: (f.first_line, -f.last_line))
        docstrings = sorted(self.docstrings, key=lambda d: d.start)
        return Module(tuple(functions), tuple(docstrings), tuple(self.starts), frozenset(self.inside_strings()))

    def inside_strings(self) -> Iterator[int]:
        """The numbers of the lines that continue a string from an earlier line."""
        pending = [self.root]
        while pending:
            node = pending.pop()
            if node.start_point.row == node.end_point.row and "\r" not in self.source:
                continue
            if node.type == "string":
                yield from range(self.line(node.start_byte) + 1, self.line(node.end_byte) + 1)
            pending += node.named_children

    def line(self, byte: int) -> int:
        """The number, from 1, of the line that a byte is on."""
        return max(1, bisect_right(self.starts, self.offsets[byte], hi=len(self.starts) - 1))

    def block(self, nodes: Iterable[Node], names: tuple[str, ...]) -> tuple[Statement, ...]:
        return joined_where_lines_are_shared(self.source, [self.statement(node, names) for node in nodes])

    def statement(self, whole: Node, names: tuple[str, ...]) -> Statement:
        node = whole.child_by_field_name("definition") or whole
        names = (*names, _name(node)) if node.type in ("function_definition", "class_definition") else names
        blocks = tuple(self.block(body, names) for body in _bodies(node))
        if node.is_error or not all(blocks) or (not blocks and node.type in ("function_definition", "class_definition")):
            raise UnreadableSource(f"line {node.start_point.row + 1}: syntax that tree-sitter does not read")
        start, end, last = self.offsets[whole.start_byte], self.offsets[whole.end_byte], self.line(whole.end_byte)
        keyword, first = self.line(node.start_byte), self.line(whole.start_byte)
        if blocks:
            end, last = blocks[-1][-1].end, blocks[-1][-1].last_line
        if node.type in ("function_definition", "class_definition"):
            docstring = self.leading_strings(next(_bodies(node)))
            if node.type == "function_definition":
                self.functions.append(Function(".".join(names), keyword, last, docstring, blocks[0]))
        return Statement(
            kind=_kind(node),
            start=start,
            end=end,
            first_line=first,
            last_line=last,
            header_last_line=header_last_line(keyword, blocks) if blocks else last,
            runs=_runs(node),
            own_line=begins_line(self.source, self.starts[first - 1], start),
            blocks=blocks,
        )

    def leading_strings(self, body: Sequence[Node], *, empty: bool = False) -> Docstring | None:
        """Collect the plain strings that a body begins with. empty: whether the body may be empty without them. Returns the first."""
        strings = list(takewhile(_is_plain_string, body))
        alone = len(strings) == len(body) and not empty
        places = [(node.start_byte, node.end_byte) for node in strings]
        found = [
            Docstring(self.offsets[start], self.offsets[end], self.line(start), self.line(end), first=i == 0, alone=alone)
            for i, (start, end) in enumerate(places)
        ]
        self.docstrings.extend(found)
        return found[0] if found else None


def _code(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type not in ("comment", "line_continuation")]


def _name(node: Node) -> str:
    name = node.child_by_field_name("name")
    assert name is not None
    assert name.text is not None
    return name.text.decode()


def _bodies(node: Node) -> Iterator[list[Node]]:
    """The statement lists of a compound statement; an `elif` is a block of the `if` that it belongs to."""
    for child in node.named_children:
        if child.type == "block" and node.type != "match_statement":
            yield _code(child)
        elif child.type in _CLAUSES or child.type == "block":
            yield from _bodies(child)


def _kind(node: Node) -> str:
    """The kind of a statement: the first word of its grammar's name, mostly."""
    if node.type == "expression_statement":
        (inner,) = _code(node)[:1]
        return "assign" if inner.type in ("assignment", "augmented_assignment") else "expression"
    word = node.type.partition("_")[0]
    # `type(a).b = c` is an alias for the grammar
    if word == "type" and node.text is not None and not _ALIAS.match(node.text):
        return "assign"
    return {"future": "import", "print": "expression", "exec": "expression"}.get(word, word)


def _bare(node: Node) -> Node | None:
    """The only expression of an expression statement, without parentheses."""
    while node.type in ("expression_statement", "parenthesized_expression"):
        inner = _code(node)
        if len(inner) != 1 or "," in [child.type for child in node.children]:
            return None
        node = inner[0]
    return node


def _strings_of(node: Node) -> list[Node]:
    """The strings that an expression statement consists of; none where it is something else."""
    value = _bare(node) if node.type == "expression_statement" else None
    if value is None:
        return []
    return _code(value) if value.type == "concatenated_string" else [value] if value.type == "string" else []


def _has_prefix(strings: Sequence[Node], letters: str) -> bool:
    beginnings = (part.children[0].text or b"" for part in strings)
    return any(letter in text.decode().lower() for text in beginnings for letter in letters)


def _is_plain_string(statement: Node) -> bool:
    return bool(strings := _strings_of(statement)) and not _has_prefix(strings, "bft")


def _runs(node: Node) -> bool:
    if node.type in ("global_statement", "nonlocal_statement"):
        return False
    if strings := _strings_of(node):
        return _has_prefix(strings, "ft")
    value = _bare(node) if node.type == "expression_statement" else None
    if value is not None and value.type == "assignment":
        return value.child_by_field_name("right") is not None
    return value is None or value.type not in _CONSTANTS

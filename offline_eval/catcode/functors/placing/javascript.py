"""JavaScript: a function, or a constant that is one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from .....analysis.corpora.comments import without_comments
from .....analysis.grammars import parser_of
from .....analysis.python.source_text import UnreadableSource
from .header import NEUTRAL, Header, NoHeader, renamed

_PARSER = parser_of("javascript")
_FUNCTIONS = frozenset({"function_declaration", "generator_function_declaration"})
_EXPORTS = re.compile(
    r"^(?:module\.)?exports\b.*$|^export\s+(?:default\s+)?(?=function|const|let|class|async)|^export\s*\{.*\};?$", re.MULTILINE
)


def header_of(prompt: str, name: str | None) -> Header:
    """The header in a prompt that ends where the body begins. Raises NoHeader."""
    try:
        bare = without_comments(f"{prompt.rstrip()}\n}}\n", "javascript")
    except UnreadableSource:
        raise NoHeader("it can't be parsed") from None
    data = bare.encode()
    found = [(called, node, body) for called, node, body in _functions(data) if name in (None, called)]
    if not found:
        raise NoHeader(f"it defines no function {name or 'at all'}")
    called, node, body = found[-1]
    above, signature = data[: node.start_byte].decode(), data[node.start_byte : body.start_byte + 1].decode()
    return Header(above, f"{signature}\n", called)


def placed(header: Header, code: str) -> str:
    """The program. Code that defines the function stays as it is, below what is given above it and what it does not define again."""
    code = _EXPORTS.sub("", code)
    defined = {called for called, _, _ in _functions(code.encode())}
    if header.name in defined:
        given = {called for called, _, _ in _functions(header.above.encode())}
        return f"{code}\n" if given & defined else f"{header.above}{code}\n"
    candidates = [f"{header.text}{code}\n", f"{header.text}{code}\n}}\n"]
    return next((each for each in candidates if parses(each)), candidates[-1])


def parses(program: str) -> bool:
    """Whether it can be parsed."""
    return not _PARSER.parse(program.encode(errors="replace")).root_node.has_error


def anonymous(program: str, name: str) -> str:
    """The program with the function renamed; there are no types."""
    return renamed(program, name, NEUTRAL)


def _functions(data: bytes) -> Iterator[tuple[str, Node, Node]]:
    """The name, statement and body of each function of the top level."""
    for node in _PARSER.parse(data).root_node.children:
        if node.type in _FUNCTIONS:
            yield from _named(data, node, node)
        elif node.type in ("lexical_declaration", "variable_declaration"):
            for each in node.named_children:
                value = each.child_by_field_name("value")
                if each.type == "variable_declarator" and value is not None:
                    yield from _named(data, each, value, node)


def _named(data: bytes, named: Node, function: Node, statement: Node | None = None) -> Iterator[tuple[str, Node, Node]]:
    name, body = named.child_by_field_name("name"), function.child_by_field_name("body")
    if name is not None and body is not None:
        yield data[name.start_byte : name.end_byte].decode(), statement or named, body

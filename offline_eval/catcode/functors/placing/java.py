"""Java: a method of a class."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tree_sitter import Node

from .....analysis.corpora.comments import without_comments
from .....analysis.grammars import parser_of
from .....analysis.python.source_text import UnreadableSource
from .header import NEUTRAL, Header, NoHeader, renamed

_PARSER = parser_of("java")
# What a class is called where its own name would tell what it does.
NEUTRAL_CLASS = "Program"
# Of the tests: a class of an answer that only shows the method at work, and is called so, too, would hide it.
TEST_CLASS = "Main"
_NOT_TYPES = frozenset({"import_declaration", "package_declaration"})
_CLASS = re.compile(r"\bclass\s+(\w+)")


def header_of(prompt: str, name: str | None) -> Header:
    """The header in a prompt that ends where the method's body begins. Raises NoHeader."""
    try:
        bare = without_comments(f"{prompt.rstrip()}\n}}\n}}\n", "java")
    except UnreadableSource:
        raise NoHeader("it can't be parsed") from None
    data = bare.encode()
    found = [node for node in _methods(_root(data)) if name in (None, _name(data, node))]
    body = found[-1].child_by_field_name("body") if found else None
    if body is None:
        raise NoHeader(f"it declares no method {name or 'at all'} with a body")
    start = data.rfind(b"\n", 0, found[-1].start_byte) + 1
    return Header(data[:start].decode(), data[start : body.start_byte + 1].decode() + "\n", _name(data, found[-1]))


def placed(header: Header, code: str) -> str:
    """The program. A method that code declares moves into the header's class with its neighbours, and is as public and static as there."""
    data = code.encode(errors="replace")
    found = [node for node in _methods(_root(data)) if _name(data, node) == header.name]
    if found and not _root(data).has_error:
        return _with_methods(header, data, found[-1])
    bare = f"class {NEUTRAL_CLASS} {{\n{code}\n}}\n".encode(errors="replace")
    alone = [node for node in _methods(_root(bare)) if _name(bare, node) == header.name]
    if alone and not _root(bare).has_error:
        return _with_methods(header, bare, alone[-1])
    candidates = [f"{header.text}{code}\n{'}' * count}" for count in (0, 1, 2)]
    return next((each for each in candidates if parses(each)), code if _CLASS.search(code) else candidates[-1])


def parses(program: str) -> bool:
    """Whether the grammar can parse it; whether it compiles only the compiler tells."""
    return not _root(program.encode(errors="replace")).has_error


def anonymous(program: str, name: str) -> str:
    """The program with the method and its class renamed; the types stay, as the language needs them."""
    found = _CLASS.findall(program)
    text = renamed(program, found[0], NEUTRAL_CLASS) if found else program
    return renamed(text, name, NEUTRAL)


def _with_methods(header: Header, data: bytes, method: Node) -> str:
    """The class of the header with all members of the method's class, and what stands around that class."""
    body = method.parent
    assert body is not None, "a method stands somewhere"
    if body.type == "class_body":
        members = list(body.named_children)
        outside = [node for node in _root(data).named_children if not node.start_byte <= method.start_byte < node.end_byte]
    else:
        members = [node for node in body.named_children if node.type != "import_declaration"]
        outside = [node for node in body.named_children if node.type == "import_declaration"]
    kinds = [word for word in re.split(r"[\s(<]+", header.signature) if word in ("public", "protected", "private", "static")]
    own = [_member(data, node, kinds if node == method else None, static="static" in kinds) for node in members]
    again = {_name(data, node) for node in members if node.type == "method_declaration"}
    imports = [_text(data, node) for node in outside if node.type == "import_declaration"]
    types = [node for node in outside if node.type.endswith("_declaration") and node.type not in _NOT_TYPES]
    classes = [_text(data, node) for node in types if _name(data, node) != TEST_CLASS]
    return "\n".join([*imports, _without_methods(header.above, again), *own, "}", *classes, ""])


def _member(data: bytes, node: Node, kinds: Sequence[str] | None, *, static: bool) -> str:
    """A member of a class. kinds: modifiers in place of its own. static: methods are, as one of a static method's class must be."""
    if node.type != "method_declaration":
        return _text(data, node)
    own = next((child for child in node.children if child.type == "modifiers"), None)
    text = data[own.end_byte if own else node.start_byte : node.end_byte].decode().lstrip()
    if kinds is not None:
        return " ".join([*kinds, text])
    had = _text(data, own).split() if own else []
    return " ".join([*had, *(["static"] if static and "static" not in had else []), text])


def _without_methods(above: str, names: set[str]) -> str:
    """What is given above the method, without methods of these names."""
    data = f"{above}\n}}".encode()
    text = data
    for node in reversed([node for node in _methods(_root(data)) if _name(data, node) in names]):
        text = text[: node.start_byte] + text[node.end_byte :]
    return text.decode().removesuffix("\n}")


def _methods(node: Node) -> Iterator[Node]:
    if node.type == "method_declaration":
        yield node
    elif node.type in ("program", "class_declaration", "class_body"):
        for child in node.named_children:
            yield from _methods(child)


def _name(data: bytes, declared: Node) -> str:
    name = declared.child_by_field_name("name")
    return "" if name is None else data[name.start_byte : name.end_byte].decode()


def _text(data: bytes, node: Node) -> str:
    return data[node.start_byte : node.end_byte].decode()


def _root(data: bytes) -> Node:
    return _PARSER.parse(data).root_node

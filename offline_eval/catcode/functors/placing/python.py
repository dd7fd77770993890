"""Python: a function at the left margin."""

from __future__ import annotations

import ast
import re
import textwrap

from .....analysis.corpora.comments import without_comments
from .....analysis.python.source_text import UnreadableSource, tree_of, tree_or_none
from .header import NEUTRAL, Header, NoHeader, renamed

INDENTATION = "    "


def header_of(prompt: str, name: str | None) -> Header:
    """The header in a prompt that ends where the body begins. Raises NoHeader."""
    last_line = prompt.rstrip().rpartition("\n")[2]
    docstring = last_line[: len(last_line) - len(last_line.lstrip())]
    for indentation in filter(None, (docstring, INDENTATION)):
        stub = f"{prompt.rstrip()}\n{indentation}pass\n"
        try:
            bare = without_comments(stub, "python")
            functions = [node for node in tree_of(bare).body if isinstance(node, ast.FunctionDef)]
        except UnreadableSource:
            continue
        named = [node for node in functions if name in (None, node.name)]
        if not named:
            raise NoHeader(f"it defines no function {name or 'at all'}")
        lines, last = bare.splitlines(keepends=True), named[-1]
        start, end = last.lineno - 1, last.body[0].lineno - 1
        return Header("".join(lines[:start]), "".join(lines[start:end]), last.name)
    raise NoHeader("it can't be parsed")


def placed(header: Header, code: str) -> str:
    """The program. Code that defines the function stays as it is, below what is given above it."""
    if re.search(rf"^(?:async )?def {re.escape(header.name)}\s*\(", code, re.MULTILINE):
        return f"{header.above}{code}\n"
    body = textwrap.indent(textwrap.dedent(code), INDENTATION)
    candidates = [f"{header.text}{code}\n", f"{header.text}{body}\n"]
    return next((each for each in candidates if parses(each)), candidates[-1])


def parses(program: str) -> bool:
    """Whether it can be parsed."""
    return tree_or_none(program) is not None


def anonymous(program: str, name: str) -> str:
    """The program with the function renamed and without annotations of types, as far as it can be parsed."""
    text = renamed(program, name, NEUTRAL)
    tree = tree_or_none(text)
    if tree is None:
        return text
    lines = text.splitlines(keepends=True)
    for start, end in sorted(_annotations(tree, lines), reverse=True):
        text = text[:start] + text[end:]
    return text


def _annotations(tree: ast.Module, lines: list[str]) -> list[tuple[int, int]]:
    """The spans of the annotations of arguments and results, with the signs that begin them."""
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def at(line: int, byte: int) -> int:
        return starts[line - 1] + len(lines[line - 1].encode()[:byte].decode())

    text, found = "".join(lines), list[tuple[int, int]]()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            found.append((at(node.lineno, node.col_offset) + len(node.arg), _end(at, node.annotation)))
        elif isinstance(node, ast.FunctionDef) and node.returns is not None:
            found.append((text.rindex("->", 0, at(node.returns.lineno, node.returns.col_offset)), _end(at, node.returns)))
    return [(len(text[:start].rstrip()) if text[start : start + 2] == "->" else start, end) for start, end in found]


def _end(at: object, node: ast.expr) -> int:
    assert callable(at)
    return int(at(node.end_lineno, node.end_col_offset))

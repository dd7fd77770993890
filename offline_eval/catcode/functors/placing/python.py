"""Python: a function at the left margin."""

from __future__ import annotations

import ast
import re
import textwrap

import libcst as cst

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
    try:
        return cst.parse_module(text).visit(_Untyped()).code
    except (cst.ParserSyntaxError, RecursionError):
        return text


class _Untyped(cst.CSTTransformer):
    """Takes the annotations of arguments and results away."""

    def leave_Param(self, original_node: cst.Param, updated_node: cst.Param) -> cst.Param:  # noqa: ARG002, N802
        return updated_node.with_changes(annotation=None)

    def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> cst.FunctionDef:  # noqa: ARG002, N802
        return updated_node.with_changes(returns=None)

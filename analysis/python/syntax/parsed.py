"""A Python source with its syntax tree, and the position of each node in the text.

Parsed by libcst, which reads the syntax of later Pythons than the one that runs. Offsets are in characters of the source.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar, cast

import libcst as cst
from libcst.metadata import ByteSpanPositionProvider, MetadataWrapper

from ..libcst_parsing import parse_module
from ..source_text import BOM as BOM
from ..source_text import UnreadableSource, characters

Node = TypeVar("Node", bound=cst.CSTNode)
Function = cst.FunctionDef | cst.Lambda


@dataclass(frozen=True, slots=True, eq=False)
class Parsed:
    """A source and its tree.

    spans: the start and end of each node, without parentheses around it. parents: that of each node except the tree. nodes: all nodes,
    outer before inner. by_kind: the same by their type.
    """

    source: str
    tree: cst.Module
    spans: Mapping[cst.CSTNode, tuple[int, int]]
    parents: Mapping[cst.CSTNode, cst.CSTNode]
    nodes: tuple[cst.CSTNode, ...]
    by_kind: Mapping[type[cst.CSTNode], Sequence[cst.CSTNode]]

    def all(self, kind: type[Node]) -> Sequence[Node]:
        """Every node of exactly this type, outer before inner."""
        return cast("Sequence[Node]", self.by_kind.get(kind, ()))

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """The start and end of a node with the parentheses around it."""
        left = getattr(node, "lpar", ())
        right = getattr(node, "rpar", ())
        start, end = self.spans[node]
        return (self.spans[left[0]][0] if left else start, self.spans[right[-1]][1] if right else end)

    def text(self, node: cst.CSTNode) -> str:
        """The node's text, with the parentheses around it."""
        start, end = self.span(node)
        return self.source[start:end]

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes around a node, the innermost first."""
        while (parent := self.parents.get(node)) is not None:
            yield parent
            node = parent

    def inside(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The node and all nodes in it."""
        pending = [node]
        while pending:
            found = pending.pop()
            yield found
            pending.extend(reversed(found.children))

    def printed(self, node: cst.CSTNode) -> bool:
        """Whether an f-string prints the node's own text (`f"{x=}"`)."""
        return any(isinstance(p, cst.FormattedStringExpression) and p.equal is not None for p in self.ancestors(node))

    def is_called(self, node: cst.CSTNode) -> bool:
        """Whether it is what a call calls."""
        above = self.parents[node]
        return isinstance(above, cst.Call) and above.func is node

    def in_annotation(self, node: cst.CSTNode) -> bool:
        """Whether it is a part of an annotation."""
        return any(isinstance(above, cst.Annotation) for above in self.ancestors(node))

    def function_of(self, node: cst.CSTNode) -> Function | None:
        """The function that executes the node; None in a module's or a class's own code.

        Defaults belong to the code around their function.
        """
        for parent in self.ancestors(node):
            if isinstance(parent, Function):
                return parent if self._within(node, parent.body) else self.function_of(parent)
            if isinstance(parent, cst.ClassDef):
                return None if self._within(node, parent.body) else self.function_of(parent)
        return None

    def _within(self, node: cst.CSTNode, outer: cst.CSTNode) -> bool:
        return node is outer or any(parent is outer for parent in self.ancestors(node))

    def line_start(self, offset: int) -> int:
        """The start of the line of an offset."""
        return max(self.source.rfind("\n", 0, offset), self.source.rfind("\r", 0, offset)) + 1

    def indentation(self, node: cst.CSTNode) -> str | None:
        """The white space before a statement that begins its line; None where something else stands before it."""
        start = self.spans[node][0]
        before = self.source[self.line_start(start) : start]
        previous = self.source[: self.line_start(start)].rstrip("\r\n")
        return before if not before.strip() and not previous.endswith("\\") else None

    def identifiers(self) -> frozenset[str]:
        """Every word of the text, also in strings and comments, in the form in which Python compares names."""
        return frozenset(unicodedata.normalize("NFKC", word) for word in re.findall(r"\w+", self.source))


def parse(source: str) -> Parsed:
    """Parse a source. Raises UnreadableSource where it is no Python, nested too deep, or not written back unchanged by the parser."""
    found = _parsed(source)
    if isinstance(found, str):
        raise UnreadableSource(found)
    return found


@lru_cache(maxsize=32)
def _parsed(source: str) -> Parsed | str:
    """A parsed source, or why it can't be read: that, too, is asked again and again."""
    text = source.removeprefix(BOM)
    try:
        tree = parse_module(text)
        if tree.code != text:
            return "the parser does not give this text back as it is"
        places = MetadataWrapper(tree, unsafe_skip_copy=True).resolve(ByteSpanPositionProvider)
    except (UnreadableSource, RecursionError) as error:
        return str(error)
    offset_of = characters(text, len(source) - len(text))
    # positions are computed with a line end at the end of the file, even where the file has none
    last = len(text.encode())
    spans = {n: (offset_of[min(p.start, last)], offset_of[min(p.start + p.length, last)]) for n, p in places.items()}
    parents: dict[cst.CSTNode, cst.CSTNode] = {}
    nodes: list[cst.CSTNode] = []
    by_kind: dict[type[cst.CSTNode], list[cst.CSTNode]] = {}
    pending: list[cst.CSTNode] = [tree]
    while pending:
        node = pending.pop()
        nodes.append(node)
        by_kind.setdefault(type(node), []).append(node)
        for child in reversed(node.children):
            parents[child] = node
            pending.append(child)
    return Parsed(source, tree, spans, parents, tuple(nodes), by_kind)

"""Programs without comments and docstrings, as CatCode shows them (Lin et al. 2024, arXiv 2403.01784): what a function does is then in its
code alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..grammars import parser_of
from ..python.docstrings import without_docstrings
from ..python.source_text import UnreadableSource
from .benchmarks import Language

if TYPE_CHECKING:
    from tree_sitter import Node

_COMMENTS = frozenset({"comment", "line_comment", "block_comment"})


def without_comments(source: str, language: Language) -> str:
    """The program without its comments, and for Python without its docstrings.

    Lines that held nothing else are gone, and so are empty lines at its ends. Raises UnreadableSource where it can't be parsed.
    """
    bare = without_docstrings(source).text if language == "python" else source
    return _without(bare, _comments(bare, language)).strip("\r\n") + "\n"


def _comments(source: str, language: Language) -> list[tuple[int, int]]:
    data = source.encode(errors="replace")
    root = parser_of(language).parse(data).root_node
    if language != "python" and root.has_error:
        raise UnreadableSource(f"not {language} that can be parsed")
    found: list[Node] = []
    left = [root]
    while left:
        node = left.pop()
        found += [node] if node.type in _COMMENTS else []
        left += reversed(node.children)
    return [(len(data[: node.start_byte].decode()), len(data[: node.end_byte].decode())) for node in found]


def _without(source: str, spans: Iterable[tuple[int, int]]) -> str:
    """The source without spans, and without the lines that hold nothing else; a space stays between what stood around one."""
    pieces, place = list[str](), 0
    for start, end in spans:
        line_start, line_end = source.rfind("\n", 0, start) + 1, source.find("\n", end)
        line_end = len(source) if line_end < 0 else line_end
        before, after = source[max(line_start, place) : start], source[end:line_end]
        kept = source[place:start]
        if not before.strip() and not after.strip() and place <= line_start:
            pieces.append(source[place:line_start])
            place = min(line_end + 1, len(source))
        elif not after.strip():
            pieces.append(kept.rstrip(" \t"))
            place = end
        else:
            pieces.append(kept if not kept or kept[-1].isspace() or after[0].isspace() else f"{kept} ")
            place = end
    return "".join([*pieces, source[place:]])

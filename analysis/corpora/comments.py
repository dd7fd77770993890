"""Programs without comments and docstrings, as CatCode shows them (Lin et al. 2024, arXiv 2403.01784): what a function does is then in its
code alone.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable, Iterator
from itertools import accumulate

from ..python.docstrings import without_docstrings
from ..python.source_text import UnreadableSource
from .benchmarks import Language


def without_comments(source: str, language: Language) -> str:
    """The program without its comments, and for Python without its docstrings.

    Lines that held nothing else are gone, and so are empty lines at its ends. Raises UnreadableSource where it can't be parsed.
    """
    match language:
        case "python":
            bare = without_docstrings(source).text
            return _trimmed(_without(bare, _python_comments(bare)))
        case "java":
            return _trimmed(_without(source, _java_comments(source)))
        case "javascript":
            return _trimmed(_without(source, _javascript_comments(source)))


def _python_comments(source: str) -> list[tuple[int, int]]:
    lines = io.StringIO(source, newline="").readlines()
    starts = [0, *accumulate(map(len, lines))]
    try:
        tokens = list(tokenize.generate_tokens(iter([*lines, ""]).__next__))
    except (tokenize.TokenError, IndentationError, SyntaxError) as error:
        raise UnreadableSource(f"can't be split into tokens: {error}") from None
    comments = [token for token in tokens if token.type == tokenize.COMMENT]
    return [(starts[c.start[0] - 1] + c.start[1], starts[c.end[0] - 1] + c.end[1]) for c in comments]


def _java_comments(source: str) -> list[tuple[int, int]]:
    from ..morphisms.java.program.syntax import COMMENTS, parse, walk

    java = parse(source)
    return [java.span(node) for node in walk(java.root) if node.type in COMMENTS]


def _javascript_comments(source: str) -> list[tuple[int, int]]:
    import tree_sitter_javascript
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Parser

    data = source.encode(errors="replace")
    root = Parser(Grammar(tree_sitter_javascript.language())).parse(data).root_node
    if root.has_error:
        raise UnreadableSource("not JavaScript that can be parsed")

    def comments(node: Node) -> Iterator[tuple[int, int]]:
        if node.type == "comment":
            yield len(data[: node.start_byte].decode()), len(data[: node.end_byte].decode())
        for child in node.children:
            yield from comments(child)

    return list(comments(root))


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


def _trimmed(source: str) -> str:
    return source.strip("\r\n") + "\n"

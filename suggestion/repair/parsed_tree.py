"""Whether a file parses with a change in it, as tree-sitter tells. It goes on behind a mistake: so mistakes are counted.

A grammar does not know all that a language has, such as the macros of C. What it takes for a mistake before a change is none of the change.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...analysis.grammars import GRAMMARS, Mistakes, mistakes_in, parser_of
from .candidate import Change, Lines

if TYPE_CHECKING:
    from tree_sitter import Parser, Tree


@dataclass(frozen=True, slots=True)
class ParsedTree:
    """A file in a language with a grammar. With a change in it only what the change touches is parsed again."""

    lines: Lines
    parser: Parser
    tree: Tree
    before: Mistakes

    @property
    def parses(self) -> bool:
        """Whether nothing is a mistake."""
        return not self.before

    @property
    def indents(self) -> bool:
        """The white space that a line begins with says nothing."""
        return False

    def breaks(self, change: Change) -> bool:
        """Whether there are more mistakes, in all or in the lines that change."""
        after = mistakes_in(self._after(change))
        return len(after) > len(self.before) or _near(after, _new(change)) > _near(self.before, _old(change))

    def mends(self, change: Change) -> bool:
        """Whether there are fewer, and none in the lines that change."""
        after = () if self.parses else mistakes_in(self._after(change))
        return len(after) < len(self.before) and not _near(after, _new(change))

    def says_the_same(self, change: Change, /) -> bool | None:
        """Whether a change is of white space and comments alone."""
        return _code(self.tree, _old(change)) == _code(self._after(change), _new(change))

    def _after(self, change: Change) -> Tree:
        start = _bytes(self.lines[: change.first])
        old, new = _encoded(self.lines[change.first : change.end]), _encoded(change.new)
        edited = self.tree.copy()
        edited.edit(
            start, start + len(old), start + len(new),
            (change.first, 0), _end(change.first, old), _end(change.first, new),
        )  # fmt: skip
        return self.parser.parse(_encoded(change.of(self.lines)), edited)


def parsed_tree(lines: Lines, language: str) -> ParsedTree | None:
    """A file as the grammar of its language has it; None where there is none."""
    if language not in GRAMMARS:
        return None
    parser = parser_of(language)
    tree = parser.parse(_encoded(lines))
    return ParsedTree(lines, parser, tree, mistakes_in(tree))


def _code(tree: Tree, lines: range) -> list[bytes | None]:
    """The tokens that touch these lines, without comments."""
    found, left = list[bytes | None](), [tree.root_node]
    while left:
        node = left.pop()
        if "comment" in node.type or not (node.start_point[0] < lines.stop and lines.start <= node.end_point[0]):
            continue
        # What a string says is all of its text: some grammars have no token for the white space in it. Strings side by side say no more.
        is_string = ("string" in node.type or "char" in node.type) and "concatenated" not in node.type
        if node.text and node.text.strip() and (is_string or node.child_count == 0):
            found.append(node.text)
        else:
            left += reversed(node.children)
    return found


def _near(mistakes: Mistakes, lines: range) -> int:
    return sum(first < lines.stop and lines.start <= last for first, last in mistakes)


def _old(change: Change) -> range:
    return range(change.first, change.end)


def _new(change: Change) -> range:
    return range(change.first, change.first + len(change.new))


def _encoded(lines: Lines) -> bytes:
    return "\n".join(lines).encode(errors="surrogatepass")


def _bytes(lines: Lines) -> int:
    """With the end of the last one."""
    return len(_encoded(lines)) + 1 if lines else 0


def _end(first: int, text: bytes) -> tuple[int, int]:
    """The line and the byte in it where a text ends that begins with a line."""
    return first + text.count(b"\n"), len(text) - (text.rfind(b"\n") + 1)

"""Lines to complete in what tree-sitter parses, as `analysis.python.lines` draws them in Python.

One random line is taken from the body of each function of more than three lines, documented or not: few languages have a place for the
documentation that every parser knows. The line is not blank, no comment, no import, not inside a string of several lines, and has a word
or a number: editors close brackets by themselves, and a line that only closes a block (`}`, `end`) is left out.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from ..grammars import GRAMMARS, Grammar, parser_of
from ..python.lines import BRACKETS, MIN_FUNCTION_LINES, Gap, Line
from ..python.source_text import UnreadableSource

if TYPE_CHECKING:
    from tree_sitter import Node

# A parser goes on behind what it does not know. With more of that, this is not the language that the file's name says.
_MAX_ERRORS = 0.1
_BODIES = frozenset({"block", "body_statement", "compound_statement", "function_body", "statement_block"})
_IS_COMMENT = re.compile(r"comment|hash_bang|shebang")
_IS_STRING = re.compile(r"string|heredoc|nowdoc|^text$|^regex$")
_IS_BLOCK = re.compile(r"heredoc|nowdoc|^text$")
_NO_NEWLINE = re.compile(rb"[^\n]")
_REQUIRES = re.compile(r"""(?:.*[=(\s])?require(?:_relative|_once)?\b[\s(]*["']""")
_SOURCES = re.compile(r"(?:source|\.)\s+\S+")
_CLOSES = re.compile(r"(?:\W|\b(?:end|fi|done|esac)\b|</[\w.:-]*>)*")


@dataclass(frozen=True, slots=True)
class _Unit:
    """A function: its name, and the numbers (from 0) of the lines of its body."""

    name: str
    rows: range


@dataclass(slots=True)
class _Seen:
    """What a walk over a tree collects.

    code: the text without comments. taken: numbers of the lines that are not drawn. brackets: of each line, byte and character of those
    that are code.
    """

    code: bytearray
    units: list[_Unit] = field(default_factory=list)
    taken: set[int] = field(default_factory=set)
    brackets: dict[int, list[tuple[int, str]]] = field(default_factory=dict)
    errors: int = 0


@dataclass(frozen=True, slots=True)
class _Parsed:
    """A text as lines are drawn from it.

    code: its lines without comments. starts: the offset of each line, and of the end. brackets: of each line, offset and character.
    """

    units: tuple[_Unit, ...]
    code: tuple[str, ...]
    taken: frozenset[int]
    starts: tuple[int, ...]
    brackets: Mapping[int, list[tuple[int, str]]]


def sample_lines(source: str, language: str, seed: str) -> list[Line]:
    """One random line of each function, no line twice. The same source and seed give the same lines.

    language: one that has a grammar. Raises UnreadableSource.
    """
    parsed, lines = _parsed(source, language), list[Line]()
    taken = set(parsed.taken)
    for unit in parsed.units:
        candidates = [row for row in unit.rows if row not in taken and _is_code(parsed.code[row], language)]
        if candidates:
            row = random.Random(f"{seed}:{unit.name}:{unit.rows.start}").choice(candidates)
            taken.add(row)
            lines.append(Line(unit.name, parsed.starts[row], parsed.starts[row] + len(_text(source, parsed, row))))
    return lines


def middle(source: str, language: str, line: Line, seed: str) -> Gap | None:
    """As in Python, the text from a random place inside a random bracket pair of the line to just before the closing bracket."""
    parsed = _parsed(source, language)
    open_, pairs = list[tuple[int, str]](), list[tuple[int, int]]()
    for at, bracket in parsed.brackets.get(source.count("\n", 0, line.start), ()):
        if bracket in BRACKETS:
            open_.append((at + 1, BRACKETS[bracket]))
        elif open_ and open_[-1][1] == bracket:
            pairs.append((open_.pop()[0], at))
    pairs = [(start, end) for start, end in pairs if source[start:end].strip()]
    if not pairs:
        return None
    rng = random.Random(f"{seed}:middle:{line.start}")
    start, end = rng.choice(pairs)
    start = rng.randint(start, end - 1)
    return Gap(start, end) if source[start:end].strip() else None  # the space before a bracket is nothing to ask for


def _is_code(text: str, language: str) -> bool:
    """Whether a line has code that a person types, and is no import that only its text tells."""
    bare = text.strip()
    return not (_CLOSES.fullmatch(bare) or _REQUIRES.match(bare) or (language == "shellscript" and _SOURCES.match(bare)))


def _text(source: str, parsed: _Parsed, row: int) -> str:
    return source[parsed.starts[row] : parsed.starts[row + 1]].rstrip("\r\n")


# The lines of a file are drawn one after another.
@lru_cache(maxsize=2)
def _parsed(source: str, language: str) -> _Parsed:
    data = source.encode(errors="surrogatepass")
    root = parser_of(language).parse(data).root_node
    seen = _Seen(bytearray(data))
    for node in _nodes(root, seen):
        _see(node, GRAMMARS[language], seen)
    if seen.errors > _MAX_ERRORS * len(data):
        raise UnreadableSource(f"not {language} that can be parsed: {seen.errors} of {len(data)} bytes are not understood")
    starts, of_bytes = [0], [0]
    for text, raw in zip(source.split("\n"), data.split(b"\n"), strict=True):
        starts.append(starts[-1] + len(text) + 1)
        of_bytes.append(of_bytes[-1] + len(raw) + 1)
    starts[-1] = len(source)
    brackets = {
        row: [(starts[row] + _characters(data[of_bytes[row] : at]), bracket) for at, bracket in found]
        for row, found in seen.brackets.items()
    }
    code = tuple(row.decode(errors="surrogatepass") for row in seen.code.split(b"\n"))
    return _Parsed(tuple(seen.units), code, frozenset(seen.taken), tuple(starts), brackets)


def _characters(data: bytes) -> int:
    return len(data.decode(errors="surrogatepass"))


def _nodes(root: Node, seen: _Seen) -> Iterator[Node]:
    """The nodes in order, without what comments and strings are made of; what is not understood is counted."""
    stack = [root]
    while stack:
        node = stack.pop()
        if node.is_error:
            seen.errors += node.end_byte - node.start_byte
            seen.taken.update(range(node.start_point[0], node.end_point[0] + 1))
            continue
        yield node
        if not (_IS_COMMENT.search(node.type) or _IS_STRING.search(node.type)):
            stack += reversed(node.children)


def _see(node: Node, grammar: Grammar, seen: _Seen) -> None:
    first, last = node.start_point[0], node.end_point[0]
    if node.is_missing:
        seen.taken.update(range(first, last + 1))
    elif not node.is_named:
        if node.type[-1:] in BRACKETS or node.type[:1] in BRACKETS.values():
            closes = node.type[:1] in BRACKETS.values()
            seen.brackets.setdefault(first, []).append((node.start_byte, node.type[0]) if closes else (node.end_byte - 1, node.type[-1]))
    elif node.type in grammar.imports:
        seen.taken.update(range(first, last + 1))
    elif _IS_COMMENT.search(node.type):
        span = slice(node.start_byte, node.end_byte)
        seen.code[span] = _NO_NEWLINE.sub(b" ", bytes(seen.code[span]))
    elif _IS_STRING.search(node.type):
        # a heredoc begins behind the line that names it
        alone = _IS_BLOCK.search(node.type) and not seen.code[node.start_byte - node.start_point[1] : node.start_byte].strip()
        # some end with their newline
        end = last if node.end_point[1] else last - 1
        seen.taken.update(range(first if alone else first + 1, end + 1))
    elif node.type in grammar.units and last - first + 1 >= MIN_FUNCTION_LINES:
        seen.units.append(_Unit(_name(node), _body(node)))


def _name(node: Node) -> str:
    named = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    while named is not None and (inner := named.child_by_field_name("declarator")) is not None:
        named = inner
    return named.text.decode(errors="replace")[:80] if named is not None and named.text is not None else node.type


def _body(node: Node) -> range:
    """The numbers of the lines behind the header."""
    body = node.child_by_field_name("body") or next((child for child in node.children if child.type in _BODIES), node)
    opens = bool(body.children) and body.children[0].type == "{"
    return range(max(node.start_point[0], body.start_point[0] - (0 if opens else 1)) + 1, node.end_point[0] + 1)

"""Whether a file parses with a change in it: Python, JSON, TOML, and each language that a grammar is installed for."""

from __future__ import annotations

import ast
import json
import re
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, Protocol

from ...analysis.lines.grammars import GRAMMARS, Mistakes, mistakes_in, parser_of
from ...calibration.language_names import name_of_language
from ..zones import is_prose
from .candidate import Change, Lines, indent_of

# What begins a statement that is not indented.
_BEGINS = re.compile(r"(?!(?:elif|else|except|finally)\b)[^\s)\]}#]")


@dataclass(frozen=True, slots=True)
class ParsedPython:
    """A file of Python. Of one that parses, only the statements around a change are read again: lines[first:end].

    indent: how far these are indented. before: their tree as they are; None for a file that does not parse.
    """

    lines: Lines
    first: int
    end: int
    indent: int
    before: ast.Module | None

    def after(self, change: Change) -> ast.Module | None:
        """The tree of these lines with a change in them; None where the file then does not parse."""
        changed = change.of(self.lines)
        if any(line.strip() and len(indent_of(line)) < self.indent for line in change.new):
            return _parsed(changed)  # it may end the block that these lines are in
        return _parsed(changed[self.first : len(changed) - (len(self.lines) - self.end)], self.indent)

    @property
    def parses(self) -> bool:
        """Whether the file does, as it is."""
        return self.before is not None

    @property
    def indents(self) -> bool:
        """Indentation is syntax."""
        return True

    def breaks(self, change: Change) -> bool:
        """Whether the file parses, and not with the change; of one that does not, whether the statement at its margin does that changes."""
        if self.parses:
            return self.after(change) is None
        first, end = _at_the_margin(self.lines, change)
        changed = change.of(self.lines)
        return _parsed(self.lines[first:end]) is not None and _parsed(changed[first : len(changed) - (len(self.lines) - end)]) is None

    def mends(self, change: Change) -> bool:
        """Whether the file parses with the change alone."""
        return not self.parses and self.after(change) is not None

    def says_the_same(self, change: Change) -> bool | None:
        """Whether a change is of white space, comments, docstrings and spelling alone; None of a file that does not parse."""
        if self.before is None:
            return None
        after = self.after(change)
        return after is not None and _dump(self.before) == _dump(after)


def parsed_python(lines: Lines, first: int, end: int) -> ParsedPython:
    """What is needed to parse a file with lines[first:end] changed, or a line beside them."""
    module = _parsed(lines)
    if module is None:
        return ParsedPython(lines, 0, len(lines), 0, None)
    first, end, indent = max(0, first - 1), min(len(lines), end + 1), 0
    inner = module.body
    for definition in _definitions_around(module, first, end):
        inner, indent = [definition], definition.col_offset
    touched = [(above, below) for above, below in map(_extent, inner) if above < end and first < below]
    if not touched:
        return ParsedPython(lines, first, end, 0, _parsed(lines[first:end]))
    first, end = min(first, touched[0][0]), max(end, touched[-1][1])
    return ParsedPython(lines, first, end, indent, _parsed(lines[first:end], indent))


def _dump(tree: ast.Module) -> str:
    """All that a tree says but its docstrings, and other strings that are statements."""
    bodies = [body for node in ast.walk(tree) if isinstance(body := getattr(node, "body", None), list)]
    whole = [body[:] for body in bodies]
    for body in bodies:
        body[:] = [statement for statement in body if not _is_string(statement)]
    dumped = ast.dump(tree)
    for body, statements in zip(bodies, whole, strict=True):
        body[:] = statements
    return dumped


def _is_string(statement: ast.AST) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str)


def _at_the_margin(lines: Lines, change: Change) -> tuple[int, int]:
    """The first line of the statement that a change is in, and the first line behind it; of statements that are not indented."""
    first = next((number for number in range(change.first, 0, -1) if _BEGINS.match(lines[number])), 0)
    return first, next((number for number in range(change.end, len(lines)) if _BEGINS.match(lines[number])), len(lines))


def _definitions_around(module: ast.Module, first: int, end: int) -> Iterator[ast.stmt]:
    """The classes and functions that hold all of these lines, the innermost last."""
    body = module.body
    while True:
        within = [statement for statement in body if (extent := _extent(statement))[0] <= first and end <= extent[1]]
        if not within or not isinstance(within[0], ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            return
        yield within[0]
        body = within[0].body


def _extent(statement: ast.stmt) -> tuple[int, int]:
    """The lines of a statement. A decorator stands above the line that a function has in the tree."""
    numbers = [statement.lineno, *(each.lineno for each in getattr(statement, "decorator_list", ()))]
    return min(numbers) - 1, statement.end_lineno or statement.lineno


def _parsed(lines: Lines, indent: int = 0) -> ast.Module | None:
    around = ("if True:",) if indent else ()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse("\n".join((*around, *lines, "")).removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


if TYPE_CHECKING:
    from tree_sitter import Parser, Tree


@dataclass(frozen=True, slots=True)
class ParsedTree:
    """A file in a language with a grammar. With a change in it only what the change touches is parsed again.

    tree-sitter goes on behind a mistake: so mistakes are counted. A grammar does not know all that a language has, such as the macros of
    C: what it takes for a mistake before a change is none of the change.
    """

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
        """In none of these languages."""
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
    if language not in GRAMMARS or not GRAMMARS[language].is_installed:
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


@dataclass(frozen=True, slots=True)
class ParsedData:
    """A file of data. before: what it says, written out; None where it can't be read."""

    lines: Lines
    read: Callable[[str], object]
    before: str | None

    @property
    def parses(self) -> bool:
        """Whether the file does, as it is."""
        return self.before is not None

    @property
    def indents(self) -> bool:
        """In none of these languages."""
        return False

    def breaks(self, change: Change) -> bool:
        """Whether the file can't be read with the change, whether or not it can without."""
        return self._after(change) is None

    def mends(self, change: Change) -> bool:
        """Whether the file can be read with the change alone."""
        return not self.parses and self._after(change) is not None

    def says_the_same(self, change: Change, /) -> bool | None:
        """Whether the file says the same with it; None of one that can't be read."""
        return None if self.before is None else self._after(change) == self.before

    def _after(self, change: Change) -> str | None:
        return _said(change.of(self.lines), self.read)


def parsed_data(lines: Lines, language: str) -> ParsedData:
    """A file in a language of `READERS`."""
    read = READERS[language]
    return ParsedData(lines, read, _said(lines, read))


def _said(lines: Lines, read: Callable[[str], object]) -> str | None:
    try:
        # 1, 1.0 and true are equal, and are not written alike.
        return repr(read("\n".join(lines).removeprefix("\ufeff")))
    except (ValueError, RecursionError):
        return None


def _json(text: str) -> object:
    return json.loads(text, parse_constant=_refused)


def _refused(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


READERS: Mapping[str, Callable[[str], object]] = {"json": _json, "toml": tomllib.loads}


# Why nothing is made of lines without code.
PROSE = "nothing can check what a repair makes of a comment, a docstring or a text of several lines."


class Parsing(Protocol):
    """A file, and what changes of it do to its syntax."""

    @property
    def parses(self) -> bool:
        """Whether the file does, as it is."""

    @property
    def indents(self) -> bool:
        """Whether the white space that a line begins with says something."""

    def breaks(self, change: Change) -> bool:
        """Whether there is a mistake of syntax with a change that there was not before."""

    def mends(self, change: Change) -> bool:
        """Whether a mistake of syntax goes with a change, and none comes."""

    def says_the_same(self, change: Change, /) -> bool | None:
        """Whether a change is of white space, comments and spelling alone; None where the text must tell."""


def parsing_of(lines: Lines, first: int, end: int, language: str) -> Parsing | None:
    """What is needed to parse a file with lines[first:end] changed, or a line beside them; None for a language that can't be parsed."""
    if language == "python":
        return parsed_python(lines, first, end)
    return parsed_data(lines, language) if language in READERS else parsed_tree(lines, language)


def why_not_parsed(language: str) -> str:
    """Why nothing in a language is repaired, in a sentence; empty where something may be."""
    if language == "python" or language in READERS or (language in GRAMMARS and GRAMMARS[language].is_installed):
        return ""
    return f"nothing can check what a repair makes of {name_of_language(language)}: there is no parser for it here."


def why_none(lines: Lines, first: int, end: int, language: str) -> str:
    """Why nothing of lines[first:end] of a file is repaired, in a sentence; empty where something may be."""
    if why := why_not_parsed(language):
        return why
    prose = prose_in(lines, first, end, language)
    return PROSE if prose and all(number in prose for number in range(first, end) if lines[number].strip()) else ""


def prose_in(lines: Lines, first: int, end: int, language: str) -> frozenset[int]:
    """Those of lines[first:end] that are a comment, a docstring, or inside of a comment or string."""
    prefix, found = "\n".join((*lines[:first], "")) if first else "", set[int]()
    for number in range(first, end):
        if is_prose(prefix, lines[number], language):
            found.add(number)
        prefix += f"{lines[number]}\n"
    return frozenset(found)

"""Parse Python with libcst. Nobody else calls its parser, which recurses in native code: a stack overflow ends the process.

So a text that is nested far deeper than code is refused before it is parsed, and the parser gets a stack of its own, whoever calls it.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import libcst as cst

from .source_text import BOM, UnreadableSource

# What each level takes of a stack, measured with libcst 1.9: a bracket or a field of an f-string 8 KiB, a lambda in a lambda's default
# 14 KiB, a link of a chain 1.5 KiB, a block 25 KiB (of which libcst itself allows 100). All of that together is below 20 MiB.
_STACK_BYTES = 64 << 20
_MAX_DEPTH = 100
_MAX_CHAIN = 1000
# libcst takes up to four times as long for each further level of a pattern
_MAX_PATTERN_DEPTH = 6
_OPENING, _CLOSING, _QUOTES = frozenset("([{"), frozenset(")]}"), frozenset(("'", '"', "'''", '"""'))
_LINKS = frozenset(("+", "-", "~", "*", "**", "/", "//", "%", "@", "&", "|", "^", "<<", ">>", ".", ":=", "=", "==", "<", ">"))
_LINKS |= _QUOTES | frozenset(("not", "and", "or", "in", "is", "if", "else", "await", "yield"))
# words that nest across commas
_CLAUSES = frozenset(("lambda", "for"))

_CODE = re.compile(
    r"""(?:[ \t\f]+|\\(?:\r\n?|\n)|\#[^\r\n]*)*
    (\r\n?|\n|'''|\"""|['"]|\d[\d_]*(?:\.\d+)?|\w+|\*\*|//|<<|>>|:=|==|.)""",
    re.VERBOSE,
)
_FORMATTED = re.compile(r"(?i)(?:[ft]|r[ft]|[ft]r)\Z")
_STRING_ENDS = {quote: re.compile(rf"(?:\\[\s\S]|(?!{quote})[\s\S])*+{quote}") for quote in ("'''", '"""')}
_STRING_ENDS |= {quote: re.compile(rf"(?:\\[\s\S]|[^\\\r\n{quote}])*+{quote}") for quote in ("'", '"')}
# the size of a stack is set for all threads that start
_lock = threading.Lock()


@dataclass(slots=True)
class _FString:
    """An f-string that is open, as libcst's tokenizer keeps it: fields and brackets in them, and format specifications, one in another."""

    quote: str
    is_raw: bool
    brackets: int = 0
    specs: int = 0

    @property
    def is_in_code(self) -> bool:
        return self.brackets > self.specs

    def closes(self) -> None:
        self.brackets -= 1
        self.specs = self.specs if self.brackets else 0


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    line: int


def _tokens(text: str) -> Iterator[_Token]:
    """The tokens of a text as libcst has them, up to what it refuses; a string is its first quote, and the text of an f-string is left out.

    Python's own tokenizer depends on the Python that runs: before 3.12 it takes the code in an f-string for text, or text for code.
    """
    at, line, before = 0, 1, ""
    open_: list[_FString] = []
    while at < len(text):
        inner = open_[-1] if open_ else None
        if inner is not None and not inner.is_in_code:
            end = _end_of_literal(text, at, inner)
            line += text.count("\n", at, end)
            at = end
            if at == len(text):
                return
            if text.startswith(inner.quote, at):
                open_.pop()
                at += len(inner.quote)
                before = "'"
                continue
        found = _CODE.match(text, at)
        if found is None:
            return
        token, at = found[1], found.end()
        line += text.count("\n", found.start(), found.start(1))
        yield _Token(token, line)
        line += token in ("\n", "\r\n")
        if token in _QUOTES:
            if _FORMATTED.match(before) and found.start() == found.start(1):
                open_.append(_FString(token, "r" in before.lower()))
            elif (end_of := _STRING_ENDS[token].match(text, at)) is None:
                return
            else:
                line += text.count("\n", at, end_of.end())
                at = end_of.end()
        elif inner is not None:
            if token in _OPENING:
                inner.brackets += 1
            elif token in _CLOSING:
                inner.closes()
            elif token in (":", ":=") and inner.brackets - inner.specs == 1:
                inner.specs += 1
                at -= len(token) - 1
        before = token


def _end_of_literal(text: str, at: int, inside: _FString) -> int:
    """Where the text of an f-string comes to a field, to the end of one, or to its own end; the text's end where libcst refuses it."""
    named = False
    while at < len(text) and not text.startswith(inside.quote, at):
        character, following = text[at], text[at + 1 : at + 2]
        if character in "\r\n" and len(inside.quote) == 1:
            return len(text)
        if character == "\\" and inside.is_raw:
            at += 1 + (following in ("'", '"', "\\"))
        elif character == "\\" and inside.specs:
            at += 1 + (following not in ("{", "}"))
        elif character == "\\":
            named |= text.startswith("N{", at + 1)
            at += 3 if text.startswith("N{", at + 1) else 1 + (following in tuple("\n\\'\"abfnrtvx0123456789NuU"))
        elif character == "}" and named:
            named, at = False, at + 1
        elif character in "{}" and (inside.specs or following != character):
            return at
        else:
            at += 1 + (character in "{}")
    return at


def check_nesting(text: str) -> None:
    """Raise UnreadableSource for far deeper nesting than code has: of brackets, and chains of operators, calls, strings or `elif`s."""
    # counts for each open bracket, the innermost last
    links, clauses = [0], [0]
    elifs = 0
    # `case` is a name, too, and behind the colon of a case there may be code
    before, has_match, is_pattern, is_second = "\n", False, False, False
    for token in _tokens(text):
        said = token.text
        if len(links) == 1 and before in ("\n", BOM):
            has_match |= said == "match"
            is_pattern, is_second = has_match and said == "case", True
        elif len(links) == 1:
            is_pattern &= said not in (":", "=", "if") and not (is_second and said == ".")
            is_second = False
        if said in _OPENING:
            links[-1] += before in _CLOSING
            links.append(0)
            clauses.append(0)
        elif said in _CLOSING and len(links) > 1:
            links.pop()
            clauses.pop()
        elif said in ("\n", "\r\n", "\r"):
            said = "\n"
            if len(links) == 1:
                links[-1] = clauses[-1] = 0
        elif said == ",":
            links[-1] = 0
        else:
            clauses[-1] += said in _CLAUSES
            links[-1] += said in _LINKS
        elifs += said == "elif"
        before = said if said != "\n" or len(links) == 1 else before
        most = _MAX_PATTERN_DEPTH if is_pattern else _MAX_DEPTH
        if len(links) > most or max(sum(links), sum(clauses), elifs) > _MAX_CHAIN:
            raise UnreadableSource(f"line {token.line}: nested too deep, or too long a chain of operators, for libcst")


def parse_module(text: str) -> cst.Module:
    """The tree of a text. Raises UnreadableSource where it is nested too deep, or libcst does not parse it."""
    check_nesting(text)
    found: list[cst.Module | BaseException] = []

    def parse() -> None:
        try:
            found.append(cst.parse_module(text))
        # a panic of the native parser is no Exception
        except BaseException as error:
            found.append(error)

    try:
        _with_stack(parse)
    except RuntimeError as error:
        raise UnreadableSource(f"it can't be parsed: {error}") from None
    match found[0]:
        case cst.Module() as tree:
            return tree
        case cst.ParserSyntaxError() as wrong:
            raise UnreadableSource(f"not Python that can be parsed: line {wrong.raw_line}: {wrong.message}")
        case RecursionError() | UnicodeError() as why:
            raise UnreadableSource(f"not Python that can be parsed: {why}")
        case Exception() as other:
            raise other
        case panic:
            raise UnreadableSource(f"libcst fails to parse it: {panic}")


def _with_stack(call: Callable[[], None]) -> None:
    """Run a call to its end in a thread with a stack for the parser: that of the present thread may be small, or used up."""
    with _lock:
        before = threading.stack_size(_STACK_BYTES)
        try:
            thread = threading.Thread(target=call, name="libcst")
            thread.start()
        finally:
            threading.stack_size(before)
    thread.join()

"""Whether a place in a file is code, a comment or a string: one light lexer for the languages of `zone_spans.py`.

It reads the comments and strings before the place and nothing else: no keywords, numbers or grammar. Broken code never makes it fail: a
string of one line ends with its line, even where its quote is missing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from .zone_spans import SPANS, Span, Zone

# Per language, and for documents that are cut or not: the beginning of the text that was read last, as far as it ends in code whatever is
# typed behind it. A text that begins so is read from there: 17,000 characters of nothing but f-strings take 8 ms, and one more key 0.1.
_KNOWN: dict[tuple[str, bool], str] = {}
# Strings in holes of strings. Nobody writes so many, and a text that does (`f"{f"{f"{…`) would cost time with each.
_MAX_DEPTH = 32

# What comments begin with. What each means in a language `zone_at` says.
_COMMENTS = ("#", "//", "/*", "--", "<!--", "=begin")
# A string of Python that a line begins with, as a docstring is; one between single quotes is the whole line, below a header.
_LONG_STRING = re.compile(r"[rRuUbB]{0,2}(?:\"{3}|'{3})")
_SHORT_STRING = re.compile(r"""[rRuUbB]{0,2}(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')\s*(?:#.*)?""")

# The head of a function or a class, which prose hardly looks like.
_DEFINITION = re.compile(
    r"^[ \t]*(?:(?:pub|export|default|async|static|public|private|protected|internal|final|abstract|override|open|unsafe|local)[ \t]+)*"
    r"(?:func[ \t]*\(|(?:def|class|func|fn|fun|function|interface|struct|enum|trait)[ \t]+[\w.]+[ \t]*(?:[(:<{\[]|extends\b|implements\b))",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class _Lexer:
    """What finds the next comment or string in code and, with brackets and line ends, in a hole.

    A match takes the code before it along. Of what is complete it has no group in `spans`; of what is not, the last one.
    """

    spans: dict[str, Span]
    code: re.Pattern[str]
    hole: re.Pattern[str]


@dataclass(slots=True)
class _Open:
    """A string that the place is in, and how many brackets are open in its hole."""

    span: Span
    depth: int = 0


def zone_at(prefix: str, language: str, *, cut: bool = False) -> Zone:
    """What the end of `prefix`, the text before the cursor, stands in. Behind the last quote of a string it is code again.

    language: the protocol's identifier; a language that is not in the table has only code. A string's holes (`{}` of an f-string, `${}` of
    a template) are code. What stands in a hole more than 32 strings deep is taken for code.

    cut: the document begins before the prefix. Whether that begins inside a string of several lines can't be seen, and taken wrongly it
    would turn all strings inside out. So the text is read from the first line that defines a function or a class; where there is none, as
    if it began in code.
    """
    if language not in SPANS:
        return "code"
    known = _KNOWN.get((language, cut), "")
    if known and prefix.startswith(known):
        at = len(known)
    else:
        definition = _DEFINITION.search(prefix) if cut else None
        if cut and definition is None:  # one that is typed later would be the beginning
            return _read(_lexer(language), prefix, 0)[0]
        at = definition.start() if definition else 0
    zone, certain = _read(_lexer(language), prefix, at)
    _KNOWN[language, cut] = prefix[:certain]
    return zone


def is_prose(prefix: str, line: str, language: str, *, cut: bool = False) -> bool:
    """Whether a line behind `prefix` is a comment, a docstring, or inside of a comment or string that begins above.

    language, cut: as of `zone_at`. A blank line in code is none. A comment or string that ends in a line makes all of it prose.
    """
    body = line.strip()
    before = prefix + line[: len(line) - len(line.lstrip())]
    if zone_at(before, language, cut=cut) != "code":
        return True
    if any(body.startswith(mark) and zone_at(before + body[: len(mark) + 1], language, cut=cut) == "comment" for mark in _COMMENTS):
        return True
    if language != "python":
        return False
    above = prefix.rstrip()
    return bool(_LONG_STRING.match(body)) or ((not above or above.endswith(":")) and bool(_SHORT_STRING.fullmatch(body)))


def _read(lexer: _Lexer, prefix: str, at: int) -> tuple[Zone, int]:
    """What the end of the text stands in, read from a place in code; and the last such place that no text behind the end can change.

    What is read as a comment, a string or code can become another when more is typed on its line (`"" ` and a third quote, `<<END` and
    the line's end), but not where a whole line end stands behind it.
    """
    line_end = max(prefix.rfind("\n"), prefix.rfind("\r", 0, -1))
    certain = at
    strings: list[_Open] = []
    while True:
        if not strings:
            certain = at if at <= line_end else certain
        event = _hole_event(lexer.hole, prefix, at, strings[-1]) if strings else _code_event(lexer, prefix, at)
        if event is None:
            return "code", certain
        name, at = event
        if name == "line":
            while strings and strings[-1].span.one_line:
                strings.pop()
            continue
        if name in lexer.spans:
            span = lexer.spans[name]
            if span.hole is None:
                return span.zone, certain
            strings.append(_Open(span))
        if len(strings) > _MAX_DEPTH:
            return "code", certain
        end = _text_end(prefix, at, strings)
        if end is None:
            return "string", certain
        at = end


def _code_event(lexer: _Lexer, text: str, at: int) -> tuple[str, int] | None:
    """The next span that is open or has a hole, by its name in the lexer, and where to go on; None where the text ends in code."""
    for match in lexer.code.finditer(text, at):
        if match.lastgroup in lexer.spans:
            return match.lastgroup, match.end()
    return None


def _hole_event(finder: re.Pattern[str], text: str, at: int, string: _Open) -> tuple[str, int] | None:
    """The same in a string's hole, or what else ends the code there: "closing", "line", or "spec" before a format."""
    assert string.span.hole
    closer = string.span.hole.closing[0]
    for match in finder.finditer(text, at):
        name = match.lastgroup
        if name == "opening":
            string.depth += 1
        elif name == "closing" and (string.depth > 0 or match[name] != closer):
            string.depth = max(0, string.depth - 1)
        elif (name == "line" and not string.span.one_line) or (name == "spec" and string.depth > 0):
            continue
        elif name is not None and not name.startswith("mark"):
            return name, match.end()
    return None


def _text_end(text: str, at: int, strings: list[_Open]) -> int | None:
    """Where the text of the innermost string gives way to code, in its next hole or behind it; None where it does not."""
    match = _text_of(strings[-1].span).match(text, at)
    if match is None:
        return None
    if match.lastgroup == "hole":
        strings[-1].depth = 0
    else:
        strings.pop()
    return match.end()


@cache
def _text_of(span: Span) -> re.Pattern[str]:
    """A string's text from a place in it up to its next hole or its end."""
    assert span.hole
    return re.compile(f"{span.body}(?:(?P<hole>{span.hole.opens})|{span.closes})")


@cache
def _lexer(language: str) -> _Lexer:
    """The lexer of a language in the table, compiled when it is first asked for."""
    spans = SPANS[language]
    first = "".join(span.first for span in spans)
    # A span that is opened and not closed is tried before the next one: an open `"""` is no empty string with a quote behind it.
    parts = [part for number, span in enumerate(spans) for part in _complete_and_open(span, number)]
    hole = next((span.hole for span in spans if span.hole), None)
    in_hole = {"opening": hole.opening, "closing": hole.closing, "spec": hole.spec, "line": "\r\n"} if hole else {}
    events = [f"(?P<{name}>[{re.escape(characters)}])" for name, characters in in_hole.items() if characters]
    return _Lexer(
        {f"s{number}": span for number, span in enumerate(spans)},
        _finder(first, parts),
        _finder(first + "".join(in_hole.values()), parts + events),
    )


def _complete_and_open(span: Span, number: int) -> tuple[str, str]:
    mark = f"mark{number}"
    complete = (span.opens + span.body + span.closes).replace("(?P<mark>", f"(?P<{mark}>").replace("(?P=mark)", f"(?P={mark})")
    return complete, f"(?P<s{number}>{span.opens.replace('(?P<mark>', '(?:')})"


def _finder(first: str, parts: list[str]) -> re.Pattern[str]:
    # The code before a span is part of the match, which matches everywhere, so that no character is looked at twice.
    return re.compile(f"[^{re.escape(first)}]*+(?:{'|'.join(parts)}|[\\s\\S]|\\Z)")

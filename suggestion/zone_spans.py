"""What comments and strings begin and end with, in each language: the table for the lexer in `zones.py`.

Known misjudgements: a regular expression literal is told from a division by what stands before it on its line (JavaScript, TypeScript,
Ruby); text between tags (JSX, HTML, PHP outside `<?php`) is code, in which a quote opens a string; block comments nest one level; a
hole of a one-line string never reaches over the line's end (Python 3.12 lets it); Ruby's strings of several lines and its `%w[]` are not
known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Zone = Literal["code", "comment", "string"]


@dataclass(frozen=True, slots=True, eq=False)
class Hole:
    """Code inside a string. `first`, `opening`, `closing` and `spec` are characters, the others patterns.

    first: the characters that `opens` and `passes` begin with; opens: the beginning; passes: what is none, and holes in which there is
    nothing to read; opening, closing: the brackets that are counted, the first closing one ends the hole; spec: what turns the rest
    of a hole back into the string's text, as Python's colon does.
    """

    first: str
    opens: str
    passes: tuple[str, ...]
    opening: str = "{"
    closing: str = "}"
    spec: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """A comment or a string, in patterns: what opens it, what it holds, what closes it.

    first: the characters that it can begin with. body: takes all it can and never the closer. closes: may refer to a group `mark` of
    `opens`. Where there are no holes, a span that is opened and not closed reaches to the end of the text.
    """

    zone: Zone
    first: str
    opens: str
    body: str
    closes: str
    hole: Hole | None = None
    one_line: bool = False


_LINE_END = r"(?=[\r\n])"
_ESCAPE = r"\\(?:\r\n|[\s\S])"


def _body(closer: str, *passes: str, stops: str = "") -> str:
    """All text up to a closer, without it; what `passes` match belongs to the text. stops: characters that end it, or begin a pass."""
    if len(closer) > 1:
        passes = (*passes, f"{re.escape(closer[0])}(?!{re.escape(closer[1:])})")
    plain = f"[^{re.escape(closer[0] + stops)}]*+"
    # Atomic, so that what was passed over is never looked at again as something else.
    return f"(?>{plain}(?:(?:{'|'.join(passes)}){plain})*)" if passes else plain


def _line_comment(opens: str, pattern: str = "") -> Span:
    return Span("comment", opens[0], pattern or re.escape(opens), r"[^\r\n]*+", _LINE_END)


def _block_comment(opens: str, closes: str, *passes: str) -> Span:
    stops = opens[0] if passes else ""
    return Span("comment", opens[0], re.escape(opens), _body(closes, *passes, stops=stops), re.escape(closes))


def _string(
    quote: str,
    *passes: str,
    opens: str = "",
    one_line: bool = False,
    escapes: bool = True,
    hole: Hole | None = None,
    zone: Zone = "string",
) -> Span:
    """A string between two equal quotes."""
    stops = ("\\" if escapes else "") + ("\r\n" if one_line else "") + (hole.first if hole else "")
    body = _body(quote, *((_ESCAPE,) if escapes else ()), *passes, *(hole.passes if hole else ()), stops=stops)
    closes = f"(?:{re.escape(quote)}|{_LINE_END})" if one_line else re.escape(quote)
    return Span(zone, quote[0], opens or re.escape(quote), body, closes, hole, one_line)


def _between(first: str, opens: str, closes: str, zone: Zone = "string") -> Span:
    """A span that is taken to the first closer, whatever stands before that."""
    return Span(zone, first, opens, r"[\s\S]*?", closes)


def _lines(*quotes: str) -> tuple[Span, ...]:
    return tuple(_string(quote, one_line=True) for quote in quotes)


def _heredoc(opens: str) -> Span:
    """The lines below the one with `opens`, up to one with nothing but its group `mark`."""
    return _between("<", opens + r"[^\r\n]*+[\r\n]++", r"(?<=[\r\n])[ \t]*+(?P=mark)(?!\w)")


def _behind(quote: str, *prefixes: str) -> str:
    """A quote with one of the prefixes (patterns of one width) before it. It begins at the quote: there are fewer quotes than letters."""
    return f"{quote}(?:{'|'.join(f'(?<={prefix}{quote})' for prefix in prefixes)})"


_SLASHES = _line_comment("//")
_HASH = _line_comment("#")
_C_BLOCK = _block_comment("/*", "*/")
_NESTED_BLOCK = _block_comment("/*", "*/", r"/(?!\*)", rf"/\*{_body('*/')}\*/")
_C_COMMENTS = (_SLASHES, _C_BLOCK)
_NESTED_COMMENTS = (_SLASHES, _NESTED_BLOCK)

# A backslash does not make text of a brace, but `\N{DASH}` has no hole.
_PYTHON_HOLE = Hole("{\\", r"\{", (r"\\(?:N\{[^{}\"'\r\n]*+\}?|\r\n|(?=\{)|[^{])", r"\{\{", r"\{[^{}\"'\\\r\n]*+\}"), "([{", "}])", ":")
_F_PREFIXES = (r"\b[fFtT]", r"\b[fFtT][rR]", r"\b[rR][fFtT]")
_PYTHON = (
    _HASH,
    *(_string(q, opens=_behind(q, *_F_PREFIXES), escapes=False, hole=_PYTHON_HOLE) for q in ('"""', "'''")),
    *(_string(q) for q in ('"""', "'''")),
    *(_string(q, opens=_behind(q, *_F_PREFIXES), escapes=False, hole=_PYTHON_HOLE, one_line=True) for q in "\"'"),
    *_lines('"', "'"),
)

_DOLLAR_HOLE = Hole("$", r"\$\{", (r"\$(?!\{)", r"\$\{[^{}\"'`/\\\r\n]*+\}"))


def _regex(keywords: str) -> Span:
    """A regular expression literal: where a value must follow, on the same line."""
    marks = "(,=:\\[!&|?;~"
    before = [f"[{marks}]", f"[{marks}] ", "=> ", *(rf"\b{keyword} " for keyword in keywords.split())]
    # The first look back spares the others behind what a division has before it.
    opens = f"/(?<=[{marks} ]/)(?![*/])" + _behind("/", *before)[1:]
    within = r"(?>(?:[^/\\\[\r\n]++|\\[^\r\n]?|\[(?>(?:[^\]\\\r\n]++|\\[^\r\n]?)*)\]?)*)"
    return Span("string", "/", opens, within, f"(?:/|{_LINE_END})")


_JAVASCRIPT = (*_C_COMMENTS, _regex("return typeof case in of"), *_lines('"', "'"), _string("`", hole=_DOLLAR_HOLE))

_CHARACTER = _string("'", opens=r"'(?:(?<![0-9A-Za-z_]')|(?<=\b[uUL]')|(?<=\bu8'))", one_line=True)
_C = (*_C_COMMENTS, _string('"', one_line=True), _CHARACTER)
_CPP = (
    *_C_COMMENTS,
    _between('"', r'"(?<=R")(?P<mark>[^()\\\s"]{0,16})\(', r'\)(?P=mark)"'),
    _string('"', one_line=True),
    _CHARACTER,
)

_CSHARP_HOLE = Hole("{", r"\{", (r"\{\{", r"\{[^{}\"'\\\r\n]*+\}"))
_CSHARP = (
    *_C_COMMENTS,
    _between('"', r'(?P<mark>"{3,}+)', "(?P=mark)"),
    _string('"', '""', opens=_behind('"', r"@\$", r"\$@"), escapes=False, hole=_CSHARP_HOLE),
    _string('"', '""', opens='"(?<=@")', escapes=False),
    _string('"', opens=r'"(?<=\$")', hole=_CSHARP_HOLE, one_line=True),
    *_lines('"', "'"),
)

_RUST_RAW = (r"\br", r"\b[bc]r")
_RUST = (
    *_NESTED_COMMENTS,
    _string('"', opens=_behind('"', *_RUST_RAW), escapes=False),
    _between("#", _behind("#", *_RUST_RAW) + r'(?P<mark>#*+)"', r'"#(?P=mark)'),
    _string('"'),
    # A lifetime has no second quote.
    Span("string", "'", r"'(?=\\|[^\\'\r\n]')", r"(?>\\[^\r\n]?[^'\r\n]*+|[^\\'\r\n])", rf"(?:'|{_LINE_END})"),
)

_SWIFT_HOLE = Hole("\\", r"\\\(", (r"\\(?:\r\n|[^(])", r"\\\([^()\"\\\r\n]*+\)"), "(", ")")
_SWIFT = (
    *_NESTED_COMMENTS,
    _between("#", r'(?P<mark>#(?<!##)#*+)"""', r'"""(?P=mark)'),
    Span("string", "#", r'(?P<mark>#(?<!##)#*+)"', r"[^\r\n]*?", rf'(?:"(?P=mark)|{_LINE_END})'),
    _string('"""', escapes=False, hole=_SWIFT_HOLE),
    _string('"', escapes=False, hole=_SWIFT_HOLE, one_line=True),
)

_PHP_HOLE = Hole("{", r"\{(?=\$)", (r"\{(?!\$)", r"\{\$[^{}\"'\\]*+\}"))
_PHP = (
    _between("?", r"\?>", r"<\?(?:php|=)?", "code"),
    *_C_COMMENTS,
    _line_comment("#", r"#(?!\[)"),
    _heredoc(r"<<<[ \t]*+['\"]?(?P<mark>\w++)['\"]?"),
    _string('"', hole=_PHP_HOLE),
    _string("'"),
)

_RUBY_HOLE = Hole("#", r"#\{", (r"#(?!\{)", r"#\{[^{}\"'`/\\\r\n]*+\}"))
_RUBY = (
    _HASH,
    _between("=", r"(?<![^\r\n])=begin\b", r"(?<=[\r\n])=end\b", "comment"),
    _heredoc(r"<<(?<![^\s(=,]<<)[~-]?[\"']?(?P<mark>[A-Z_]\w*+)[\"']?"),
    _regex("if unless when and or not elsif return"),
    _string('"', hole=_RUBY_HOLE, one_line=True),
    _string("'", one_line=True),
    _string("`", hole=_RUBY_HOLE, one_line=True),
)

_SHELL_HOLE = Hole("$", r"\$\(", (r"\$(?!\()", r"\$\([^()\"'`\\#]*+\)"), "(", ")")
_SHELL = (
    _line_comment("#", r"#(?<![^\s;&|(]#)"),
    Span("code", "\\", r"\\[\s\S]", "", ""),
    _heredoc(r"<<(?<!<<<)-?[ \t]*+(?:\\?(?P<mark>[A-Z_][A-Z0-9_]*+)\b)"),
    _heredoc(r"<<(?<!<<<)-?[ \t]*+['\"](?P<mark>\w++)['\"]"),
    _string("'", opens=r"'(?<=\$')"),
    _string("'", escapes=False),
    _string('"', hole=_SHELL_HOLE),
)

_LUA = (
    _between("-", r"--\[(?P<mark>=*+)\[", r"\](?P=mark)\]", "comment"),
    _line_comment("--"),
    _between("[", r"\[(?P<mark>=*+)\[", r"\](?P=mark)\]"),
    *_lines('"', "'"),
)

_CSS = (_C_BLOCK, *_lines('"', "'"))
_JSON = (*_C_COMMENTS, *_lines('"'))
_MARKUP_COMMENT = _block_comment("<!--", "-->")

SPANS: dict[str, tuple[Span, ...]] = {
    "c": _C,
    "cpp": _CPP,
    "csharp": _CSHARP,
    "css": _CSS,
    "go": (*_C_COMMENTS, *_lines('"', "'"), _string("`", escapes=False)),
    "html": (_MARKUP_COMMENT, *(_string(q, opens=f"{q}(?<=={q})", escapes=False) for q in "\"'")),
    "java": (*_C_COMMENTS, _string('"""'), *_lines('"', "'")),
    "javascript": _JAVASCRIPT,
    "javascriptreact": _JAVASCRIPT,
    "json": _JSON,
    "jsonc": _JSON,
    "kotlin": (
        *_NESTED_COMMENTS,
        _string('"""', escapes=False, hole=_DOLLAR_HOLE),
        _string('"', hole=_DOLLAR_HOLE, one_line=True),
        *_lines("'"),
    ),
    "less": (_line_comment("//", "//(?<!://)"), *_CSS),
    "lua": _LUA,
    "markdown": (_MARKUP_COMMENT,),
    "php": _PHP,
    "python": _PYTHON,
    "ruby": _RUBY,
    "rust": _RUST,
    "scss": (_line_comment("//", "//(?<!://)"), *_CSS),
    "shellscript": _SHELL,
    "sql": (_line_comment("--"), _C_BLOCK, _string("'", "''", escapes=False), _string('"', escapes=False, zone="code")),
    "swift": _SWIFT,
    "toml": (
        _HASH,
        _string('"""'),
        _string("'''", escapes=False),
        *_lines('"'),
        _string("'", escapes=False, one_line=True),
    ),
    "typescript": _JAVASCRIPT,
    "typescriptreact": _JAVASCRIPT,
    # An apostrophe in a plain scalar is one.
    "yaml": (
        _line_comment("#", r"#(?<!\S#)"),
        _string('"', opens=r'"(?<![^\s\[{,(]")', one_line=True),
        _string("'", "''", opens=r"'(?<![^\s\[{,(]')", escapes=False, one_line=True),
    ),
}

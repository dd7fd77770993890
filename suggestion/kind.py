"""How much is suggested at a cursor: the rest of a line, a block or a function.

The lines before the cursor decide, and the indentation behind it. No parser is used. What matters is whether the last code before the
cursor opens a block that is still empty. A parser gives up at just that place, and would read the whole file at each keystroke. The lines
alone do not tell whether they are code: where they look like a header, `zone_at` is asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from ..inference.completion.task import Kind, rest_of_line
from ..inference.stopping.rules import indentation
from .positions import bare_lines
from .zones import zone_at

Opened = Literal["block", "function"]

# No header is longer, and in broken code a bracket may have no partner. The characters are those of all its lines.
_MAX_LINES = 60
_MAX_CHARACTERS = 2000
_MAX_DEPTH = 10

_PARENTHESES = re.compile(r"\([^()]+\)")
# What closes a block, however far it is indented.
_CLOSER = re.compile(r"[)\]}]|(?:end|fi|done|esac)\s*(?:[;),.|&>]|\Z)")


@dataclass(frozen=True, slots=True)
class _Statement:
    """A statement without strings and comments, in one line, and with nothing between its parentheses.

    indent: of its first line, in columns; open: a bracket in it is not closed.
    """

    text: str
    indent: int
    open: bool


@dataclass(frozen=True, slots=True)
class _Family:
    """Languages that open blocks in the same way.

    comment: what a line of comment begins with; literals: the strings and comments of a line; brackets: the pairs that statements are
    continued in; opens: what a statement opens.
    """

    comment: tuple[str, ...]
    literals: re.Pattern[str]
    brackets: tuple[str, ...]
    opens: Callable[[_Statement], Opened | None]


def kind_at(prefix: str, suffix: str, language: str, *, cut: bool = False) -> Kind:
    """What kind of text to suggest between prefix and suffix, the text before and behind the cursor.

    "function" follows a function's header or its docstring, "block" whatever else opens a block. In both cases the block is empty yet: the
    cursor stands right behind the header's last character, or on a blank line below it. Everywhere else it is "line": where text stands
    behind the cursor on its line, behind a header and a space (`if x: `), in comments and strings, and in a language that is not known.
    cut: as `zone_at`.
    """
    family = _FAMILIES.get(language)
    if family is None or rest_of_line(suffix).strip():
        return "line"
    lines = bare_lines(prefix)
    own = lines[-1]
    if own.strip():
        if own[-1].isspace():
            return "line"
    else:
        lines = _without_blank_end(lines, family.comment)
    undocumented = _before_docstring(lines, family.comment) if family is _PYTHON else None
    statement = _statement(lines if undocumented is None else undocumented, family)
    opened = family.opens(statement) if statement else None
    if statement is None or opened is None or _has_body(suffix, statement.indent, family.comment):
        return "line"
    # A docstring can be all of a block, so that below it a cursor that is not indented has left the block.
    if undocumented is not None and (
        not _HAS_DOCSTRING.match(statement.text) or (not own.strip() and indentation(own) <= statement.indent)
    ):
        return "line"
    return opened if zone_at(prefix, language, cut=cut) == "code" else "line"


def _without_blank_end(lines: list[str], comment: tuple[str, ...]) -> list[str]:
    """The lines up to the last that has code."""
    end = len(lines)
    while end and (not (text := lines[end - 1].strip()) or text.startswith(comment)):
        end -= 1
    return lines[:end]


def _has_body(suffix: str, indent: int, comment: tuple[str, ...]) -> bool:
    """Whether the first line of code below the cursor's is deeper than a header with this indentation."""
    for line in bare_lines(suffix)[1:]:
        text = line.strip()
        if text and not text.startswith(comment):
            return indentation(line) > indent and not _CLOSER.match(text)
    return False


def _statement(lines: Sequence[str], family: _Family) -> _Statement | None:
    """The statement that ends with the last line: back to where its brackets were opened, and over lines that end with a backslash.

    A brace on a line of its own belongs to the line above. None where a bracket was never opened, or far away.
    """
    parts: list[str] = []
    room = _MAX_CHARACTERS
    closed = dict.fromkeys(family.brackets, 0)
    for number in range(len(lines) - 1, max(-1, len(lines) - 1 - _MAX_LINES), -1):
        room -= len(lines[number])
        if room < 0:
            return None
        part = family.literals.sub(_emptied, lines[number]).strip()
        parts.append(part.removesuffix("\\"))
        for pair in family.brackets:
            closed[pair] += part.count(pair[1]) - part.count(pair[0])
        goes_on = number > 0 and (lines[number - 1].endswith("\\") or " ".join(parts).strip() in ("{", ""))
        if max(closed.values(), default=0) <= 0 and not goes_on:
            text = " ".join(reversed(parts)).strip()
            for _ in range(_MAX_DEPTH):
                text, found = _PARENTHESES.subn("()", text)
                if not found:
                    break
            return _Statement(text, indentation(lines[number]), min(closed.values(), default=0) < 0)
    return None


def _emptied(literal: re.Match[str]) -> str:
    return '""' if literal[0][0] in "\"'`" else ""


_PYTHON_HEADER = re.compile(
    r"(?P<function>(?:async\s+)?def\s)|(?:class|if|elif|for|while|with|match|case|async\s+for|async\s+with)\b\s*[^\s:]|(?:except|else|try|finally)\b"
)
_HAS_DOCSTRING = re.compile(r"(?:class|def|async\s+def)\b")
_DOCSTRING_BEGIN = re.compile(r"\s*[rRuU]?\Z")
_SHORT_DOCSTRING = re.compile(r"""\s*[rRuU]?(?:"(?:[^"\\]|\\.)+"|'(?:[^'\\]|\\.)+')\s*(?:\#.*)?""", re.VERBOSE)


def _opened_by_colon(statement: _Statement) -> Opened | None:
    header = _PYTHON_HEADER.match(statement.text)
    # A colon in an open bracket is a dictionary's, a slice's or a lambda's.
    if header is None or statement.open or not statement.text.endswith(":"):
        return None
    return "function" if header["function"] else "block"


def _before_docstring(lines: Sequence[str], comment: tuple[str, ...]) -> list[str] | None:
    """The lines up to the code before a docstring (a string that is a statement) that the last line ends; None where it ends none."""
    last = lines[-1].rstrip() if lines else ""
    first = len(lines) - 1
    quotes = last[-3:]
    if quotes in ('"""', "'''"):
        text = last[:-3]
        while quotes not in text and first > 0:
            first -= 1
            text = lines[first]
        if not _DOCSTRING_BEGIN.match(text[: max(0, text.rfind(quotes))]):
            return None
    elif not _SHORT_DOCSTRING.fullmatch(last):
        return None
    return _without_blank_end(list(lines[:first]), comment)


# A function's header ends with its parameters and what is said of the result; behind `=` stands a value.
_FUNCTION_WORD = re.compile(
    r"\A(?>.*\b(?:function|func|fn|fun)\b)(?=[^={}]*+\Z)[^()]*+\(\)|(?:\A|\s)(?:init|deinit|constructor)\b[?!]?\s*(?:\(\)[^={}]*+)?\Z"
)
_METHOD = re.compile(
    r"\A(?>(?:@[\w.]+(?:\(\))?\s+)*)(?!(?:if|for|foreach|while|switch|catch|synchronized|using|lock|fixed|with|return|new|throw|else|do|case)\b)"
    r"[^=(){}]*+(?<=[\w$>\] ])\(\)[^={};]*+\Z"
)
_ARROW = re.compile(r"=>\s*\Z")
# What an object, an array or an initializer stands behind; and a type, where a space stands before the brace of every block (gofmt).
_VALUE = r"[=(,\[\]?&|+<!]\s*|\A<.*>\s*|\b(?:return|yield|export default|import|export|const|let|var|in|of|typeof|await)\s*"
_BEFORE_VALUE = re.compile(rf"(?:{_VALUE})\Z|\A(?!case\b|default\b).*:\s*\Z")
_BEFORE_VALUE_IN_RUST = re.compile(r"[=(,\[&:]\s*\Z")
_BEFORE_VALUE_IN_GO = re.compile(rf"(?:{_VALUE}|(?<!\bstruct)(?<!\binterface)[\w\]])\Z")


def _opened_by_brace(*functions: re.Pattern[str], value: re.Pattern[str] = _BEFORE_VALUE) -> Callable[[_Statement], Opened | None]:
    """What a statement opens in a language with braces. functions: what stands before a function's brace; value: before one of no block."""

    def opened(statement: _Statement) -> Opened | None:
        if not statement.text.endswith("{"):
            return None
        head = statement.text[:-1].lstrip("} ")
        if any(function.search(head.rstrip()) for function in functions):
            return "function"
        return None if value.search(head) else "block"

    return opened


def _opened_by_word(function: str, block: str) -> Callable[[_Statement], Opened | None]:
    """What a statement opens in a language without braces, by what the whole statement looks like."""
    functions, blocks = re.compile(function), re.compile(block)

    def opened(statement: _Statement) -> Opened | None:
        if functions.search(statement.text):
            return "function"
        return "block" if blocks.search(statement.text) else None

    return opened


# One that is not closed goes on to the line's end.
_STRING = r'"(?:[^"\\]|\\.)*"?'
_WORDS = re.compile(rf"{_STRING}|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?|/\*.*?(?:\*/|\Z)|//.*")
# A single quote alone is a lifetime's, or stands between digits.
_CHARACTERS = re.compile(rf"{_STRING}|'(?:[^'\\]|\\[^']*)'|'\\''|`[^`]*`|/\*.*?(?:\*/|\Z)|//.*")
_HASHES = re.compile(rf"{_STRING}|'[^']*'?|(?<!\S)\#.*")
_DASHES = re.compile(rf"{_STRING}|'(?:[^'\\]|\\.)*'?|--.*")

_SLASHES = ("//", "/*", "*")
_PYTHON = _Family(("#",), re.compile(rf"{_STRING}|'(?:[^'\\]|\\.)*'?|\#.*"), ("()", "[]", "{}"), _opened_by_colon)
_JAVASCRIPT = _Family(_SLASHES, _WORDS, ("()", "[]"), _opened_by_brace(_FUNCTION_WORD, _ARROW, _METHOD))
_C = _Family(_SLASHES, _CHARACTERS, ("()", "[]"), _opened_by_brace(_METHOD))
_CSS = _Family(("//", "/*"), _WORDS, ("()", "[]"), _opened_by_brace(value=re.compile(r"(?!)")))

_FAMILIES = {
    "c": _C,
    "cpp": _C,
    "csharp": _Family(_SLASHES, _CHARACTERS, ("()", "[]"), _opened_by_brace(_METHOD, _ARROW)),
    "css": _CSS,
    "go": _Family(_SLASHES, _CHARACTERS, ("()", "[]"), _opened_by_brace(_FUNCTION_WORD, value=_BEFORE_VALUE_IN_GO)),
    "java": _C,
    "javascript": _JAVASCRIPT,
    "javascriptreact": _JAVASCRIPT,
    "kotlin": _Family(_SLASHES, _CHARACTERS, ("()", "[]"), _opened_by_brace(_FUNCTION_WORD)),
    "less": _CSS,
    "lua": _Family(("--",), _DASHES, ("()",), _opened_by_word(r"\bfunction\b[^()]*\(\)\Z", r"\b(?:then|do|else|repeat)\Z")),
    "php": _Family((*_SLASHES, "#"), _WORDS, ("()", "[]"), _opened_by_brace(_FUNCTION_WORD)),
    "python": _PYTHON,
    "ruby": _Family(
        ("#",),
        _HASHES,
        ("()", "[]"),
        _opened_by_word(
            r"\A(?:(?:private|protected|public|private_class_method)\s+)?def\s(?!.*(?:\s=\s|\bend\Z))",
            r"\A(?:class|module|if|unless|while|until|for|case|begin|else|elsif|ensure|rescue|when)\b(?!.*\bend\Z)|(?:\bdo|\{)(?:\s*\|[^|]*\|)?\Z",
        ),
    ),
    "rust": _Family(_SLASHES, _CHARACTERS, ("()", "[]"), _opened_by_brace(_FUNCTION_WORD, value=_BEFORE_VALUE_IN_RUST)),
    "scss": _CSS,
    "shellscript": _Family(
        ("#",),
        _HASHES,
        (),
        _opened_by_word(
            r"\A(?:function\s+[\w:.-]+\s*(?:\(\))?|[\w:.-]+\s*\(\))\s*\{\Z", r"(?:\b(?:then|do|else)|(?<!\$)\{|\Acase\b.*\bin)\Z"
        ),
    ),
    "swift": _Family(_SLASHES, _CHARACTERS, ("()", "[]"), _opened_by_brace(_FUNCTION_WORD)),
    "typescript": _JAVASCRIPT,
    "typescriptreact": _JAVASCRIPT,
}

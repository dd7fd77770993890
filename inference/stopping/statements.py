"""Where statements end, by brackets, strings and line ends, in code of any language that may be cut in the middle."""

from __future__ import annotations

import re

# Strings and comments, in which brackets do not count. A quote that is not closed on its line (an apostrophe, a lifetime) ends there.
_TEXT = re.compile(
    r"""(?P<long>\"{3}|'{3}).*?(?:(?P=long)|\Z)"""
    r"""|"(?:\\.|[^"\\\r\n])*"?|'(?:\\.|[^'\\\r\n])*'?"""
    r"""|\#[^\r\n]*|^[ \t]*//[^\r\n]*|/\*.*?(?:\*/|\Z)""",
    re.DOTALL | re.MULTILINE,
)
_BRACKET = re.compile(r"[()\[\]{}]")
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_TOP_LEVEL = re.compile(r"^[^\W\d]", re.MULTILINE)
# Ends of lines that continue. A type or a tag may end with ">", and `x++` is whole.
_GOES_ON = re.compile(r"(?:[,\\:=.&|^<~@%*/]|(?<!\+)\+|(?<!-)-|->|=>|\b(?:and|or|not|in|is|if|else|lambda|await|from|import|as))$")
_DECORATOR = re.compile(r"\s*@")
_TRY = re.compile(r"([ \t]*)try\s*:")
_HANDLED = re.compile(r"([ \t]*)(?:except|finally)\b")


def whole_statements(text: str, before: str = "") -> str:
    """The lines of a text up to the last one that is whole and ends a statement; "" where there is none.

    A statement ends where no bracket and no multi-line string is open, the line does not end with an operator, a comma, a backslash or a
    colon, and no `try:` of the text lacks its `except`. Comments and decorators end none. There is no parser: where this is wrong, it
    mostly gives less.

    before: the text before this one, of any length.
    """
    before = _from_top_level(before)
    masked = code_only(before + text)
    depth = _depth(0, masked[: len(before)])
    end, offset, waiting = 0, len(before), set[int]()
    for line, newline in _LINE.findall(masked[len(before) :]):
        if not newline:
            break
        depth = _depth(depth, line)
        if match := _TRY.match(line):
            waiting.add(len(match[1]))
        elif match := _HANDLED.match(line):
            waiting.discard(len(match[1]))
        stripped = line.rstrip()
        offset += len(line)
        if stripped and depth == 0 and not (waiting or _GOES_ON.search(stripped) or _DECORATOR.match(line)):
            end = offset - len(before)
        offset += len(newline)
    return text[:end]


def open_brackets(before: str) -> int:
    """How many brackets are open at the end of a text, counted from its last line that is not indented."""
    return _depth(0, code_only(_from_top_level(before)))


def unpaired_closing(text: str) -> list[int]:
    """Offsets of the brackets that a text closes without opening them."""
    depth, found = 0, []
    for match in _BRACKET.finditer(code_only(text)):
        if match[0] in "([{":
            depth += 1
        elif depth:
            depth -= 1
        else:
            found.append(match.start())
    return found


def code_only(text: str) -> str:
    """The text with strings replaced by as many letters and comments by as many spaces."""
    return _TEXT.sub(lambda match: ("x" if match[0][0] in "\"'" else " ") * len(match[0]), text)


def _from_top_level(before: str) -> str:
    tops = [match.start() for match in _TOP_LEVEL.finditer(before)]
    return before[tops[-1] :] if tops else before


def _depth(depth: int, code: str) -> int:
    """How many brackets are open at the end of the code. One that is closed without being open is ignored."""
    for bracket in _BRACKET.findall(code):
        depth = depth + 1 if bracket in "([{" else max(0, depth - 1)
    return depth

"""Where statements end in code of any language, read by its brackets, strings and line ends: for text that was cut in the middle."""

from __future__ import annotations

import re

# Strings and comments, in which brackets are text. A quote that is not closed on its line ends with it: an apostrophe, a lifetime.
_TEXT = re.compile(
    r"""(?P<long>\"{3}|'{3}).*?(?:(?P=long)|\Z)"""
    r"""|"(?:\\.|[^"\\\r\n])*"?|'(?:\\.|[^'\\\r\n])*'?"""
    r"""|\#[^\r\n]*|^[ \t]*//[^\r\n]*|/\*.*?(?:\*/|\Z)""",
    re.DOTALL | re.MULTILINE,
)
_LINE = re.compile(r"([^\r\n]*)(\r\n|\r|\n|\Z)")
_TOP_LEVEL = re.compile(r"^[^\W\d]", re.MULTILINE)
# What a statement does not end with. A type or a tag may end with ">", and `x++` is whole.
_GOES_ON = re.compile(r"(?:[,\\:=.&|^<~@%*/]|(?<!\+)\+|(?<!-)-|->|=>|\b(?:and|or|not|in|is|if|else|lambda|await|from|import|as))$")
_DECORATOR = re.compile(r"\s*@")
_TRY = re.compile(r"([ \t]*)try\s*:")
_HANDLED = re.compile(r"([ \t]*)(?:except|finally)\b")


def whole_statements(text: str, before: str = "") -> str:
    """The lines of a text up to the last one that a newline ends and that ends a statement; "" where there is none.

    before: what stands before the text, of any length. A statement has ended where no bracket and no string over several lines is open,
    the line does not end with an operator, a comma, a backslash or a colon, and no `try:` of the text waits for its `except`. Comments and
    decorators end none. Read without a parser: where it errs, it mostly shows less.
    """
    tops = [match.start() for match in _TOP_LEVEL.finditer(before)]
    before = before[tops[-1] :] if tops else before
    masked = _TEXT.sub(_mask, before + text)
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


def _mask(match: re.Match[str]) -> str:
    """As many characters that say nothing: letters for a string, so that its line is not blank, spaces for a comment."""
    return ("x" if match[0][0] in "\"'" else " ") * len(match[0])


def _depth(depth: int, code: str) -> int:
    """How many brackets are open behind the code; closing one that is not open counts for nothing."""
    for character in re.findall(r"[()\[\]{}]", code):
        depth = depth + 1 if character in "([{" else max(0, depth - 1)
    return depth

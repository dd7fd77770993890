"""The rules that end a generated text, as pure functions of the text so far."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

# A text is in a loop where a line, a group of lines or a piece of a line is repeated so often. In real code outside of tests 3 of 333,089
# lines and 1 of 8,922 blocks are taken for a loop; in tests, which have tables, 17 of 96,580 and 21 of 4,893.
_LINES_IN_A_ROW = 3
_GROUPS_IN_A_ROW = 2
_PIECES_IN_A_ROW = 4
_MAX_GROUP_LINES = 8  # lines
_MAX_PIECE_CHARACTERS = 48  # characters
# The minimal length of a loop, in characters. Digits and punctuation are often repeated for a reason (tables, separators, padding), but
# hardly ever beyond the width of a page.
_MIN_LOOP_WITH_A_WORD = 24
_MIN_LOOP_WITHOUT_A_WORD = 100

_NEWLINE = re.compile(r"[\r\n]")
_LATER_LINE = re.compile(r"[\r\n]([ \t\f]*)[^ \t\f\r\n]")
_BLANK_LINES_AT_END = re.compile(r"[\r\n][ \t\f\r\n]*\Z")
_WORD = re.compile(r"[^\W\d_]{2}")
# Lines that occur everywhere, so that one of them does not tell where a text has arrived.
_COMMON_LINE = re.compile(
    r"\W*(?:(?:pass|return|break|continue|else|try|finally|end|fi|done|then|do|begin|None|null|True|true|False|false|self|this)\b\W*)*"
)


@dataclass(frozen=True, slots=True)
class Stop:
    """A rule for the end of the text.

    "line" ends before the first newline, or behind the first round of a loop. "block" ends, without trailing blank lines, before the first
    of these: a line with less indentation than `indent` columns (the text's first line does not count), the lines that already stand
    behind the cursor, the second round of a loop of lines, a line with a loop in it. "none" ends only where the model itself ends.

    Attributes
        indent: the block's own indentation.
        before: the text before the cursor on its line.
        behind: the next lines behind the cursor that are not blank; two are enough.
    """

    kind: Literal["line", "block", "none"]
    indent: int = 0
    before: str = ""
    behind: tuple[str, ...] = ()


LINE = Stop("line")
NONE = Stop("none")


@dataclass(frozen=True, slots=True)
class StopPoint:
    """Where a text ends.

    offset: the end. by: the rule. known: how many characters of the text show it, with those behind the end.
    """

    offset: int
    by: Literal["line", "block", "suffix", "repetition"]
    known: int


@dataclass(frozen=True, slots=True)
class _Line:
    """A whole line that is not blank.

    content: the line without trailing white space. start, end: offsets in the text, without the newline.
    """

    content: str
    start: int
    end: int


def indentation(line: str) -> int:
    """The columns of a line's indentation, as Python's tokenizer counts: a tab goes to the next multiple of 8, a form feed to 0."""
    column = 0
    for character in line:
        if character == " ":
            column += 1
        elif character == "\t":
            column += 8 - column % 8
        elif character == "\f":
            column = 0
        else:
            break
    return column


def find_stop(text: str, stop: Stop, checked_until: int = 0) -> StopPoint | None:
    r"""Where `stop` ends the text, or None where the text continues.

    A stop point stays the same whatever is appended, so a stream may be checked after each piece. A line ends at `\n`, `\r\n` and `\r`. Of
    several rules the one that needs the fewest characters counts, then the first of line, block, suffix, repetition.

    checked_until: so many characters are known not to end the text and are not checked again.
    """
    found: list[StopPoint | None] = []
    if stop.kind == "line":
        newline = _NEWLINE.search(text)
        found = [newline and StopPoint(newline.start(), "line", newline.end()), _repeated_piece(text, checked_until)]
    elif stop.kind == "block":
        lines = list(_lines(text, stop.before))
        piece = _repeated_piece(text, checked_until)
        if piece is not None:
            piece = StopPoint(len(_without_last_line(text[: piece.known])), piece.by, piece.known)
        found = [_dedent(text, stop.indent), _suffix(text, lines, stop), _repeated_lines(lines, checked_until), piece]
    return min((each for each in found if each), key=lambda each: each.known, default=None)


def text_before_stop(text: str, stop: Stop, checked_until: int = 0) -> str:
    """The part of a finished text that `stop` leaves. A block loses its trailing blank lines however it ended.

    A block's last line counts as whole here even without a newline. checked_until: as for `find_stop`.
    """
    ended = find_stop(text, stop, checked_until) or (find_stop(text + "\n", stop, len(text)) if stop.kind == "block" else None)
    if ended is not None:
        return text[: ended.offset]
    return _without_blank_lines(text) if stop.kind == "block" else text


def is_common(line: str) -> bool:
    """Whether a line occurs everywhere: a bracket, `pass`, `return`, `else:`, a blank line."""
    return _COMMON_LINE.fullmatch(line) is not None


def _dedent(text: str, indent: int) -> StopPoint | None:
    for line in _LATER_LINE.finditer(text):
        if indentation(line[1]) < indent:
            return StopPoint(len(_without_blank_lines(text[: line.start() + 1])), "block", line.end())
    return None


def _suffix(text: str, lines: Sequence[_Line], stop: Stop) -> StopPoint | None:
    """Stop before the first line that stands behind the cursor. Where that is a common one, the next must follow it."""
    if not stop.behind:
        return None
    needed = 2 if is_common(stop.behind[0]) else 1
    wanted = [line.rstrip() for line in stop.behind[:needed]]
    for at in range(len(lines) - needed + 1 if len(wanted) == needed else 0):
        written = [line.content for line in lines[at : at + needed]]
        if lines[at].start == 0 and not stop.before.strip():
            # The cursor's own line need not be indented yet.
            written[0], first = written[0].lstrip(), wanted[0].lstrip()
        else:
            first = wanted[0]
        if written == [first, *wanted[1:]]:
            return StopPoint(len(_without_blank_lines(text[: lines[at].start])), "suffix", lines[at + needed - 1].end + 1)
    return None


def _repeated_lines(lines: Sequence[_Line], checked_until: int) -> StopPoint | None:
    """Stop behind the first of several copies of a line or of a group of lines. Blank lines between them don't count."""
    contents = [line.content for line in lines]
    for count in range(2, len(contents) + 1):
        if lines[count - 1].end < checked_until:
            continue
        for size in range(1, min(_MAX_GROUP_LINES, count // 2) + 1):
            unit = contents[count - size : count]
            min_characters = _MIN_LOOP_WITH_A_WORD if any(map(_WORD.search, unit)) else _MIN_LOOP_WITHOUT_A_WORD
            copies = max(_LINES_IN_A_ROW if size == 1 else _GROUPS_IN_A_ROW, -(-min_characters // sum(map(len, unit))))
            begin = count - size * copies
            if begin >= 0 and contents[begin:count] == unit * copies:
                return StopPoint(lines[begin + size - 1].end, "repetition", lines[count - 1].end + 1)
    return None


def _repeated_piece(text: str, checked_until: int) -> StopPoint | None:
    """Stop behind the first of several copies of a piece of a line."""
    start = max(text.rfind("\n", 0, checked_until), text.rfind("\r", 0, checked_until)) + 1
    for at in range(checked_until, len(text)):
        if text[at] in "\r\n":
            start = at + 1
            continue
        length = at + 1 - start
        for size in range(1, min(_MAX_PIECE_CHARACTERS, length // _PIECES_IN_A_ROW) + 1):
            span = max(size * _PIECES_IN_A_ROW, _MIN_LOOP_WITH_A_WORD)
            if span > length or text[at] != text[at - size] or not _has_period(text, at + 1, span, size):
                continue
            if not _WORD.search(text[at + 1 - 2 * size : at + 1]):
                span = max(span, _MIN_LOOP_WITHOUT_A_WORD)
                if span > length or not _has_period(text, at + 1, span, size):
                    continue
            return StopPoint(at + 1 - span + size, "repetition", at + 1)
    return None


def _has_period(text: str, end: int, span: int, size: int) -> bool:
    return text[end - span + size : end] == text[end - span : end - size]


def _lines(text: str, before: str) -> Iterator[_Line]:
    """The lines that have a newline and are not blank."""
    start = 0
    for newline in _NEWLINE.finditer(text):
        content = (text[start : newline.start()] if start else before + text[: newline.start()]).rstrip()
        if content.strip():
            yield _Line(content, start, newline.start())
        start = newline.end()


def _without_last_line(text: str) -> str:
    return _without_blank_lines(text[: max(text.rfind("\n"), text.rfind("\r")) + 1])


def _without_blank_lines(text: str) -> str:
    return _BLANK_LINES_AT_END.sub("", text)

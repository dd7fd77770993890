"""Where a generation ends: the stopping rules, in order. Pure functions on the text so far."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from .statements import code_only, unpaired_closing
from .stop import Stop, StopPoint

_NEWLINE = re.compile(r"[\r\n]")
_BLANK_LINES_AT_END = re.compile(r"[\r\n][ \t\f\r\n]*\Z")


@dataclass(frozen=True, slots=True)
class WrittenLine:
    """A whole line that is not blank. content: without its end and the white space there. start, end: in the text, without its newline."""

    content: str
    start: int
    end: int


@dataclass(frozen=True)
class Written:
    """A text, the rule that it was asked with, and how many of its characters are known not to end it: no rule looks at these again."""

    text: str
    stop: Stop
    checked_until: int = 0

    @cached_property
    def lines(self) -> list[WrittenLine]:
        """The lines that a newline ends and that are not blank."""
        return list(self._lines())

    def _lines(self) -> Iterator[WrittenLine]:
        start = 0
        for newline in _NEWLINE.finditer(self.text):
            line = self.text[start : newline.start()]
            content = (line if start else self.stop.before + line).rstrip()
            if content.strip():
                yield WrittenLine(content, start, newline.start())
            start = newline.end()


def without_blank_lines(text: str) -> str:
    """The text without the blank lines at its end."""
    return _BLANK_LINES_AT_END.sub("", text)


def at_closing_bracket(written: Written) -> StopPoint | None:
    """Stop before the bracket that closes one too many."""
    before, may_close = written.stop.before, written.stop.may_close
    if may_close is None:
        return None
    # Brackets in a string do not count, also in one that begins before the cursor.
    closing = unpaired_closing(code_only(before + written.text)[len(before) :])
    return StopPoint(closing[may_close], "bracket", closing[may_close] + 1) if len(closing) > may_close else None


def at_newline(written: Written) -> StopPoint | None:
    """Stop before the first newline."""
    newline = _NEWLINE.search(written.text)
    return newline and StopPoint(newline.start(), "line", newline.end())


_LATER_LINE = re.compile(r"[\r\n]([ \t\f]*)[^ \t\f\r\n]")


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


def at_dedent(written: Written) -> StopPoint | None:
    """Stop before the first line with less indentation than the block. The line that the text starts on does not count."""
    for line in _LATER_LINE.finditer(written.text):
        if indentation(line[1]) < written.stop.indent:
            return StopPoint(len(without_blank_lines(written.text[: line.start() + 1])), "block", line.end())
    return None


# Lines that occur everywhere, so that one of them does not tell where a text has arrived.
_COMMON = re.compile(
    r"\W*(?:(?:pass|return|break|continue|else|try|finally|end|fi|done|then|do|begin|None|null|True|true|False|false|self|this)\b\W*)*"
)


def is_common(line: str) -> bool:
    """Whether a line occurs everywhere: a bracket, `pass`, `return`, `else:`, a blank line."""
    return _COMMON.fullmatch(line) is not None


def at_following_lines(written: Written) -> StopPoint | None:
    """Stop before the first line that stands behind the cursor. Where that is a common one, the next must follow it."""
    behind, before = written.stop.behind, written.stop.before
    if not behind:
        return None
    needed = 2 if is_common(behind[0]) else 1
    wanted = [line.rstrip() for line in behind[:needed]]
    lines = written.lines
    for at in range(len(lines) - needed + 1 if len(wanted) == needed else 0):
        contents = [line.content for line in lines[at : at + needed]]
        if lines[at].start == 0 and not before.strip():
            # The cursor's own line need not be indented yet.
            contents[0], first = contents[0].lstrip(), wanted[0].lstrip()
        else:
            first = wanted[0]
        if contents == [first, *wanted[1:]]:
            end = len(without_blank_lines(written.text[: lines[at].start]))
            return StopPoint(end, "suffix", lines[at + needed - 1].end + 1)
    return None


# A text is in a loop where a line, a group of lines or a piece of a line is repeated so often. In real code outside of tests 3 of 333,089
# lines and 1 of 8,922 blocks are taken for a loop; in tests, which have tables, 17 of 96,580 and 21 of 4,893.
_LINES_IN_A_ROW = 3
_GROUPS_IN_A_ROW = 2
_PIECES_IN_A_ROW = 4
_MAX_GROUP = 8  # lines
_MAX_PIECE = 48  # characters
# The minimal length of a loop, in characters. Digits and punctuation are often repeated for a reason (tables, separators, padding), but
# hardly ever beyond the width of a page.
_MIN_WITH_A_WORD = 24
_MIN_WITHOUT = 100

_WORD = re.compile(r"[^\W\d_]{2}")


def at_repeated_lines(written: Written) -> StopPoint | None:
    """Stop behind the first of several copies of a line or of a group of lines. Blank lines between them don't count."""
    lines = written.lines
    contents = [line.content for line in lines]
    for count in range(2, len(contents) + 1):
        if lines[count - 1].end < written.checked_until:
            continue
        for size in range(1, min(_MAX_GROUP, count // 2) + 1):
            unit = contents[count - size : count]
            least = _MIN_WITH_A_WORD if any(map(_WORD.search, unit)) else _MIN_WITHOUT
            copies = max(_LINES_IN_A_ROW if size == 1 else _GROUPS_IN_A_ROW, -(-least // sum(map(len, unit))))
            begin = count - size * copies
            if begin >= 0 and contents[begin:count] == unit * copies:
                return StopPoint(lines[begin + size - 1].end, "repetition", lines[count - 1].end + 1)
    return None


def at_repeated_piece(written: Written) -> StopPoint | None:
    """Stop behind the first of several copies of a piece of a line."""
    return _repeated_piece(written.text, written.checked_until)


def before_line_with_a_loop(written: Written) -> StopPoint | None:
    """Stop before the line that has a loop in it, so that a block keeps whole lines."""
    point = _repeated_piece(written.text, written.checked_until)
    if point is None:
        return None
    text = written.text[: point.known]
    return StopPoint(len(without_blank_lines(text[: max(text.rfind("\n"), text.rfind("\r")) + 1])), point.by, point.known)


def _repeated_piece(text: str, checked_until: int) -> StopPoint | None:
    start = max(text.rfind("\n", 0, checked_until), text.rfind("\r", 0, checked_until)) + 1
    for at in range(checked_until, len(text)):
        if text[at] in "\r\n":
            start = at + 1
            continue
        length = at + 1 - start
        for size in range(1, min(_MAX_PIECE, length // _PIECES_IN_A_ROW) + 1):
            span = max(size * _PIECES_IN_A_ROW, _MIN_WITH_A_WORD)
            if span > length or text[at] != text[at - size] or not _has_period(text, at + 1, span, size):
                continue
            if not _WORD.search(text[at + 1 - 2 * size : at + 1]):
                span = max(span, _MIN_WITHOUT)
                if span > length or not _has_period(text, at + 1, span, size):
                    continue
            return StopPoint(at + 1 - span + size, "repetition", at + 1)
    return None


def _has_period(text: str, end: int, span: int, size: int) -> bool:
    return text[end - span + size : end] == text[end - span : end - size]


Rule = Callable[[Written], StopPoint | None]

RULES: dict[str, tuple[Rule, ...]] = {
    "line": (at_newline, at_closing_bracket, at_repeated_piece),
    "block": (at_dedent, at_following_lines, at_repeated_lines, before_line_with_a_loop),
    "none": (),
}


def find_stop(text: str, stop: Stop, checked_until: int = 0) -> StopPoint | None:
    r"""Where `stop` ends the text, or None where the text continues.

    A stop point stays the same whatever is appended, so a stream may be checked after each piece. A line ends at `\n`, `\r\n` and `\r`. Of
    several rules the one that needs the fewest characters counts, then the first in `RULES`.

    checked_until: so many characters are known not to end the text and are not checked again.
    """
    written = Written(text, stop, checked_until)
    points = [point for rule in RULES[stop.kind] if (point := rule(written)) is not None]
    return min(points, key=lambda point: point.known, default=None)


def text_before_stop(text: str, stop: Stop, checked_until: int = 0) -> str:
    """The part of a finished text that `stop` leaves. A block loses its trailing blank lines however it ended.

    A block's last line counts as whole here even without a newline. checked_until: as for `find_stop`.
    """
    point = find_stop(text, stop, checked_until)
    if point is None and stop.kind == "block":
        point = find_stop(text + "\n", stop, len(text))
    if point is not None:
        return text[: point.offset]
    return without_blank_lines(text) if stop.kind == "block" else text

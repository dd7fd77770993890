"""A text that runs into a loop ends behind its first round."""

from __future__ import annotations

import re

from .stop import StopPoint
from .text_so_far import Written, without_blank_lines

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

"""Where a generation ends: pure rules on the text so far."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

# How often a unit stands in a row where a text has run into a loop: a line, a group of lines, a piece of a line. Of real code that is no
# test, 3 of 333,089 lines and 1 of 8,922 blocks are taken for a loop; of tests, which have tables, 17 of 96,580 and 21 of 4,893.
_LINES_IN_A_ROW = 3
_GROUPS_IN_A_ROW = 2
_PIECES_IN_A_ROW = 4
_LONGEST_GROUP = 8  # lines
_LONGEST_PIECE = 48  # characters
# How far a loop goes at least, in characters. Digits and punctuation stand in a row for a reason (tables, separators, padding), hardly
# ever beyond the width of a page.
_LEAST_WITH_A_WORD = 24
_LEAST_WITHOUT = 100

_NEWLINE = re.compile(r"[\r\n]")
_LATER_LINE = re.compile(r"[\r\n]([ \t\f]*)[^ \t\f\r\n]")
_BLANK_LINES_AT_END = re.compile(r"[\r\n][ \t\f\r\n]*\Z")
_WORD = re.compile(r"[^\W\d_]{2}")
# Lines that stand everywhere, so that one of them is no sign of having come to a certain place.
_COMMON = re.compile(
    r"\W*(?:(?:pass|return|break|continue|else|try|finally|end|fi|done|then|do|begin|None|null|True|true|False|false|self|this)\b\W*)*"
)


@dataclass(frozen=True, slots=True)
class Stop:
    """A rule for the end of the text.

    "line": before the first newline, or behind the first round of a loop. "block": before the first non-blank line whose indentation is
    less than `indent` columns (the block's own indentation; the line that the text starts on is never looked at), before the lines that
    stand behind the text already, behind the first round of a loop of lines, or before the line that has a loop in it; trailing blank
    lines left out. "none": only the model's own end.

    before: what stands before the text on the line that it starts on. behind: the next lines behind the text's place that are not blank;
    two are enough.
    """

    kind: Literal["line", "block", "none"]
    indent: int = 0
    before: str = ""
    behind: tuple[str, ...] = ()


LINE = Stop("line")
NONE = Stop("none")


@dataclass(frozen=True, slots=True)
class Ending:
    """Where a text ends, and by which rule. known: how many characters it took to know, those behind the end included."""

    offset: int
    by: Literal["line", "block", "suffix", "repetition"]
    known: int


@dataclass(frozen=True, slots=True)
class _Line:
    """A whole line that is not blank. content: without its end and white space there; start, end: in the text, its newline left out."""

    content: str
    start: int
    end: int


def indentation(line: str) -> int:
    """Columns of white space that a line starts with, as Python's tokenizer counts.

    A tab fills up to a multiple of 8, a form feed begins again at 0.
    """
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


def ending(text: str, stop: Stop, going: int = 0) -> Ending | None:
    r"""Where `stop` ends the text, or None where it goes on.

    Whatever is appended to a text that has ended, the ending stays: a stream may be asked after each piece. A line ends at `\n`, `\r\n`
    and `\r`. going: so many characters of the text are known not to end it, which spares looking at them again. Where several rules end
    the text, the one that needs least of it counts; of those that need the same, the first of line, block, suffix, repetition.
    """
    found: list[Ending | None] = []
    if stop.kind == "line":
        newline = _NEWLINE.search(text)
        found = [newline and Ending(newline.start(), "line", newline.end()), _repeated_piece(text, going)]
    elif stop.kind == "block":
        lines = list(_lines(text, stop.before))
        piece = _repeated_piece(text, going)
        if piece is not None:
            piece = Ending(len(_without_last_line(text[: piece.known])), piece.by, piece.known)
        found = [_dedent(text, stop.indent), _suffix(text, lines, stop), _repeated_lines(lines, going), piece]
    return min((each for each in found if each), key=lambda each: each.known, default=None)


def kept(text: str, stop: Stop, going: int = 0) -> str:
    """The part of a whole text that `stop` leaves; a block's trailing blank lines are left out however it ended.

    The last line of a block is taken as whole here, whether a newline ends it or not. going: as `ending`.
    """
    ended = ending(text, stop, going) or (ending(text + "\n", stop, len(text)) if stop.kind == "block" else None)
    if ended is not None:
        return text[: ended.offset]
    return _without_blank_lines(text) if stop.kind == "block" else text


def is_common(line: str) -> bool:
    """Whether a line says nothing of where it stands: a bracket, `pass`, `return`, `else:`; a blank one is common as well."""
    return _COMMON.fullmatch(line) is not None


def _dedent(text: str, indent: int) -> Ending | None:
    for line in _LATER_LINE.finditer(text):
        if indentation(line[1]) < indent:
            return Ending(len(_without_blank_lines(text[: line.start() + 1])), "block", line.end())
    return None


def _suffix(text: str, lines: Sequence[_Line], stop: Stop) -> Ending | None:
    """Before the first line that stands behind the text: where that is a common one, the next must be there as well."""
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
            return Ending(len(_without_blank_lines(text[: lines[at].start])), "suffix", lines[at + needed - 1].end + 1)
    return None


def _repeated_lines(lines: Sequence[_Line], going: int) -> Ending | None:
    """Behind the first of several copies of a line or of a group of lines; blank lines between them don't count."""
    contents = [line.content for line in lines]
    for count in range(2, len(contents) + 1):
        if lines[count - 1].end < going:
            continue
        for size in range(1, min(_LONGEST_GROUP, count // 2) + 1):
            unit = contents[count - size : count]
            least = _LEAST_WITH_A_WORD if any(map(_WORD.search, unit)) else _LEAST_WITHOUT
            copies = max(_LINES_IN_A_ROW if size == 1 else _GROUPS_IN_A_ROW, -(-least // sum(map(len, unit))))
            begin = count - size * copies
            if begin >= 0 and contents[begin:count] == unit * copies:
                return Ending(lines[begin + size - 1].end, "repetition", lines[count - 1].end + 1)
    return None


def _repeated_piece(text: str, going: int) -> Ending | None:
    """Behind the first of several copies of a piece of a line."""
    start = max(text.rfind("\n", 0, going), text.rfind("\r", 0, going)) + 1
    for at in range(going, len(text)):
        if text[at] in "\r\n":
            start = at + 1
            continue
        length = at + 1 - start
        for size in range(1, min(_LONGEST_PIECE, length // _PIECES_IN_A_ROW) + 1):
            span = max(size * _PIECES_IN_A_ROW, _LEAST_WITH_A_WORD)
            if span > length or text[at] != text[at - size] or not _has_period(text, at + 1, span, size):
                continue
            if not _WORD.search(text[at + 1 - 2 * size : at + 1]):
                span = max(span, _LEAST_WITHOUT)
                if span > length or not _has_period(text, at + 1, span, size):
                    continue
            return Ending(at + 1 - span + size, "repetition", at + 1)
    return None


def _has_period(text: str, end: int, span: int, size: int) -> bool:
    return text[end - span + size : end] == text[end - span : end - size]


def _lines(text: str, before: str) -> Iterator[_Line]:
    """The lines that a newline ends and that are not blank."""
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

"""What stands behind the cursor is not written twice: an end that says it again is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from ...inference.completion.task import next_lines
from ...inference.model import Generation
from ...inference.stopping.statements import open_brackets, unpaired_closing
from ..cursor import Cursor
from ..syntax.guard import breaks

_CLOSER = re.compile(r"""\"{3}|'{3}|[)\]}>"'`]""")


def without_overlap_behind(generation: Generation, cursor: Cursor) -> Generation:
    """The step: a line ends where what stands behind the cursor begins."""
    return replace(generation, text=without_overlap(generation.text, cursor))


def without_overlap(text: str, cursor: Cursor) -> str:
    """The text without an end that repeats what already stands behind the cursor on its line, or goes on behind that.

    The longest repeated end is left out that neither splits a word nor breaks the code: before `)` the text `x)` becomes `x`, `f()` stays.
    A text that would break the code is also ended where it writes the quote or bracket that comes next, on this line or at the beginning
    of the next: between quotes `abc").strip()` becomes `abc`. In a language without a parser brackets decide.
    """
    if cursor.kind != "line" or not text:
        return text
    rest = cursor.rest_of_line
    for body in _without_repeated_end(text, rest):
        if (broken := breaks(body, cursor)) is None:
            broken = _takes_a_partner(body, text[len(body) :])
        if not broken:
            return body
    if breaks(text, cursor):
        return next((body for body in _without_next_closer(text, cursor) if not breaks(body, cursor)), text)
    return text


def _without_repeated_end(text: str, rest: str) -> Iterator[str]:
    """The text without each end with which the rest of the line begins, the longest end first."""
    for size in range(min(len(text), len(rest)), 0, -1):
        body, end = text[:-size], text[-size:]
        if rest.startswith(end) and not _splits_a_word(body, end) and not _splits_a_word(end, rest[size:]):
            yield body


def _without_next_closer(text: str, cursor: Cursor) -> Iterator[str]:
    """The text up to each quote or closing bracket that stands behind the cursor first, the longest first."""
    behind = cursor.rest_of_line.strip() or "".join(next_lines(cursor.suffix, 1)).strip()
    if closer := _CLOSER.match(behind):
        at = len(text)
        while (at := text.rfind(closer[0], 0, at)) >= 0:
            if text[:at].strip():
                yield text[:at]


def _splits_a_word(left: str, right: str) -> bool:
    return bool(left and right) and (left[-1].isalnum() or left[-1] == "_") and (right[0].isalnum() or right[0] == "_")


def _takes_a_partner(body: str, end: str) -> bool:
    """Whether an end closes a bracket that is opened in front of it."""
    return bool(unpaired_closing(end)) and open_brackets(body) > 0

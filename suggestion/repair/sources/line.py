"""The model fills in the line, and a selection of several lines as a block: its first choice and others."""

from __future__ import annotations

from collections.abc import Iterator

from ....inference.completion.task import Kind
from ...cut.steps import text_to_show
from ..candidate import Candidate, around, change_of, indent_of
from ..request import Request

# Texts that begin with so many different tokens.
_COUNT, _BLOCKS = 8, 3


def candidates(request: Request) -> Iterator[Candidate]:
    """What the model would write in the place of each line that is asked about, and of all lines together. Raises ModelError."""
    for number in request.asked:
        yield from _in_place_of(request, number, number + 1)
    if request.end - request.first > 1:
        yield from _in_place_of(request, request.first, request.end)


def _in_place_of(request: Request, first: int, end: int) -> Iterator[Candidate]:
    asking, (before, after) = request.asking, around(request.lines, first, end)
    indent, is_line = indent_of(request.lines[first]), end - first == 1
    kind: Kind = "line" if is_line else "block"
    cursor = asking.cursor(before + indent, after, kind)
    for made in asking.written(before + indent, after, kind=kind, count=_COUNT if is_line else _BLOCKS):
        text = text_to_show(made.text, cursor)
        if text is not None:
            yield Candidate(change_of(request.lines, first, end, (indent + text).split("\n")), "line")

"""A text inside brackets ends before a bracket that would close what a bracket behind the cursor closes already."""

from __future__ import annotations

from .statements import code_only, unpaired_closing
from .stop import StopPoint
from .text_so_far import Written


def at_closing_bracket(written: Written) -> StopPoint | None:
    """Stop before the bracket that closes one too many."""
    before, may_close = written.stop.before, written.stop.may_close
    if may_close is None:
        return None
    # Brackets in a string do not count, also in one that begins before the cursor.
    closing = unpaired_closing(code_only(before + written.text)[len(before) :])
    return StopPoint(closing[may_close], "bracket", closing[may_close] + 1) if len(closing) > may_close else None

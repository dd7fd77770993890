"""A text inside brackets ends before the bracket that would close them: that one stands behind the cursor already."""

from __future__ import annotations

from .statements import code_only, unpaired_closing
from .stop import StopPoint
from .text_so_far import Written


def at_closing_bracket(written: Written) -> StopPoint | None:
    """Stop before the first bracket that the text closes without opening it, where one stands behind the cursor."""
    if not written.stop.closed_behind:
        return None
    before = written.stop.before
    # Brackets in a string do not count, also in one that begins before the cursor.
    closing = unpaired_closing(code_only(before + written.text)[len(before) :])
    return StopPoint(closing[0], "bracket", closing[0] + 1) if closing else None

"""A block ends before the lines that stand behind it in the document already."""

from __future__ import annotations

import re

from .stop import StopPoint
from .text_so_far import Written, without_blank_lines

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

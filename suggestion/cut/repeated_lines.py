"""A text that only says the lines next to it again is hidden."""

from __future__ import annotations

from ...inference.completion.task import next_lines, start_of_line
from ...inference.stopping.following_lines import is_common
from ..cursor import Cursor
from ..positions import bare_lines

# So many characters before the cursor are looked at for the lines above it.
_NEAR = 1 << 12


def unless_it_repeats_lines(text: str, cursor: Cursor) -> str | None:
    """The text; None where the lines that come of it are those that stand right above or below."""
    made = _visible(start_of_line(cursor.prefix) + text + cursor.rest_of_line)
    below = list(next_lines(cursor.suffix, len(made)))
    above = _visible(cursor.prefix[-_NEAR:].removesuffix(start_of_line(cursor.prefix)))[-len(made) :]
    if all(map(is_common, made)):
        # A bracket or a `return` below another is none the same unless it stands in the same column.
        return None if made in (below, above) else text
    stripped = [line.strip() for line in made]
    return None if any(stripped == [line.strip() for line in lines] for lines in (below, above)) else text


def _visible(text: str) -> list[str]:
    return [line.rstrip() for line in bare_lines(text) if line.strip()]

"""Where a generation ends: the stopping rules, in order. Pure functions on the text so far."""

from __future__ import annotations

from collections.abc import Callable

from .closing_bracket import at_closing_bracket
from .dedent import at_dedent
from .following_lines import at_following_lines
from .newline import at_newline
from .repetition import at_repeated_lines, at_repeated_piece, before_line_with_a_loop
from .stop import Stop, StopPoint
from .text_so_far import Written, without_blank_lines

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

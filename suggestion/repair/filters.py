"""Which candidates are dropped: each filter is a function that says whether one is kept. `FILTERS` is their list.

What repeats another candidate is no further one: `gathering` counts who gave it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...calibration.control_characters import unseen_in
from ..cursor import Cursor
from ..cut.repeated_lines import unless_it_repeats_lines
from .candidate import Change, Lines, around
from .parsing import Parsing

# What a line of comment begins with, in most languages.
_COMMENTS = ("#", "//", "--", "/*", "*")


@dataclass(frozen=True, slots=True)
class Seen:
    """A file that is changed. prose: the lines that may change and have no code (`parsing.prose_in`)."""

    lines: Lines
    parsing: Parsing
    prose: frozenset[int] = frozenset()


Filter = Callable[[Change, Seen], bool]


def changes_something(change: Change, seen: Seen) -> bool:
    """Not what stands there."""
    return change.new != seen.lines[change.first : change.end]


def changes_code(change: Change, seen: Seen) -> bool:
    """Not white space or comments alone."""
    says_the_same = seen.parsing.says_the_same(change)
    if says_the_same is not None:
        return not says_the_same
    old = seen.lines[change.first : change.end]
    # Where a file of Python does not parse, how far a line is indented may be what is wrong.
    same = _with_indentation if seen.parsing.indents else _without_space
    return [same(line) for line in _code(old)] != [same(line) for line in _code(change.new)]


def breaks_nothing(change: Change, seen: Seen) -> bool:
    """Not a mistake of syntax where there was none."""
    return not seen.parsing.breaks(change)


def leaves_prose_alone(change: Change, seen: Seen) -> bool:
    """Not what a comment, a docstring or a text of several lines says: nothing can check what it makes of that."""
    return all(seen.lines[number] in change.new for number in range(change.first, change.end) if number in seen.prose)


def repeats_no_neighbour(change: Change, seen: Seen) -> bool:
    """Not the lines again that stand right above or below."""
    before, after = around(seen.lines, change.first, change.end)
    return unless_it_repeats_lines("\n".join(change.new), Cursor(before, after)) is not None


def hides_nothing(change: Change, seen: Seen) -> bool:
    """Not with a character that is not seen, unless the file has it there."""
    return not unseen_in("\n".join(change.new), "\n".join(seen.lines[change.first : change.end]))


# The cheapest first.
FILTERS: tuple[Filter, ...] = (
    changes_something,
    leaves_prose_alone,
    hides_nothing,
    repeats_no_neighbour,
    breaks_nothing,
    changes_code,
)


def is_kept(change: Change, seen: Seen) -> bool:
    """Whether no filter drops a change."""
    return all(keeps(change, seen) for keeps in FILTERS)


def _code(lines: Lines) -> list[str]:
    return [line for line in lines if line.strip() and not line.lstrip().startswith(_COMMENTS)]


def _with_indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())] + _without_space(line)


def _without_space(line: str) -> str:
    return "".join(line.split())

"""What a rule is, in any language: it proposes changes of some lines, one edit each, that would undo one kind of bug.

A rule is a module: EXAMPLE and `changes`. Its docstring states what it proposes. Offsets are in characters of the source.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from ..text_edits import Edit


@dataclass(frozen=True, slots=True)
class Change(Edit):
    """What a rule proposes. rank: 0 for the simplest at its place, more for those to leave out first."""

    rank: int = 0


class Rule(Protocol):
    """A module that is a rule.

    EXAMPLE: a program before and after one of its changes.
    changes: what may be changed in source[lines[0]:lines[1]], which are whole lines, in any order. Changes elsewhere, and those that do not
        parse, are dropped by the caller. Raises UnreadableSource.
    """

    EXAMPLE: tuple[str, str]

    def changes(self, source: str, lines: tuple[int, int]) -> Iterable[Change]: ...  # noqa: D102


def touches(start: int, end: int, lines: tuple[int, int]) -> bool:
    """Whether source[start:end] has a character in these lines, or begins there."""
    return start < lines[1] and (lines[0] < end or lines[0] <= start)

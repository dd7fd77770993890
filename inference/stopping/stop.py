"""The stopping rule that a generation is asked with, and the point at which one ends the text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Stop:
    """Which rules end the text (`rules.RULES`).

    "line" ends before the first newline or the bracket that stands behind the cursor, or behind the first round of a loop. "block" ends,
    without trailing blank lines, before the first of these: a line with less indentation than `indent` columns (the text's first line does
    not count), the lines that already stand behind the cursor, the second round of a loop of lines, a line with a loop in it. "none" ends
    only where the model itself ends.

    Attributes
        indent: the block's own indentation.
        before: the text before the cursor on its line.
        behind: the next lines behind the cursor that are not blank; two are enough.
        may_close: where a bracket stands right behind the cursor, how many that are open on its line the text closes; else None: any.
    """

    kind: Literal["line", "block", "none"]
    indent: int = 0
    before: str = ""
    behind: tuple[str, ...] = ()
    may_close: int | None = None


LINE = Stop("line")
NONE = Stop("none")


@dataclass(frozen=True, slots=True)
class StopPoint:
    """Where a text ends.

    offset: the end. by: the rule. known: how many characters of the text show it, with those behind the end.
    """

    offset: int
    by: Literal["line", "bracket", "block", "suffix", "repetition"]
    known: int

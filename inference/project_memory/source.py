"""Where a text was seen before."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Source:
    """A line of the user's files that a text was seen in before.

    path: None for the open file. line: from 1; in the open file from the cursor's line, which is 0, so that it stays right where lines are
    put in above. part: of its tokens, by their probability.
    """

    path: str | None
    line: int
    part: float

"""Claims of a paper, read from the cells of a study by explicit rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ..fitting.folds import MIN_GROUPS
from .cells import Cell, text_of

# A claim about many numbers shows those that decide, and of them so many.
MAX_SHOWN = 6

# What is taken as independent where there are too few projects: an interval of those says nothing of other projects.
_WITHIN_PROJECTS = ("file", "sample")

Verdict = Literal["confirmed", "refuted", "undecided", "not run"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A range that the cells must be in: above `above`, and below `below`. said: the rule for people."""

    said: str
    above: float = -math.inf
    below: float = math.inf

    def verdict(self, cell: Cell) -> Verdict:
        """Confirmed or refuted where the whole interval is inside or outside the range. A number without an interval is its own.

        A number of fewer than 5 groups decides nothing, nor does one of files or samples of too few projects, nor an interval without
        width: no group differs from another.
        """
        if cell.value is None:
            return "not run"
        few = 0 < cell.groups < MIN_GROUPS or cell.grouped_by in _WITHIN_PROJECTS
        if few or (cell.low is not None and cell.low == cell.high):
            return "undecided"
        low, high = (cell.value if end is None else end for end in (cell.low, cell.high))
        if self.above < low and high < self.below:
            return "confirmed"
        return "refuted" if high <= self.above or low >= self.below else "undecided"


@dataclass(frozen=True, slots=True)
class PaperClaim:
    """A claim and what the data say of it. paper: its numbers there. cells: ids of the cells that were read. ours: their numbers."""

    id: str
    claim: str
    paper: str
    rule: str
    verdict: Verdict
    ours: str
    cells: tuple[str, ...]


def claim_of(name: str, claim: str, printed: str, rule: Rule, wanted: Sequence[tuple[str, str]], cells: Mapping[str, Cell]) -> PaperClaim:
    """A claim about every one of some cells: refuted if one is, confirmed if all that were run are, else undecided.

    wanted: (what people call it, id) of each cell. A cell that was not run says nothing.
    """
    there = [(called, cells[cell]) for called, cell in wanted if cell in cells and cells[cell].value is not None]
    verdicts = [rule.verdict(cell) for _, cell in there]
    verdict: Verdict = "undecided"
    if not there:
        verdict = "not run"
    elif "refuted" in verdicts:
        verdict = "refuted"
    elif all(each == "confirmed" for each in verdicts):
        verdict = "confirmed"
    deciding = [(called, cell) for (called, cell), each in zip(there, verdicts, strict=True) if each == verdict]
    ours = "; ".join(f"{called} {text_of(cell)}" for called, cell in deciding[:MAX_SHOWN])
    if len(there) > min(len(deciding), MAX_SHOWN):
        ours += f"; {verdict} in {len(deciding)} of {len(there)}"
    return PaperClaim(name, claim, printed, rule.said, verdict, ours, tuple(cell.id for _, cell in there))

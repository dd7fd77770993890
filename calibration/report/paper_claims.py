"""Claims of a paper, read from the cells of a study by explicit rules."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..fitting.folds import MIN_GROUPS
from .cells import Cell, text_of

# Where more answers can't be read, the others say nothing: the model does not keep to the form.
MAX_UNREADABLE = 0.05

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


_COIN = Rule("better than a coin", above=0.5)


@dataclass(frozen=True, slots=True)
class Asked:
    """What must be true of a model's answers before a number of them decides a claim.

    unreadable: ids of the shares of answers that can't be read, 5 % at most. judge: the id of its balanced accuracy, above one half: of a
    constant judge and of a coin it is not. Empty where the answers are no judgements.
    """

    unreadable: tuple[str, ...] = ()
    judge: str = ""

    def why_not(self, cells: Mapping[str, Cell]) -> str:
        """Why the answers decide nothing; empty where they do."""
        shares = (cells[id].value or 0.0 for id in self.unreadable if id in cells)
        if (most := max(shares, default=0.0)) > MAX_UNREADABLE:
            return f"{most:.0%} of the answers can't be read"
        if self.judge and _COIN.verdict(cells.get(self.judge, Cell(self.judge))) != "confirmed":
            return "it is not shown to judge better than a coin"
        return ""


def widened(cell: Cell, of: int) -> Cell:
    """The cell with an interval that holds for so many numbers together (Bonferroni)."""
    if of < 2 or cell.value is None or cell.low is None or cell.high is None:
        return cell
    # Not at the top: the live server, which reads evidence but makes none, does not load scipy.
    from scipy.special import stdtrit

    degrees = cell.groups - 1 if cell.groups > 1 else math.inf
    factor = float(stdtrit(degrees, 1 - 0.025 / of) / stdtrit(degrees, 0.975))
    low, high = (cell.value + factor * (end - cell.value) for end in (cell.low, cell.high))
    return replace(cell, low=low, high=high)


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


def claim_of(
    name: str,
    claim: str,
    printed: str,
    rule: Rule,
    wanted: Sequence[tuple[str, str]],
    cells: Mapping[str, Cell],
    asked: Mapping[str, Asked] | None = None,
) -> PaperClaim:
    """A claim about every one of some cells: refuted if one is, confirmed if all that were run are, else undecided.

    wanted: (what people call it, id) of each cell. A cell that was not run says nothing. Intervals hold for all cells together. asked: by
    what people call it, what must be true of the answers behind a cell before it decides.
    """
    there = [(called, cells[cell]) for called, cell in wanted if cell in cells and cells[cell].value is not None]
    against = [asked[called].why_not(cells) if asked and called in asked else "" for called, _ in there]
    verdicts: list[Verdict] = [
        "undecided" if why else rule.verdict(widened(cell, len(there))) for (_, cell), why in zip(there, against, strict=True)
    ]
    verdict: Verdict = "undecided"
    if not there:
        verdict = "not run"
    elif "refuted" in verdicts:
        verdict = "refuted"
    elif all(each == "confirmed" for each in verdicts):
        verdict = "confirmed"
    deciding = [
        f"{called} {text_of(cell)}{f' ({why})' if why else ''}"
        for (called, cell), each, why in zip(there, verdicts, against, strict=True)
        if each == verdict
    ]
    ours = "; ".join(deciding[:MAX_SHOWN])
    if len(there) > min(len(deciding), MAX_SHOWN):
        ours += f"; {verdict} in {len(deciding)} of {len(there)}"
    return PaperClaim(name, claim, printed, rule.said, verdict, ours, tuple(cell.id for _, cell in there))

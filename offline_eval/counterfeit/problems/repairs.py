"""Repairing counterfeits, against drawing again. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from ....calibration.report.cells import CellTable, Row
from ..paper import median_correlation, repaired, wins
from ..shares import correlation_cell, mean_cell, share
from .judgements import unreadable_cell


@dataclass(frozen=True, slots=True)
class Repaired:
    """What became of one counterfeit. right: share of the repairs with a label that are right. pass_at_1: of drawing at the problem."""

    problem: str
    right: float
    answers: int
    unreadable: int
    pass_at_1: float | None


def by_problem(found: Sequence[Repaired]) -> dict[str, float]:
    """The mean share of right repairs at each problem."""
    rates: dict[str, list[float]] = {}
    for each in found:
        rates.setdefault(each.problem, []).append(each.right)
    return {problem: fmean(values) for problem, values in rates.items()}


def drawing_again(found: Sequence[Repaired]) -> dict[str, float]:
    """pass@1 at each problem where it is known."""
    return {each.problem: each.pass_at_1 for each in found if each.pass_at_1 is not None}


def repair_table(benchmark: str, generator: str, found: Sequence[Repaired]) -> CellTable:
    """Fig. 5 and 21: how often repairs are right, minus pass@1 of the same problems, and at how many they win."""
    rates, again = by_problem(found), drawing_again(found)
    both = [problem for problem in rates if problem in again]
    cells = (
        share("R/repairs", list(rates.values()), list(rates), repaired(benchmark, generator)),
        share("R/pass_at_1", [again[problem] for problem in both], both),
        mean_cell("R/difference", [rates[problem] - again[problem] for problem in both], both),
        share("R/wins", [float(rates[problem] > again[problem]) for problem in both], both, wins(benchmark)),
        correlation_cell("R/r", again, rates, median_correlation("repair")),
        unreadable_cell("R/unreadable", [(each.unreadable, each.answers, each.problem) for each in found]),
    )
    won = sum(rates[problem] > again[problem] for problem in both)
    columns = ("repairs that are right", "drawing again", "difference", "repair wins", "r with pass@1", "unreadable answers")
    again_by = f"Drawing again is by {generator}, whose programs are repaired: pass@1 of its draws at the same problems."
    notes = (f"Repair wins at {won} of {len(both)} problems.", again_by) if both else ()
    return CellTable(
        "R", "Repair against drawing again (figures 5 and 21)", ("counterfeits of",), columns, (Row((generator,), cells),), notes
    )

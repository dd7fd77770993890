"""Predicting what programs give: the four shares of Fig. 4. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, get_args

from ....calibration.report.cells import CellTable, Row
from ..paper import executed, median_correlation
from ..shares import correlation_cell, difference_cell, share
from .judgements import unreadable_cell

Stratum = Literal["right", "passing", "failing"]
STRATA: tuple[Stratum, ...] = get_args(Stratum)
SAID = {
    "right": "right program",
    "passing": "counterfeit that gives the right output",
    "failing": "counterfeit that gives a wrong output",
    "confused": "of these, answered as if right",
}


@dataclass(frozen=True, slots=True)
class Executed:
    """The answers to what one program gives for one input.

    right, confused: share of the answers that are its output, and the right program's output, which is another.
    answers, unreadable: how many were asked for, and can't be read. pass_at_1: of the program's generator at the problem.
    """

    problem: str
    stratum: Stratum
    right: float
    confused: float
    answers: int
    unreadable: int
    pass_at_1: float | None = None


def execution_table(benchmark: str, generator: str, found: Sequence[Executed]) -> CellTable:
    """Fig. 4: pass@1 of each stratum, and the share of answers that take a failing counterfeit for a right program."""
    rows = []
    for place, stratum in enumerate((*STRATA, "confused")):
        of_it = [each for each in found if each.stratum == ("failing" if stratum == "confused" else stratum)]
        values = [each.confused if stratum == "confused" else each.right for each in of_it]
        cell = share(f"E/{stratum}", values, [each.problem for each in of_it], executed(benchmark, generator, place))
        rows.append(Row((SAID[stratum],), (cell,)))
    notes = ("pass@1: the mean share of answers that are the output. The last two rows are disjoint.",)
    return CellTable("E", "Execution (figure 4)", ("program",), ("pass@1",), tuple(rows), notes)


def more_of_execution(found: Sequence[Executed]) -> CellTable:
    """All programs together, unreadable answers, and r with pass@1."""
    problems = [each.problem for each in found]
    success: dict[str, list[float]] = {}
    for each in found:
        success.setdefault(each.problem, []).append(each.right)
    rates = {each.problem: each.pass_at_1 for each in found if each.pass_at_1 is not None}
    r = correlation_cell("EM/r", rates, {problem: fmean(values) for problem, values in success.items()}, median_correlation("execute"))
    apart = [each for each in found if each.stratum != "passing"]
    fall = difference_cell(
        "EM/fall", [each.right for each in apart], [each.stratum == "right" for each in apart], [each.problem for each in apart]
    )
    cells = (
        share("EM/all", [each.right for each in found], problems),
        *((fall, r) if rates else ()),
        unreadable_cell("EM/unreadable", [(each.unreadable, each.answers, each.problem) for each in found]),
    )
    columns = ("pass@1", *(("right programs minus wrong outputs", "r with the generator's pass@1") if rates else ()), "unreadable answers")
    return CellTable("EM", "More of execution", ("programs",), columns, (Row(("all",), cells),))

"""The tables of programs: what was drawn, outputs that are predicted, and repairs. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, get_args

import numpy as np

from ....calibration.fitting.folds import numbered
from ....calibration.metrics.groups import within_auc
from ....calibration.report.cells import Cell, CellTable, Row, with_interval
from ...shares import BY, correlation_cell, difference_cell, mean_cell, share, two_classes
from ..classes import CLASSES, Class, buckets_of
from ..paper import executed, median_correlation, of_generators, repaired, wins
from .judgements import unreadable_cell
from .programs import RULES, SAID, Drawn, Program, Rule, class_of, pass_at_1, rates_of

Stratum = Literal["right", "passing", "failing"]
STRATA: tuple[Stratum, ...] = get_args(Stratum)
STRATUM_WORDS = {
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
        rows.append(Row((STRATUM_WORDS[stratum],), (cell,)))
    notes = ("pass@1: the mean share of answers that are the output. The last two rows are disjoint.",)
    return CellTable("E", "Execution (figure 4)", ("program",), ("pass@1",), tuple(rows), notes)


def more_of_execution(found: Sequence[Executed]) -> CellTable:
    """All programs together, unreadable answers, and r with pass@1."""
    problems = [each.problem for each in found]
    success: dict[str, list[float]] = {}
    for each in found:
        success.setdefault(each.problem, []).append(each.right)
    rates = rates_of(found)
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


def repair_table(benchmark: str, generator: str, found: Sequence[Repaired]) -> CellTable:
    """Fig. 5 and 21: how often repairs are right, minus pass@1 of the same problems, and at how many they win."""
    rates, again = by_problem(found), rates_of(found)
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


def execution_by_difficulty(found: Sequence[Executed]) -> CellTable:
    """Fig. 23: pass@1 of each stratum."""
    kinds: dict[str, Sequence[tuple[str, float]]] = {}
    for stratum in STRATA:
        kinds[stratum] = [(each.problem, each.right) for each in found if each.stratum == stratum]
    return _table("ED", "Execution by difficulty (figure 23)", rates_of(found), kinds)


def repair_by_difficulty(found: Sequence[Repaired]) -> CellTable:
    """Fig. 24: the share of right repairs."""
    kinds = {"repairs that are right": [(each.problem, each.right) for each in found]}
    return _table("RD", "Repair by difficulty (figure 24)", rates_of(found), kinds)


def _table(name: str, title: str, rates: Mapping[str, float], kinds: Mapping[str, Sequence[tuple[str, float]]]) -> CellTable:
    rows = []
    for cut, bucket, problems in buckets_of(rates):
        cells = []
        for kind, values in kinds.items():
            inside = [(problem, value) for problem, value in values if problem in set(problems)]
            place = f"{name}/{cut[:6].strip()}/{bucket}/{kind.replace(' ', '_')}"
            cells.append(share(place, [value for _, value in inside], [problem for problem, _ in inside]))
        rows.append(Row((cut, f"{bucket} ({len(problems)})"), tuple(cells)))
    return CellTable(name, title, ("buckets", "pass@1 (problems)"), tuple(kinds), tuple(rows))


# A program is called right by its generator's own tests if it passes at least this share of them.
OWN_THRESHOLD = 0.5


def class_table(benchmark: str, drawn: Sequence[Drawn]) -> CellTable:
    """Fig. 2: shares of the draws, and of distinct texts, that are right, counterfeit and other, by both rules."""
    rows = []
    for rule in RULES:
        for what in ("draws", "distinct texts"):
            names = [(each.problem, _class(benchmark, each, rule)) for each in drawn for _ in range(each.draws if what == "draws" else 1)]
            known = [(problem, kind) for problem, kind in names if kind is not None]
            problems = [problem for problem, _ in known]
            cells = []
            for place, kind in enumerate(CLASSES):
                paper = of_generators("Fig2", benchmark, place) if (what, rule) == ("draws", "benchmark") else ()
                cell_id = f"F2/{rule}/{what.replace(' ', '_')}/{kind}"
                cells.append(share(cell_id, [float(each == kind) for _, each in known], problems, paper))
            rows.append(Row((what, SAID[rule]), tuple(cells)))
    notes = ("A draw without a label is in no row. Texts that are drawn often count once among distinct texts.",)
    return CellTable("F2", "Classes of what was drawn (figure 2)", ("of", "rule"), CLASSES, tuple(rows), notes)


def size_table(benchmark: str, programs: Sequence[Program], drawn_problems: int) -> CellTable:
    """T1: programs of the balanced set, and pass@1 of its problems."""
    problems = list(dict.fromkeys(program.problem for program in programs))
    rates = rates_of(programs)
    rate = share("T1/pass_at_1", list(rates.values()), list(rates), of_generators("T1", benchmark, 1), why="pass@1 is not known")
    printed = ", ".join(f"{each.of} {each.value:.0f}" for each in of_generators("T1", benchmark, 0, percent=False))
    notes = (f"Programs of the paper's sets: {printed}.",) if printed else ()
    row = Row((f"{len(programs):,}", f"{len(problems):,} of {drawn_problems:,}"), (rate,))
    return CellTable("T1", "The balanced set (table 1)", ("programs", "problems"), ("pass@1 of these problems",), (row,), notes)


def difficulty_table(benchmark: str, drawn: Sequence[Drawn]) -> CellTable:
    """Classes of the draws by difficulty, which is the generator's own pass@1."""
    rows = []
    for cut, bucket, problems in buckets_of(pass_at_1(drawn)):
        inside = [each for each in drawn if each.problem in set(problems)]
        names = [(each.problem, kind) for each in inside if (kind := _class(benchmark, each, "strict")) for _ in range(each.draws)]
        cells = [
            share(f"D/{cut[:6].strip()}/{bucket}/{kind}", [float(k == kind) for _, k in names], [p for p, _ in names]) for kind in CLASSES
        ]
        rows.append(Row((cut, bucket, f"{len(problems)}"), tuple(cells)))
    return CellTable("D", "By difficulty, strict rule", ("buckets", "pass@1", "problems"), CLASSES, tuple(rows))


def own_tests_table(benchmark: str, drawn: Sequence[Drawn], programs: Sequence[Program]) -> CellTable:
    """The share of its generator's own tests that a text passes, as a judge of it."""
    tested = [(each, kind) for each in drawn if each.own_share is not None and (kind := _class(benchmark, each, "strict"))]
    chosen = {(program.problem, program.text) for program in programs}
    rows = []
    for name, of_what in (
        ("right against counterfeit", [(each, kind) for each, kind in tested if kind != "other"]),
        ("right against other", [(each, kind) for each, kind in tested if kind != "counterfeit"]),
        ("right against all wrong ones", tested),
        ("the balanced set", [(each, kind) for each, kind in tested if (each.problem, each.text) in chosen]),
    ):
        rows.append(Row((name,), tuple(_own_cells(f"O/{name.replace(' ', '_')}", of_what))))
    notes = (
        "Distinct texts alone. AUC: within a problem that has both, a right text against a wrong one, ties counted half.",
        f"Called right: a share of at least {OWN_THRESHOLD:.0%}.",
    )
    columns = ("AUC within a problem", "right ones called right", "wrong ones called wrong", "balanced accuracy", "J")
    return CellTable("O", "Its own tests as a judge", ("texts",), columns, tuple(rows), notes)


def _own_cells(place: str, found: Sequence[tuple[Drawn, Class]]) -> Iterator[Cell]:
    right = [kind == "right" for _, kind in found]
    shares, problems = [each.own_share or 0.0 for each, _ in found], [each.problem for each, _ in found]
    credit = [float((value >= OWN_THRESHOLD) == is_right) for value, is_right in zip(shares, right, strict=True)]
    groups = numbered(problems) if found else np.zeros(0, dtype=np.intp)
    auc = within_auc(shares, right, groups, groups) if len(set(problems)) > 1 else None
    yield with_interval(f"{place}/auc", auc, len(found), len(set(problems)), BY)
    yield from two_classes(place, right, credit, problems)


def _class(benchmark: str, drawn: Drawn, rule: Rule) -> Class | None:
    return None if drawn.tested is None else class_of(benchmark, drawn.tested, rule)

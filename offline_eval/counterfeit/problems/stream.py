"""The natural stream of a generator's draws: classes, size of the balanced set, difficulty, own tests as a judge. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ....calibration.fitting.folds import numbered
from ....calibration.metrics.groups import within_auc
from ....calibration.report.cells import Cell, CellTable, Row, with_interval
from ..classes import CLASSES, Class
from ..classes_of_problems import RULES, SAID, Rule, class_of
from ..difficulty import CUTS
from ..paper import of_generators
from ..shares import BY, of_two_classes, share
from .programs import Drawn, Program, pass_at_1

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
    rates = {program.problem: program.pass_at_1 for program in programs if program.pass_at_1 is not None}
    rate = share("T1/pass_at_1", list(rates.values()), list(rates), of_generators("T1", benchmark, 1), why="pass@1 is not known")
    printed = ", ".join(f"{each.of} {each.value:.0f}" for each in of_generators("T1", benchmark, 0, percent=False))
    notes = (f"Programs of the paper's sets: {printed}.",) if printed else ()
    row = Row((f"{len(programs):,}", f"{len(problems):,} of {drawn_problems:,}"), (rate,))
    return CellTable("T1", "The balanced set (table 1)", ("programs", "problems"), ("pass@1 of these problems",), (row,), notes)


def difficulty_table(benchmark: str, drawn: Sequence[Drawn]) -> CellTable:
    """Classes of the draws by difficulty, which is the generator's own pass@1."""
    rates, rows = pass_at_1(drawn), []
    for cut, buckets in CUTS.items():
        for bucket, problems in buckets(rates).items():
            inside = set(problems)
            names = [
                (each.problem, kind)
                for each in drawn
                if each.problem in inside and (kind := _class(benchmark, each, "strict"))
                for _ in range(each.draws)
            ]
            cells = [
                share(f"D/{cut[:6].strip()}/{bucket}/{kind}", [float(k == kind) for _, k in names], [p for p, _ in names])
                for kind in CLASSES
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
    for kind, wanted in (("sensitivity", True), ("specificity", False)):
        picked = [place for place, is_right in enumerate(right) if is_right == wanted]
        yield share(f"{place}/{kind}", [credit[n] for n in picked], [problems[n] for n in picked])
    yield of_two_classes(f"{place}/balanced_accuracy", right, credit, problems, 0.5, 0.0)
    yield of_two_classes(f"{place}/youden", right, credit, problems, 1.0, -1.0)


def _class(benchmark: str, drawn: Drawn, rule: Rule) -> Class | None:
    return None if drawn.tested is None else class_of(benchmark, drawn.tested, rule)

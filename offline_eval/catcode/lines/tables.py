"""The tables of the page: what is told apart, rule by rule; what became of each rule; and suggestions in rewritten code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ....analysis.morphisms.registry import MORPHISMS
from ....calibration.arrays import Floats
from ....calibration.fitting.folds import numbered, renumbered
from ....calibration.metrics.groups import mean, mean_share
from ....calibration.metrics.intervals import Interval
from ....calibration.report.blocks import Table
from ....calibration.report.cells import Cell, CellTable, Row, with_interval
from ....calibration.samples import Sample
from .facts import PlaceFacts
from .identification import Falls, told_apart, youden
from .rewrites import MAX_CHAIN, ON_LINE, WRONG, Outcome

BALANCED, AREA = "identification/balanced", "identification/auc"
_EQUIVALENT = tuple(entry.name for entry in MORPHISMS if entry.equivalent)
_BY_ARM = (
    ("context", "the code around the line", _EQUIVALENT),
    ("equivalent", "the line, so that it does the same", ON_LINE),
    ("wrong", "the line, so that tests fail", WRONG),
)
_OUTCOMES: tuple[Outcome, ...] = ("made", "no place", "refused", "elsewhere", "at import", "contradicted", "not noticed", "unknown")
_WHICH: tuple[tuple[str, str, Callable[[Falls], NDArray[np.bool_]]], ...] = (
    ("equivalent", "the line, so that it does the same", lambda falls: falls.arm == "equivalent"),
    ("wrong", "the line, so that tests fail", lambda falls: falls.arm == "wrong"),
    ("counterfeit", "of these: it looks right", lambda falls: falls.kind == "counterfeit"),
    ("other", "of these: other", lambda falls: falls.kind == "other"),
)


def identification_table(falls: Falls) -> CellTable:
    """Recall by class, and the mean fall; of rewrites of the code around the line by the length of their chain."""
    rows = [Row((said,), _cells(f"identification/{name}", falls, which(falls))) for name, said, which in _WHICH]
    for steps in range(1, MAX_CHAIN + 1):
        name = f"the code around the line, {steps} {'rewrite' if steps == 1 else 'rewrites'}"
        rows.append(Row((name,), _cells(f"identification/context_{steps}", falls, (falls.arm == "context") & (falls.steps == steps))))
    notes = (
        "recall: the share that is taken for what it is, by a threshold on the fall of log p that is chosen on other projects",
        "fall: log p of the line as it is minus that of its rewrite, or of the same line in rewritten code, in nats",
    )
    return CellTable("identification", "Rewrites taken for what they are", ("rewritten is",), ("recall", "mean fall"), tuple(rows), notes)


def accuracy_table(falls: Falls) -> CellTable:
    """Balanced accuracy, Youden's J and AUC of rewrites of the line."""
    n, groups = int(falls.rewritten.sum()), len(np.unique(falls.projects[falls.rewritten]))
    j = youden(falls)
    balanced = None if j is None else Interval(*((each + 1) / 2 for each in (j.value, j.low, j.high)))
    cells = (
        with_interval(BALANCED, balanced, n, groups, "project", percent=True),
        with_interval("identification/j", j, n, groups, "project", sign=True),
        with_interval(AREA, told_apart(falls), n, groups, "project"),
    )
    columns = ("balanced accuracy", "J", "AUC")
    notes = ("chance is 50 %, 0 and 1/2; AUC is of the falls, without a threshold",)
    return CellTable(
        "accuracy", "Equivalent against wrong rewrites of a line", ("",), columns, (Row(("by the fall of log p",), cells),), notes
    )


def rules_table(falls: Falls) -> CellTable:
    """Recall and mean fall of each rule; of rewrites around the line those of one step."""
    rows = []
    for arm, said, rules in _BY_ARM:
        for rule in rules:
            which = (falls.arm == arm) & (falls.rule == rule) & (falls.steps == 1)
            if which.any():
                rows.append(Row((said, rule), _cells(f"rule/{arm}/{rule}", falls, which)))
    return CellTable("rules", "By rule", ("rewritten is", "rule"), ("recall", "mean fall"), tuple(rows))


def _cells(name: str, falls: Falls, which: NDArray[np.bool_]) -> tuple[Cell, Cell]:
    told = which & falls.told
    return (
        share_cell(f"{name}/recall", falls.found[told], falls.projects[told]),
        _mean_cell(f"{name}/fall", falls.fall[which], falls.projects[which]),
    )


def share_cell(name: str, values: Sequence[bool] | NDArray[np.bool_], projects: NDArray[np.intp]) -> Cell:
    """The share of values (n,) that are true, by projects (n,); of one project without an interval."""
    v, groups = np.asarray(values, dtype=np.float64), renumbered(projects) if len(projects) else projects
    if not len(v):
        return Cell(name, why="–", percent=True)
    count = int(groups.max()) + 1
    if count < 2:
        return Cell(name, float(v.mean()), n=len(v), groups=1, percent=True)
    return with_interval(name, mean_share(v, groups), len(v), count, "project", percent=True)


def _mean_cell(name: str, values: Floats, projects: NDArray[np.intp], *, percent: bool = False) -> Cell:
    if not len(values):
        return Cell(name, why="–")
    groups = renumbered(projects)
    count = int(groups.max()) + 1
    if count < 2:
        return Cell(name, float(values.mean()), n=len(values), groups=1, sign=True, percent=percent)
    return with_interval(name, mean(values, groups), len(values), count, "project", sign=True, percent=percent)


def outcomes_table(facts: Sequence[PlaceFacts]) -> Table:
    """What became of each rule, counted."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for place in facts:
        for line in place["lines"]:
            for each in line["tried"]:
                counts.setdefault((each["arm"], each["rule"]), Counter())[each["outcome"]] += 1
    rows = tuple((arm, rule, *(str(found[outcome]) for outcome in _OUTCOMES)) for (arm, rule), found in sorted(counts.items()))
    return Table(
        "What became of each rule, in times that it was tried", ("rewritten", "rule", *_OUTCOMES), "ll" + "r" * len(_OUTCOMES), rows
    )


def regenerated_table(facts: Sequence[PlaceFacts], samples: Sequence[Sample]) -> CellTable:
    """What is suggested in rewritten code, beside what is suggested at the same place as it is."""
    rows = []
    fields: tuple[tuple[str, Literal["passes", "exact"]], ...] = (("tests_pass", "passes"), ("exact_match", "exact"))
    for event, field in fields:
        before, after, projects = _pairs(facts, {sample.id: sample.labels.get(event) for sample in samples}, field)
        cells = (
            share_cell(f"regenerated/{event}/before", before, projects),
            share_cell(f"regenerated/{event}/after", after, projects),
            _mean_cell(f"regenerated/{event}/difference", after.astype(np.float64) - before, projects, percent=True),
        )
        rows.append(Row(("passes its tests" if event == "tests_pass" else "is the project's own line",), cells))
    notes = ("places where something is suggested both times", "after the longest chain of rewrites at each place")
    columns = ("as it is", "rewritten", "difference")
    return CellTable("regenerated", "What is suggested in rewritten code", ("what is suggested",), columns, tuple(rows), notes)


def _pairs(
    facts: Sequence[PlaceFacts], labels: Mapping[str, bool | None], field: Literal["passes", "exact"]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp]]:
    """Whether it is true before and after (n,) at the places where both are known, and their projects (n,)."""
    found = [
        (before, after, place["project"])
        for place in facts
        if (made := place["regenerated"]) and (before := labels.get(place["id"])) is not None and (after := made[field]) is not None
    ]
    both = np.array([row[:2] for row in found], dtype=np.bool_).reshape(len(found), 2)
    return both[:, 0], both[:, 1], numbered([project for *_, project in found])

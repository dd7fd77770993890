"""The tables and pictures of the page: what is told apart, rule by rule; what became of each rule; suggestions in rewritten code.

A rewrite is called wrong, without a question, where the log-probability of its line falls far enough. How far is far enough is taken from
other projects. Recall by class is what the paper calls precision (Lin et al. 2024, experiment 1).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ....analysis.morphisms.registry import MORPHISMS
from ....calibration.arrays import Floats, sigmoid
from ....calibration.bands import LIKELY, NO_EVIDENCE, POSSIBLE
from ....calibration.fitting.folds import numbered
from ....calibration.metrics.groups import difference
from ....calibration.metrics.intervals import Interval, intervals
from ....calibration.report.blocks import Table
from ....calibration.report.cells import Cell, CellTable, Row, with_interval
from ....calibration.report.plots import Picture, panel, svg
from ....calibration.samples import Sample
from ....calibration.validation.catcode_facts import LineFact, PlaceFact, VariantFact
from ...shares import mean_cell, share
from .rewrites import MAX_CHAIN, ON_LINE, WRONG, Outcome

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, slots=True)
class Falls:
    """Rewrites (n,): how far the log-probability of the line falls, in nats; what they are; and their projects, numbered from 0.

    arm, kind: as of a variant. rule: of its last step. steps: how many. threshold: a fall above it is called wrong, from other projects;
    nan without any.
    """

    fall: Floats
    arm: NDArray[np.str_]
    kind: NDArray[np.str_]
    rule: NDArray[np.str_]
    steps: NDArray[np.intp]
    projects: NDArray[np.intp]
    threshold: Floats

    @property
    def found(self) -> NDArray[np.bool_]:
        """Whether each is taken for what it is."""
        return np.asarray((self.fall > self.threshold) == (self.arm == "wrong"))

    @property
    def told(self) -> NDArray[np.bool_]:
        """Which there is a threshold for."""
        return np.isfinite(self.threshold)

    @property
    def rewritten(self) -> NDArray[np.bool_]:
        """Those of the line itself, which are told apart: the equivalent and the wrong ones."""
        return np.asarray((self.arm != "context") & self.told)


def scored(facts: Sequence[PlaceFact]) -> Iterator[tuple[PlaceFact, LineFact, VariantFact, float]]:
    """Each rewrite that the model scored, with its line, and how far the log-probability of that falls."""
    for place in facts:
        for line in place.lines:
            for variant in line.variants:
                before, after = ((measures or {}).get("total_logprob") for measures in (line.plain, variant.measures))
                if before is not None and after is not None:
                    yield place, line, variant, before - after


def falls_of(facts: Sequence[PlaceFact]) -> Falls:
    """The falls of all rewrites that the model scored."""
    rows = list(scored(facts))
    variants = [variant for *_, variant, _ in rows]
    fall = np.array([fall for *_, fall in rows], dtype=np.float64)
    arm, kind, rule = (
        np.array(told, dtype=np.str_)
        for told in ([one.arm for one in variants], [one.kind for one in variants], [one.rules[-1] for one in variants])
    )
    projects = numbered([place.project for place, *_ in rows])
    steps = np.array([len(one.rules) for one in variants], dtype=np.intp)
    return Falls(fall, arm, kind, rule, steps, projects, thresholds(fall, arm, projects))


def thresholds(fall: Floats, arm: NDArray[np.str_], projects: NDArray[np.intp]) -> Floats:
    """For each rewrite the fall that best tells wrong from equivalent ones in the other projects; nan where these lack one of the two."""
    found = np.full(len(fall), np.nan)
    own = arm != "context"
    for project in np.unique(projects).tolist():
        others = own & (projects != project)
        found[projects == project] = _best(fall[others], arm[others] == "wrong")
    return found


def _best(fall: Floats, wrong: NDArray[np.bool_]) -> float:
    """The threshold with the highest balanced accuracy, halfway between two falls; of several the lowest. nan without both classes."""
    if wrong.all() or not wrong.any():
        return np.nan
    values = np.unique(fall)
    between = np.concatenate([[values[0] - 1.0], (values[:-1] + values[1:]) / 2])
    right, left = (np.searchsorted(np.sort(fall[rows]), between, side="right") / rows.sum() for rows in (wrong, ~wrong))
    return float(between[np.argmax(left - right)])


def youden(falls: Falls) -> Interval | None:
    """Recall of the wrong ones plus recall of the equivalent ones, minus 1. None of fewer than two projects."""
    rows = falls.rewritten
    if len(np.unique(falls.projects[rows])) < 2:
        return None
    said_wrong = (falls.fall > falls.threshold)[rows]
    return difference(said_wrong, (falls.arm == "wrong")[rows], numbered(falls.projects[rows].tolist()))


def told_apart(falls: Falls) -> Interval | None:
    """The AUC of the falls, wrong against equivalent ones, over all lines. None where it is undefined."""
    rows = falls.arm != "context"
    wrong = (falls.arm == "wrong")[rows]
    if len(np.unique(falls.projects[rows])) < 2 or wrong.all() or not wrong.any():
        return None
    bounded = np.clip(sigmoid(falls.fall[rows] / 10), 1e-9, 1 - 1e-9)  # an AUC asks for the order alone
    return intervals(bounded, wrong, numbered(falls.projects[rows].tolist()), resamples=2).auc


_BY: Any = {"why": "–", "by": "project"}
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
        share(f"{name}/recall", falls.found[told].tolist(), falls.projects[told].tolist(), **_BY),
        mean_cell(f"{name}/fall", falls.fall[which].tolist(), falls.projects[which].tolist(), percent=False, **_BY),
    )


def outcomes_table(facts: Sequence[PlaceFact]) -> Table:
    """What became of each rule, counted."""
    count = Counter((each.arm, each.rule, each.outcome) for place in facts for line in place.lines for each in line.tried)
    rules = sorted({(arm, rule) for arm, rule, _ in count})
    rows = tuple((arm, rule, *(str(count[arm, rule, outcome]) for outcome in _OUTCOMES)) for arm, rule in rules)
    return Table(
        "What became of each rule, in times that it was tried", ("rewritten", "rule", *_OUTCOMES), "ll" + "r" * len(_OUTCOMES), rows
    )


def regenerated_table(facts: Sequence[PlaceFact], samples: Sequence[Sample], *, tested: bool = True) -> CellTable:
    """What is suggested in rewritten code, beside what is suggested at the same place as it is. tested: whether tests judged it."""
    rows = []
    fields: tuple[tuple[str, Literal["passes", "exact"], str], ...] = (
        ("tests_pass", "passes", "passes its tests"),
        ("exact_match", "exact", "is the project's own line"),
    )
    for event, field, said in fields if tested else fields[1:]:
        labels = {sample.id: sample.labels.get(event) for sample in samples}
        known = [
            (float(before), float(after), place.project)
            for place in facts
            if (made := place.regenerated) and (before := labels.get(place.id)) is not None and (after := getattr(made, field)) is not None
        ]
        first, second, projects = [one for one, _, _ in known], [two for _, two, _ in known], [project for *_, project in known]
        cells = (
            share(f"regenerated/{event}/before", first, projects, **_BY),
            share(f"regenerated/{event}/after", second, projects, **_BY),
            mean_cell(f"regenerated/{event}/difference", [two - one for one, two, _ in known], projects, **_BY),
        )
        rows.append(Row((said,), cells))
    notes = ("places where something is suggested both times", "after the longest chain of rewrites at each place")
    columns = ("as it is", "rewritten", "difference")
    return CellTable("regenerated", "What is suggested in rewritten code", ("what is suggested",), columns, tuple(rows), notes)


# Further falls are few, and drawn at the edge.
_EDGES = (-5.0, 20.0)


def falls_picture(falls: Falls) -> Picture | None:
    """The share of rewrites whose line falls no further, for each kind. None without a rewrite."""
    kinds = (
        ("code around the line", falls.arm == "context", LIKELY.colour, "solid"),
        ("equivalent", falls.arm == "equivalent", LIKELY.colour, "dashed"),
        ("wrong, looks right", falls.kind == "counterfeit", POSSIBLE.colour, "solid"),
        ("wrong, other", falls.kind == "other", NO_EVIDENCE.colour, "dashed"),
    )
    shown = [(name, np.sort(falls.fall[rows]), colour, dashes) for name, rows, colour, dashes in kinds if rows.any()]
    if not shown:
        return None

    def draw(figure: Figure) -> None:
        axes = panel(figure, 0.7, 0.35, 5.4, 3.0)
        for name, values, colour, dashes in shown:
            at = np.concatenate([[_EDGES[0]], np.clip(values, *_EDGES), [_EDGES[1]]])
            shares = np.concatenate([[0.0], np.arange(1, len(values) + 1) / len(values), [1.0]])
            axes.step(at, shares, where="post", color=colour, linestyle=dashes, linewidth=1.5, label=f"{name} ({len(values):,})")
        axes.axvline(0, color=NO_EVIDENCE.colour, linewidth=0.8, linestyle="dotted")
        axes.set(xlim=_EDGES, ylim=(0, 1), xlabel="fall of log p, nats", ylabel="share that falls no further")
        axes.legend(loc="lower right")

    title = f"How far the log-probability of a line falls, of {len(falls.fall):,} rewrites"
    medians = ", ".join(f"{name} {np.median(values):z.2f}" for name, values, *_ in shown)
    return Picture("falls", title, f"{title}. Medians in nats: {medians}.", svg(draw, (6.4, 3.95)))

"""The tables of the page on lines: classes, how plausible wrong texts are, judges, repair, and difficulty. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....calibration.arrays import Floats
from ....calibration.fitting.folds import numbered
from ....calibration.metrics.groups import within_auc
from ....calibration.report.cells import Cell, CellTable, PaperValue, Row, with_interval
from ...shares import correlation_cell, log_odds_cell, mean_cell, of_two_classes, share, two_classes
from ..classes import CLASSES, RULES, Class, buckets_of, class_of
from ..paper import called_correct, judged, log_odds_of_being_called_correct, median_correlation, of_generators, repaired, wins
from .texts import BY, Gap, Text, distinct

# Of the paper's benchmarks the one whose numbers stand beside ours.
BENCHMARK = "humaneval"
_OTHERS = "threshold of other projects"


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge. score: the higher, the likelier right; nan where it is not known. from_: calls right from there on; None: a threshold that
    tells best on the other projects.
    """

    key: str
    name: str
    score: Callable[[Text], float]
    from_: float | None = None


JUDGES = (
    Judge("own", "its own probability p_tot, from ½ on", lambda text: text.p_tot, 0.5),
    Judge("own_fitted", f"its own probability, {_OTHERS}", lambda text: text.p_tot),
    Judge("asked", "asked whether it is right, from ½ on", lambda text: text.asked, 0.0),
    Judge("asked_fitted", f"asked whether it is right, {_OTHERS}", lambda text: text.asked),
    Judge("agreement_fitted", f"share of the draws that agree, {_OTHERS}", lambda text: text.agreement),
)
# The one that does what the paper's judges do.
AS_THE_PAPER = "asked"


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What a judge says of right texts and counterfeits: scores and calls, (n,) each. Texts that it says nothing of are left out."""

    judge: Judge
    texts: Sequence[Text]
    scores: Floats
    calls: NDArray[np.bool_]

    @property
    def right(self) -> NDArray[np.bool_]:
        """Which of the texts are."""
        return np.array([text.kind == "right" for text in self.texts], dtype=np.bool_)

    @property
    def credit(self) -> Floats:
        """1 where the judge is right about a text."""
        return np.asarray(self.calls == self.right, dtype=np.float64)

    @property
    def projects(self) -> list[str]:
        """Of the texts."""
        return [text.project for text in self.texts]


def best_threshold(scores: Floats, right: NDArray[np.bool_]) -> float:
    """From where on a text is to be called right so that Youden's J is largest; of several the lowest. Needs both classes."""
    values, of = np.unique(scores, return_inverse=True)
    hits, alarms = (np.cumsum(np.bincount(of, each, len(values))[::-1])[::-1] / each.sum() for each in (right, ~right))
    return float(values[np.argmax(hits - alarms)])


def calls_of(scores: Floats, right: NDArray[np.bool_], groups: NDArray[np.intp]) -> NDArray[np.bool_] | None:
    """What is called right, (n,), with a threshold for each group that was fitted on the others. None where they lack a class."""
    called = np.zeros(len(scores), dtype=np.bool_)
    for group in np.unique(groups):
        others = groups != group
        if not right[others].any() or right[others].all():
            return None
        called[~others] = scores[~others] >= best_threshold(scores[others], right[others])
    return called


def verdicts_of(judge: Judge, texts: Sequence[Text]) -> Verdicts | None:
    """What a judge says of right texts and counterfeits. None where it can't say anything."""
    known = [text for text in texts if text.kind in ("right", "counterfeit") and not np.isnan(judge.score(text))]
    if not known:
        return None
    scores = np.array([judge.score(text) for text in known])
    right = np.array([text.kind == "right" for text in known], dtype=np.bool_)
    if judge.from_ is not None:
        return Verdicts(judge, known, scores, scores >= judge.from_)
    calls = calls_of(scores, right, numbered([text.project for text in known]))
    return None if calls is None else Verdicts(judge, known, scores, calls)


def all_verdicts(texts: Sequence[Text]) -> list[Verdicts]:
    """What each judge says of distinct texts."""
    return [found for judge in JUDGES if (found := verdicts_of(judge, texts))]


def judging_table(verdicts: Sequence[Verdicts]) -> CellTable:
    """Fig. 13 and 3: how often each judge is right about right texts and about counterfeits."""
    rows, printed = [], judged(BENCHMARK, "")
    for each in verdicts:
        paper = printed if each.judge.key == AS_THE_PAPER else {}
        place, credit, right = f"J/{each.judge.key}", each.credit.tolist(), each.right.tolist()
        cells = [*two_classes(place, right, credit, each.projects, paper, by=BY)]
        cells.append(_within(f"{place}/within", each))
        rows.append(Row((each.judge.name,), tuple(cells)))
    columns = ("right called right", "counterfeits called wrong", "balanced accuracy", "Youden's J", "AUC within a place")
    notes = (
        "Each distinct text of a gap counts once. A judge that calls all right has a balanced accuracy of 50 % and a J of 0.",
        "The paper's numbers are those of each model on its own HumanEval programs, which it was asked about in words.",
        "AUC within a place: of its right texts against its counterfeits, the mean over the places that have both; ½ is chance.",
    )
    return CellTable("J", "Judging (figures 3 and 13)", ("judge",), columns, tuple(rows), notes)


def _within(place: str, verdicts: Verdicts) -> Cell:
    groups, gaps = numbered(verdicts.projects), numbered([text.gap for text in verdicts.texts])
    both = np.isin(gaps, np.flatnonzero((np.bincount(gaps, verdicts.right) > 0) & (np.bincount(gaps, ~verdicts.right) > 0)))
    if not both.any():
        return Cell(place, grouped_by=BY, why="no place has both")
    inside = np.unique(groups[both], return_inverse=True)[1].astype(np.intp)
    count, n = int(inside.max()) + 1, int(both.sum())
    # `within_auc` takes what lies between 0 and 1, and looks at the order alone
    ranks = np.unique(verdicts.scores[both], return_inverse=True)[1] / max(1, n)
    found = within_auc(ranks, verdicts.right[both], gaps[both], inside) if count > 1 else None
    return with_interval(place, found, n, count, BY)


def strata_of(texts: Sequence[Text]) -> dict[str, list[Text]]:
    """The texts by how right they look, as the paper's figures 4 and 25 have it for programs."""
    found: dict[str, list[Text]] = {
        "right": [],
        "counterfeit that keeps half of the tests or more": [],
        "counterfeit that keeps fewer": [],
        "other that parses": [],
        "does not parse": [],
    }
    names = list(found)
    for text in texts:
        if text.kind is None:
            continue
        half = (text.outcomes.share or 0.0) >= 0.5
        number = 0 if text.kind == "right" else 4 if not text.outcomes.parses else 3 if text.kind == "other" else 1 if half else 2
        found[names[number]].append(text)
    return found


def strata_table(texts: Sequence[Text]) -> CellTable:
    """Fig. 4's rows, and Fig. 25: the share that each judge with a fixed threshold calls right, and the mean of p_tot."""
    judges = [judge for judge in JUDGES if judge.from_ is not None]
    rows = []
    for number, (stratum, found) in enumerate(strata_of(texts).items()):
        cells = []
        for judge in judges:
            known = [text for text in found if not np.isnan(judge.score(text))]
            paper: tuple[PaperValue, ...] = (
                {1: called_correct(1), 2: called_correct(0)}.get(number, ()) if judge.key == AS_THE_PAPER else ()
            )
            called = [float(judge.score(text) >= (judge.from_ or 0.0)) for text in known]
            cells.append(share(f"S/{number}/{judge.key}", called, [text.project for text in known], paper, by=BY))
        cells.append(share(f"S/{number}/p_tot", [text.p_tot for text in found], [text.project for text in found], by=BY))
        rows.append(Row((stratum,), tuple(cells)))
    columns = (*(f"called right: {judge.name}" for judge in judges), "mean p_tot")
    return CellTable("S", "How right the texts look, by stratum (figures 4 and 25)", ("text",), columns, tuple(rows), _STRATA_NOTES)


_STRATA_NOTES = (
    "The paper's figure 4 is of executing programs, which a model of lines can't be asked for; its rows are kept. Its numbers here are of "
    "figure 25: counterfeits of CL-7B that pass more, or less, than half of the tests.",
)


def pass_rate_table(verdicts: Sequence[Verdicts]) -> CellTable:
    """Fig. 25: whether counterfeits that keep half of the tests are called right more often: log odds ratios."""
    rows = []
    for each in verdicts:
        wrong = np.flatnonzero(~each.right).tolist()
        half = [(each.texts[row].outcomes.share or 0.0) >= 0.5 for row in wrong]
        paper = log_odds_of_being_called_correct() if each.judge.key == AS_THE_PAPER else ()
        projects = [each.projects[row] for row in wrong]
        cell = log_odds_cell(f"H/{each.judge.key}", [bool(each.calls[row]) for row in wrong], half, projects, paper, by=BY)
        rows.append(Row((each.judge.name,), (cell,)))
    title = "Counterfeits called right: log odds ratio of keeping half of the tests or more"
    return CellTable(
        "H", title, ("judge",), ("log odds ratio",), tuple(rows), ("Above 0: those that keep more are called right more often.",)
    )


def accuracy_by_gap(verdicts: Verdicts) -> dict[str, float]:
    """The balanced accuracy at each gap that has right texts and counterfeits.

    The mean over all texts of a gap would follow its share of right ones, which is nearly pass@1, for a judge that calls everything right.
    """
    found: dict[str, dict[bool, list[float]]] = {}
    for text, is_right, credit in zip(verdicts.texts, verdicts.right.tolist(), verdicts.credit.tolist(), strict=True):
        found.setdefault(text.gap, {}).setdefault(is_right, []).append(credit)
    return {gap: fmean(map(fmean, by_class.values())) for gap, by_class in found.items() if len(by_class) == 2}


def streams_of(texts: Sequence[Text]) -> Iterator[tuple[tuple[str, str], str, list[Text]]]:
    """(names, key, texts) of what is shown, of each draw, and of each distinct text, by task."""
    for task in dict.fromkeys(text.task for text in texts):
        of_task = [text for text in texts if text.task == task]
        drawn = [text for text in of_task if text.stream]
        yield (task, "shown by the editor"), f"{task}/shown", [text for text in of_task if not text.stream]
        yield (task, "each draw"), f"{task}/draws", drawn
        yield (task, "distinct drawn texts"), f"{task}/distinct", distinct(drawn)


# Of a text a number from 0 to 1, by the name of its cells.
Numbers = Mapping[str, Callable[[Text], float]]


def _rows_of(table: str, texts: Sequence[Text], kinds: Sequence[Class], numbers: Numbers) -> tuple[Row, ...]:
    """The means of numbers over the texts of these classes, by task and stream."""
    rows = []
    for names, key, found in streams_of(texts):
        known = [text for text in found if text.kind in kinds]
        projects = [text.project for text in known]
        cells = (share(f"{table}/{key}/{name}", [number(text) for text in known], projects, by=BY) for name, number in numbers.items())
        rows.append(Row(names, tuple(cells)))
    return tuple(rows)


def class_table(texts: Sequence[Text]) -> CellTable:
    """Fig. 2: the classes of what was written, by the main rule."""
    numbers: Numbers = {kind: partial(lambda kind, text: float(text.kind == kind), kind) for kind in CLASSES}
    printed = tuple(of_generators("Fig2", BENCHMARK, place) for place in range(len(CLASSES)))
    rows = tuple(
        replace(row, cells=tuple(replace(cell, paper=paper) for cell, paper in zip(row.cells, printed, strict=True)))
        if row.names[1] == "each draw"
        else row
        for row in _rows_of("C", texts, CLASSES, numbers)
    )
    notes = (f"Counterfeit: {RULES['kept']}. Other: the rest of the wrong ones.", "Texts that no label tells of are left out.")
    return CellTable("C", "Classes of what the model writes (figure 2)", ("task", "texts"), CLASSES, rows, notes)


def rule_table(texts: Sequence[Text]) -> CellTable:
    """How much hangs on the rule that says what looks right."""
    numbers: Numbers = {rule: partial(lambda rule, text: float(class_of(text.outcomes, rule) == "counterfeit"), rule) for rule in RULES}
    notes = tuple(f"{rule}: {said}." for rule, said in RULES.items())
    rows = _rows_of("CR", texts, CLASSES, numbers)
    return CellTable("CR", "Share of counterfeits by three rules", ("task", "texts"), tuple(RULES), rows, notes)


_LOOKS: Numbers = {
    "parses": lambda text: bool(text.outcomes.parses),
    "keeps_a_test": lambda text: text.outcomes.kept >= 1 and bool(text.outcomes.parses),
    "keeps_half_of_them": lambda text: (text.outcomes.share or 0.0) >= 0.5 and bool(text.outcomes.parses),
    "crashes": lambda text: text.outcomes.error == "crash",
    "only_assertions_fail": lambda text: text.outcomes.error == "wrong",
    "share_kept": lambda text: text.outcomes.share or 0.0,
}


def plausibility_table(texts: Sequence[Text]) -> CellTable:
    """How plausible the wrong texts are."""
    notes = ("Of the tests that touch the text, at most 40 of them. A text that does not parse keeps none.",)
    columns = (*(name.replace("_", " ") for name in _LOOKS if name != "share_kept"), "mean share of tests kept")
    rows = _rows_of("P", texts, ("counterfeit", "other"), _LOOKS)
    return CellTable("P", "How plausible the wrong texts are", ("task", "wrong texts"), columns, rows, notes)


def repair_table(gaps: Sequence[Gap]) -> CellTable:
    """Fig. 5 and 21: repairing a counterfeit against drawing another text at the same gap."""
    rows = []
    for task in dict.fromkeys(gap.task for gap in gaps):
        found = [gap for gap in gaps if gap.task == task and gap.repair_rate is not None and gap.pass_rate is not None]
        repairs, drawn = [gap.repair_rate or 0.0 for gap in found], [gap.pass_rate or 0.0 for gap in found]
        projects = [gap.project for gap in found]
        pairs = list(zip(repairs, drawn, strict=True))
        place = f"R/{task}"
        cells = (
            share(f"{place}/repairs", repairs, projects, repaired(BENCHMARK, ""), "nothing was repaired", by=BY),
            share(f"{place}/drawn", drawn, projects, (), "nothing was repaired", by=BY),
            mean_cell(f"{place}/difference", [a - b for a, b in pairs], projects, by=BY),
            share(f"{place}/wins", [float(a > b) for a, b in pairs], projects, wins(BENCHMARK), "nothing was repaired", by=BY),
            share(f"{place}/ties", [float(a == b) for a, b in pairs], projects, (), "nothing was repaired", by=BY),
        )
        rows.append(Row((task,), cells))
    columns = ("repairs that pass", "draws that pass", "repairs minus draws", "places where repair wins", "ties")
    notes = (
        "Of at most 5 counterfeits of a gap, each repaired once greedily and 5 times at the temperature; n counts gaps.",
        "What the editor would not show counts as failed, among repairs and draws.",
        "The gaps are those where a text failed. This alone makes draws look worse than they are: by 1 to 2 points, of ten draws.",
    )
    return CellTable("R", "Repair against drawing again (figures 5 and 21)", ("task",), columns, tuple(rows), notes)


def difficulty_table(gaps: Sequence[Gap], verdicts: Verdicts | None) -> CellTable:
    """Fig. 6: judging and repairing by pass@1 of the model itself."""
    rates = {gap.id: gap.pass_rate for gap in gaps if gap.pass_rate is not None}
    by_id = {gap.id: gap for gap in gaps}
    rows = []
    for cut, bucket, found in buckets_of(rates):
        place = f"D/{cut.split()[0]}/{bucket}"
        mended = [by_id[gap] for gap in found if by_id[gap].repair_rate is not None]
        judged = _accuracy(f"{place}/judging", verdicts, set(found))
        repairs = share(f"{place}/repair", [gap.repair_rate or 0.0 for gap in mended], [gap.project for gap in mended], by=BY)
        rows.append(Row((cut, f"{bucket} ({len(found)})"), (judged, repairs)))
    name = verdicts.judge.name if verdicts else "no judge"
    columns = (f"judging, balanced accuracy: {name}", "repairs that pass")
    return CellTable("D", "By difficulty: pass@1 of the gap (figure 6)", ("cut", "gaps"), columns, tuple(rows))


def _accuracy(place: str, verdicts: Verdicts | None, gaps: set[str]) -> Cell:
    rows = [row for row, text in enumerate(verdicts.texts) if text.gap in gaps] if verdicts else []
    if verdicts is None or not rows:
        return Cell(place, why="nothing to judge", grouped_by=BY, percent=True)
    right, credit = verdicts.right, verdicts.credit
    projects = [verdicts.texts[row].project for row in rows]
    return of_two_classes(place, [bool(right[row]) for row in rows], [float(credit[row]) for row in rows], projects, 0.5, 0.0, by=BY)


def correlation_table(gaps: Sequence[Gap], verdicts: Verdicts | None) -> CellTable:
    """Fig. 7: Pearson's r over gaps between pass@1 and how well they are judged and repaired."""
    rates = {gap.id: gap.pass_rate for gap in gaps if gap.pass_rate is not None}
    repairs = {gap.id: gap.repair_rate for gap in gaps if gap.repair_rate is not None}
    why = "too few gaps that differ"
    of_gaps: dict[str, Any] = {"groups": {gap.id: gap.project for gap in gaps}, "by": BY, "too_few": why, "alike": why}
    judging = correlation_cell("Q/judge", rates, accuracy_by_gap(verdicts) if verdicts else {}, median_correlation("judge"), **of_gaps)
    repair = correlation_cell("Q/repair", rates, repairs, median_correlation("repair"), **of_gaps)
    rows = (Row(("judging",), (judging,)), Row(("repair",), (repair,)))
    notes = ("Judging: the balanced accuracy at the gaps that have right texts and counterfeits.",)
    return CellTable("Q", "Pearson's r between pass@1 and success, over gaps (figure 7)", ("what",), ("r",), rows, notes)

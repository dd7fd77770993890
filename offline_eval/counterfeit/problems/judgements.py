"""Judging programs: confusion, sensitivity, specificity, balanced accuracy and J, by rule and by difficulty. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from ....calibration.fitting.folds import numbered
from ....calibration.metrics.groups import within_auc
from ....calibration.report.blocks import Table
from ....calibration.report.cells import Cell, CellTable, PaperValue, Row, with_interval
from ...shares import BY, correlation_cell, difference_cell, log_odds_cell, mean_cell, share, two_classes
from ..classes import buckets_of
from ..paper import called_correct, judged, log_odds_of_being_called_correct, median_correlation
from .programs import Program, rates_of

# How a program was judged, as people are told.
VOTE, THOUGHT, PROBABILITY = "vote without reasoning", "vote with reasoning", "p(Correct) without reasoning"
# Labels by which a judgement is scored again: the released labels are noisy (51 of 425 counterfeits are right by the paper's own rule).
LABELS = ("strict", "95 %", "counterfeits that fail an original test")


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says of a program in one way.

    accepted: 1 Correct, 0 Incorrect, ½ a tie, None where no answer can be read. answers, unreadable: how many were asked for, and can't be.
    p: of p(Correct), where it is told.
    """

    program: Program
    way: str
    accepted: float | None
    answers: int
    unreadable: int
    p: float | None = None

    def credit(self, *, right: bool | None = None) -> float:
        """1 where the judge is right, ½ at a tie, 0 where it says nothing. right: whether the program is; None: by its class."""
        if self.accepted is None:
            return 0.0
        return self.accepted if (self.program.kind == "right" if right is None else right) else 1 - self.accepted


def by_way(judgements: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    """The judgements of each way."""
    found: dict[str, list[Judgement]] = {}
    for each in judgements:
        found.setdefault(each.way, []).append(each)
    return found


def confusion(judgements: Sequence[Judgement]) -> Table:
    """What was said of the right programs and of the counterfeits, as numbers."""
    rows = []
    for way, found in by_way(judgements).items():
        for kind in ("right", "counterfeit"):
            said = [each.accepted for each in found if each.program.kind == kind]
            counts = (said.count(1.0), said.count(0.0), len(said) - said.count(1.0) - said.count(0.0) - said.count(None), said.count(None))
            rows.append((f"{way}: {kind}", *(f"{n:,}" for n in counts)))
    return Table("What was said of them", ("program", "Correct", "Incorrect", "tie", "unreadable"), "lrrrr", tuple(rows))


def judging_table(benchmark: str, generator: str, judgements: Sequence[Judgement]) -> CellTable:
    """Fig. 13 and 3: rates by class, scored by each kind of label."""
    rows, printed = [], judged(benchmark, generator)
    for way, found in by_way(judgements).items():
        for labels in LABELS:
            kept = [
                (each, each.program.is_right("benchmark" if labels == "95 %" else "strict"))
                for each in found
                if labels != LABELS[2] or each.program.kind == "right" or each.program.base < 1
            ]
            if labels != LABELS[0] and len(kept) == len(found) and all(right == (each.program.kind == "right") for each, right in kept):
                continue
            place = f"J/{_key(way)}/{labels.split()[0]}"
            cells = _rates(place, kept, printed if labels == LABELS[0] else {})
            rows.append(Row((way, labels), tuple(cells)))
    notes = (
        "A tie is half right. Where no answer can be read, the judgement is wrong.",
        "On a balanced set of distinct texts half is chance by design, so no probability is compared with how often it happens.",
    )
    columns = ("right called Correct", "counterfeits called Incorrect", "balanced accuracy", "J")
    return CellTable("J", "Judging (figures 3 and 13)", ("how", "labels"), columns, tuple(rows), notes)


def _rates(place: str, found: Sequence[tuple[Judgement, bool]], printed: Mapping[str, tuple[PaperValue, ...]]) -> Iterator[Cell]:
    credit = [each.credit(right=right) for each, right in found]
    return two_classes(place, [is_right for _, is_right in found], credit, [each.program.problem for each, _ in found], printed)


def more_of_judging(judgements: Sequence[Judgement]) -> CellTable:
    """Which word it leans to, AUC within a problem, r with pass@1, and unreadable answers."""
    rows, ways = [], by_way(judgements)
    for way, found in ways.items():
        place = f"JM/{_key(way)}"
        told = [each for each in found if each.p is not None]
        y, groups = [each.program.kind == "right" for each in told], numbered([each.program.problem for each in told]) if told else None
        auc = within_auc([each.p or 0.0 for each in told], y, groups, groups) if groups is not None and groups.max() > 0 else None
        count = len({each.program.problem for each in told})
        rates, right = rates_of(each.program for each in found), [each.program.kind == "right" for each in found]
        cells = (
            difference_cell(f"{place}/lean", [each.credit() for each in found], right, [each.program.problem for each in found]),
            with_interval(f"{place}/auc", auc, len(told), count, BY),
            correlation_cell(f"{place}/r", rates, accuracy_by_problem(found), median_correlation("judge")),
            unreadable_cell(f"{place}/unreadable", [(e.unreadable, e.answers, e.program.problem) for e in found]),
        )
        rows.append(Row((way,), cells))
    columns = (
        "right called Correct minus counterfeits called Incorrect",
        "AUC within a problem",
        "r with the generator's pass@1",
        "unreadable answers",
    )
    return CellTable("JM", "More of judging (figure 7)", ("how",), columns, tuple(rows))


def gain_of_reasoning(judgements: Sequence[Judgement]) -> CellTable:
    """Fig. 10: accuracy with reasoning minus without, of the same programs."""
    ways = {way: {each.program.id: each for each in found} for way, found in by_way(judgements).items()}
    with_it, without = ways.get(THOUGHT, {}), ways.get(VOTE, {})
    both = [(with_it[name], without[name]) for name in with_it if name in without]
    rows = []
    for kind in ("all", "right", "counterfeit"):
        picked = [(a, b) for a, b in both if kind in ("all", a.program.kind)]
        values = [a.credit() - b.credit() for a, b in picked]
        rows.append(Row((kind,), (mean_cell(f"JG/{kind}", values, [a.program.problem for a, _ in picked]),)))
    return CellTable("JG", "What reasoning gains (figure 10)", ("programs",), ("accuracy with minus without",), tuple(rows))


def by_pass_rate(judgements: Sequence[Judgement]) -> CellTable:
    """Fig. 25: counterfeits called Correct, below and above half of the tests, and the log odds ratio of the two."""
    rows = []
    for way, found in by_way(judgements).items():
        place = f"P/{_key(way)}"
        known = [each for each in found if each.program.kind == "counterfeit" and each.program.tested.rate != 0.5]
        sides = [[each for each in known if (each.program.tested.rate > 0.5) == above] for above in (False, True)]
        cells = [
            share(f"{place}/{'above' if n else 'below'}", [each.accepted or 0.0 for each in side], [each.program.problem for each in side],
                  called_correct(n))
            for n, side in enumerate(sides)
        ]  # fmt: skip
        called, above = [(each.accepted or 0.0) > 0.5 for each in known], [each.program.tested.rate > 0.5 for each in known]
        problems, printed = [each.program.problem for each in known], log_odds_of_being_called_correct()
        rows.append(Row((way,), (*cells, log_odds_cell(f"{place}/log_odds_ratio", called, above, problems, printed))))
    notes = ("Log odds ratio: above 0 where a counterfeit that passes more is likelier called Correct. The paper's are of one set.",)
    columns = ("passes less than half", "passes more than half", "log odds ratio")
    return CellTable("P", "Counterfeits called Correct (figure 25)", ("how",), columns, tuple(rows), notes)


def by_difficulty(judgements: Sequence[Judgement]) -> CellTable:
    """Fig. 6: accuracy by the generator's own pass@1."""
    rows = []
    for way, found in by_way(judgements).items():
        for cut, bucket, problems in buckets_of(rates_of(each.program for each in found)):
            inside = [each for each in found if each.program.problem in set(problems)]
            place = f"JD/{_key(way)}/{cut[:6].strip()}/{bucket}"
            cells = _rates(place, [(each, each.program.kind == "right") for each in inside], {})
            rows.append(Row((way, cut, f"{bucket} ({len(problems)})"), tuple(cells)))
    columns = ("right called Correct", "counterfeits called Incorrect", "balanced accuracy", "J")
    return CellTable("JD", "Judging by difficulty (figure 6)", ("how", "buckets", "pass@1 (problems)"), columns, tuple(rows))


def accuracy_by_problem(found: Sequence[Judgement]) -> dict[str, float]:
    """The mean credit at each problem."""
    credits: dict[str, list[float]] = {}
    for each in found:
        credits.setdefault(each.program.problem, []).append(each.credit())
    return {problem: fmean(values) for problem, values in credits.items()}


def unreadable_cell(place: str, found: Sequence[tuple[int, int, str]]) -> Cell:
    """The share of answers that can't be read. found: unreadable, answers and problem of each item."""
    values = [float(n < unreadable) for unreadable, answers, _ in found for n in range(answers)]
    return share(place, values, [problem for _, answers, problem in found for _ in range(answers)])


def _key(way: str) -> str:
    return {VOTE: "vote", THOUGHT: "thought", PROBABILITY: "probability"}.get(way, way.replace(" ", "_"))

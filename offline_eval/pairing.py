"""Which comparison of runs is made; and two runs of the same items, pair by pair: differences, and a table by project."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..calibration.bands import EVENT_WORDS
from ..calibration.fitting.folds import renumbered
from ..calibration.metrics.intervals import intervals, paired
from ..calibration.report.cells import Cell, CellTable, Row, text_of, with_interval
from ..calibration.report.paper_claims import Rule
from ..calibration.report.study_report import Section, StudyContent
from ..calibration.samples import Event, Sample
from .command import study_of
from .errors import StudyError, UsageError
from .paper_tables.forecasts import (
    ALL,
    Columns,
    Forecast,
    Missing,
    Setting,
    Way,
    columns_of,
    first_choices,
    forecasts_of,
    pairs_of,
    samples_by_setting,
)
from .paper_tables.tables import label_of, paired_rates
from .progress import counted
from .run import RUN, Run
from .study_page import apart, write_comparison

EVENTS: tuple[Event, ...] = ("tests_pass", "exact_match")
_FORECASTS: tuple[tuple[str, Way], ...] = (("total_logprob", "raw"), ("total_logprob", "project"), (ALL, "project"))
_SAID: dict[Way, str] = {"raw": "raw", "project": "scaled by project"}
MAX_NAMED = 3
# Resamples for the calibration error, which is in none of these tables.
_FEW = 2
SUMMARY = "P"


class PairingError(StudyError):
    """Two runs that can't be compared pair by pair; the message says what differs."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """What two runs have in common.

    tables: differences by task and event, and by group. left_out: samples that only one run has, for people.
    """

    tables: tuple[CellTable, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Both:
    """The columns of both runs at one setting, and the rows of the samples that both have."""

    setting: Setting
    a: Columns
    b: Columns
    rows_a: NDArray[np.intp]
    rows_b: NDArray[np.intp]


def paired_runs(
    samples_a: Mapping[Setting, Sequence[Sample]],
    samples_b: Mapping[Setting, Sequence[Sample]],
    *,
    same_items: bool = False,
    names: tuple[str, str] = ("A", "B"),
    seed: int = 0,
) -> Pairs:
    """The differences of two runs, B minus A, of first choices, with intervals by project.

    same_items: whether it is known that both were asked the same. Then a sample that only one run has is one that the other's editor would
    hide, and it is left out; else it is an error.

    Raises PairingError where they share no task, or not the same samples.
    """
    samples_a, samples_b = first_choices(samples_a), first_choices(samples_b)
    shared = [setting for setting in samples_a if setting in samples_b]
    if not shared:
        tasks = (", ".join(sorted(map(str, samples))) or "none" for samples in (samples_a, samples_b))
        raise PairingError(
            "the runs have no task in common: {} has {}; {} has {}".format(*(x for pair in zip(names, tasks, strict=True) for x in pair))
        )
    both: list[_Both] = []
    left_out: list[str] = []
    for setting in shared:
        a, b = columns_of(setting, samples_a[setting]), columns_of(setting, samples_b[setting])
        pair = _Both(setting, a, b, *pairs_of(a, b))
        left_out += _only_one(pair, same_items, names)
        both.append(pair)
    left_out += [
        f"{setting}: only {name} has samples of it"
        for name, samples, other in ((names[0], samples_a, samples_b), (names[1], samples_b, samples_a))
        for setting in samples
        if setting not in other
    ]
    rows = tuple(row for pair in both for event in EVENTS for row in _rows(pair, event, seed))
    summary = CellTable(
        SUMMARY, "Differences at the same places", ("task", "event", "number"), (*names, f"{names[1]} minus {names[0]}"), rows
    )
    by_group = (_by_group(pair, event, names) for pair in both if pair.a.grouped_by != "sample" for event in EVENTS)
    return Pairs((summary, *(table for table in by_group if table.rows)), tuple(left_out))


def _only_one(pair: _Both, same_items: bool, names: tuple[str, str]) -> Iterator[str]:
    """What is left out at a setting. Raises PairingError where that means that other items were asked."""
    ids = set(pair.a.ids), set(pair.b.ids)
    only = [sorted(mine - other) for mine, other in (ids, ids[::-1])]
    if not len(pair.rows_a) or (any(only) and not same_items):
        said = "; ".join(
            f"{len(of_one):,} only in {name} (such as {', '.join(of_one[:MAX_NAMED])})"
            for of_one, name in zip(only, names, strict=True)
            if of_one
        )
        raise PairingError(
            f"the runs are not of the same items: of the task {pair.setting}, {len(pair.rows_a):,} samples are in both, and {said}. "
            "Run both with the same projects, seed and counts"
        )
    for of_one, name in zip(only, names, strict=True):
        if of_one:
            yield f"{pair.setting}: {len(of_one):,} suggestions that only {name} would show"


def _rows(pair: _Both, event: Event, seed: int) -> Iterator[Row]:
    known = (pair.a.labels[event][pair.rows_a] >= 0) & (pair.b.labels[event][pair.rows_b] >= 0)
    count = len({pair.a.names[row] for row in pair.rows_a[known]})
    place, heads = f"{SUMMARY}/{event}/{pair.setting.path}", (str(pair.setting), EVENT_WORDS[event])
    if count < 2:
        yield _not_run((*heads, "rate"), f"{place}/rate", f"one {pair.a.grouped_by}" if count else "not run")
        return
    ids = [f"{place}/rate/b", f"{place}/rate/a", f"{place}/rate"]
    later, earlier, difference = paired_rates(ids, (pair.b, pair.a), (pair.rows_b, pair.rows_a), event)
    yield Row((*heads, "rate"), (earlier, later, difference))
    for measure, way in _FORECASTS:
        yield from _forecast_rows(pair, event, measure, way, heads, seed)


def _forecast_rows(pair: _Both, event: Event, measure: str, way: Way, heads: tuple[str, str], seed: int) -> Iterator[Row]:
    name, place = f"{label_of(measure)}, {_SAID[way]}", f"{SUMMARY}/{event}/{pair.setting.path}/{measure}/{way}"
    found = [forecasts_of(columns, event, measure, seed, ways=(way,)) for columns in (pair.a, pair.b)]
    one, other = (None if isinstance(forecasts, Missing) else forecasts.get(way) for forecasts in found)
    if one is None or other is None:
        yield _not_run((*heads, f"skill of {name}"), f"{place}/skill", "not run")
        return
    mine, theirs = _common(pair, one, other)
    groups = renumbered(pair.a.groups[one.rows[mine]]) if len(mine) else np.zeros(0, dtype=np.intp)
    if (count := int(groups.max(initial=-1)) + 1) < 2:
        yield _not_run((*heads, f"skill of {name}"), f"{place}/skill", f"one {pair.a.grouped_by}")
        return
    p, q, y, z = one.p[mine], other.p[theirs], one.y[mine], other.y[theirs]
    alone = [intervals(said, right, groups, _FEW) for said, right in ((p, y), (q, z))]
    differences, counts = paired(p, q, y, groups, z), (len(mine), count, pair.a.grouped_by)
    for score, title in (("brier", "Brier"), ("skill", "skill"), ("auc", "AUC")):
        cells = [with_interval(f"{place}/{score}/{side}", getattr(of, score), *counts) for side, of in zip("ab", alone, strict=True)]
        cells.append(with_interval(f"{place}/{score}", getattr(differences, score), *counts, sign=True))
        yield Row((*heads, f"{title} of {name}"), tuple(cells))


def _common(pair: _Both, one: Forecast, other: Forecast) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where the samples stand in both forecasts that are in both."""
    at_a, at_b = np.full(len(pair.a.ids), -1), np.full(len(pair.b.ids), -1)
    at_a[one.rows], at_b[other.rows] = np.arange(one.n), np.arange(other.n)
    mine, theirs = at_a[pair.rows_a], at_b[pair.rows_b]
    both = (mine >= 0) & (theirs >= 0)
    return mine[both], theirs[both]


def _not_run(names: tuple[str, ...], place: str, why: str) -> Row:
    return Row(names, tuple(Cell(cell_id, why=why) for cell_id in (f"{place}/a", f"{place}/b", place)))


def _by_group(pair: _Both, event: Event, names: tuple[str, str]) -> CellTable:
    """How often each was right in each project, and how often only one was."""
    known = (pair.a.labels[event][pair.rows_a] >= 0) & (pair.b.labels[event][pair.rows_b] >= 0)
    a, b = pair.rows_a[known], pair.rows_b[known]
    right_a, right_b, groups = pair.a.labels[event][a] == 1, pair.b.labels[event][b] == 1, pair.a.groups[a]
    rows = []
    for group, name in sorted(
        {int(group): pair.a.names[row] for group, row in zip(groups, a, strict=True)}.items(), key=lambda item: item[1]
    ):
        inside = groups == group
        place, n = f"{SUMMARY}/by_group/{event}/{pair.setting.path}/{name}", int(inside.sum())
        shares = (("a", right_a), ("b", right_b), ("only_a", right_a & ~right_b), ("only_b", right_b & ~right_a))
        cells = [
            Cell(f"{place}/{what}", float(those[inside].mean()), n=n, groups=1, grouped_by=pair.a.grouped_by, percent=True)
            for what, those in shares
        ]
        rows.append(Row((name,), tuple(cells)))
    title = f"{pair.setting}, {EVENT_WORDS[event]}, by {pair.a.grouped_by}"
    return CellTable(
        f"{SUMMARY}-{event}-{pair.setting.path}", title, (pair.a.grouped_by,), (*names, *(f"only {name}" for name in names)), tuple(rows)
    )


_DIFFERS = (Rule("above 0", above=0.0), Rule("below 0", below=0.0))


def report_pair(run_a: Path, run_b: Path, out: Path, *, as_json: bool) -> None:
    """Compare two runs and write report/ into `out`; on stdout the files, or one JSON document with all figures.

    Raises RunError for what is no run, SampleError for damaged samples, PairingError for runs of other
    items.
    """
    questions = [Run.opened(folder).question() for folder in (run_a, run_b)]
    same_items = _check_questions((run_a, run_b), questions)
    samples = [samples_by_setting(folder) for folder in (run_a, run_b)]
    names = _names(questions)
    pairs = paired_runs(samples[0], samples[1], same_items=same_items, names=names, seed=int(questions[0]["seed"]))
    write_comparison(out, pair_content(pairs, names, f"assay eval report {run_a} {run_b}"), (run_a, run_b), as_json=as_json)


def pair_content(pairs: Pairs, names: tuple[str, str], command: str) -> StudyContent:
    """The page on two runs."""
    summary, *by_group = pairs.tables
    return StudyContent(
        title=f"{names[0]} and {names[1]} on the same items",
        summary=_sentences(summary, names),
        facts=("Differences are paired: a place that is hard for one is hard for the other. 95 % intervals: jackknife over projects.",),
        sections=(Section("Differences", (summary,)), *((Section("By project", tuple(by_group)),) if by_group else ())),
        left_out=pairs.left_out,
        command=command,
    )


def _check_questions(folders: Sequence[Path], questions: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the items are known to be the same. Raises PairingError where they are known to be others."""
    a, b = questions
    hashes = a.get("items"), b.get("items")
    if a["study"] == b["study"] and (None in hashes or hashes[0] == hashes[1]):
        return None not in hashes
    told = apart(questions, "prompt_block", "prompt_sampled", "mends", "judge")
    raise PairingError(
        f"{folders[0]} and {folders[1]} are not of the same items ({told}): runs are compared that differ only in their model. Make "
        f"one again with the options of the other, which are in its {RUN}"
    )


def _names(questions: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    a, b = (str(question["model_name"] or question["model"]) for question in questions)
    return (a, b) if a != b else (f"{a} (first)", f"{b} (second)")


def _sentences(summary: CellTable, names: tuple[str, str]) -> tuple[str, str, str]:
    """Three sentences from the numbers: how often each is right, what its number is worth, and of how much that is known."""
    cells = {cell.id: cell for cell in summary.cells()}
    rates = [cell for cell in cells.values() if cell.id.endswith("/rate") and cell.value is not None]
    told = [row.names for row in summary.rows if row.cells[-1] in rates]
    if not rates:
        return (
            f"{names[0]} and {names[1]} were asked the same.",
            "Nothing can be compared yet: no sample of both has a label.",
            "More items, or their tests, would tell.",
        )
    first, (task, event, _) = rates[0], told[0]
    a, b = (100 * (cells[f"{first.id}/{side}"].value or 0.0) for side in "ab")
    skill = cells.get(f"{first.id.removesuffix('rate')}total_logprob/project/skill")
    worth = f"the skill score differs by {text_of(skill)}" if skill and skill.value is not None else "what it is worth can't be compared"
    return (
        f"On {first.n:,} places ({task}, {event}) {names[0]} was right {a:.1f} % of the time and {names[1]} {b:.1f} %, a difference of "
        f"{text_of(first)}: {_better(first, names)}.",
        f"Of the probability that goes with these, p_tot scaled by project, {worth}.",
        f"Of {counted(len(rates), 'rate')} that {'was' if len(rates) == 1 else 'were'} compared, "
        f"{sum(map(_decided, rates))} {'differs' if sum(map(_decided, rates)) == 1 else 'differ'} beyond chance.",
    )


def _decided(cell: Cell) -> bool:
    """As a claim is: few groups say too little of others, and where each says the very same none tells how far others may differ."""
    return any(rule.verdict(cell) == "confirmed" for rule in _DIFFERS)


def _better(cell: Cell, names: tuple[str, str]) -> str:
    if not _decided(cell):
        return "not shown to be more than chance"
    return f"{names[1] if (cell.value or 0) > 0 else names[0]} is better, beyond chance"


def compare(folders: Sequence[Path], out: Path, *, as_json: bool) -> None:
    """Compare runs and write report/ into `out`. Raises UsageError, and what the comparisons raise."""
    if twice := [folder for n, folder in enumerate(folders) if folder.resolve() in {other.resolve() for other in folders[:n]}]:
        raise UsageError(f"{twice[0]} is named twice: name the run of another model on the same items")
    runs = [Run.opened(folder) for folder in folders]
    studies = [study_of(run) for run in runs]
    names = sorted({study.name for study in studies})
    if studies[0].compare and set(names) <= set(studies[0].compared):
        studies[0].compare(runs, out, as_json=as_json)
    elif len(folders) == 2 and not any(study.compare for study in studies):
        report_pair(folders[0], folders[1], out, as_json=as_json)
    elif len(names) > 1:
        raise UsageError(f"runs of {' and '.join(names)} ask different things: name runs of one study")
    else:
        raise UsageError(f"of the study {names[0]} two runs are compared, not {len(folders)}")

"""Tables 2 to 8 of the paper, of any samples by task and arm, beside the paper's own. What a run lacks is "not run"."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ...calibration.bands import EVENT_WORDS
from ...calibration.fitting.folds import renumbered
from ...calibration.metrics.groups import mean
from ...calibration.metrics.intervals import Interval, paired, rate_interval
from ...calibration.report.cells import NOT_RUN, Cell, CellTable, PaperValue, Row, with_interval
from ...calibration.samples import Event, Sample
from .forecasts import (
    ALL,
    BASE_ARM,
    DATA_OF,
    IN_WORDS,
    SCALED,
    Columns,
    Forecast,
    Forecasts,
    Missing,
    Setting,
    Way,
    columns_of,
    first_choices,
    forecasts_of,
    measures,
    measures_wanted,
    pairs_of,
    paper,
    title_of,
)

P_TOT, P_AVG, ASK = "total_logprob", "mean_probability", "ask_true"
_EVENTS: tuple[Event, ...] = ("tests_pass", "exact_match")

Found = Mapping[tuple[Setting, Event, str], Forecasts | Missing]
Rows = tuple[NDArray[np.intp], NDArray[np.intp]]


def difference_table(columns: Mapping[Setting, Columns], found: Found) -> CellTable:
    """Differences of skill scores, one row each: what is compared, with what, and where."""
    rows = []
    for setting, of in columns.items():
        if setting.arm != BASE_ARM:
            continue

        def one(event: Event, measure: str, way: Way, at: Setting = setting) -> Forecast | None:
            forecasts = found.get((at, event, measure), Missing(NOT_RUN))
            return None if isinstance(forecasts, Missing) else forecasts.get(way)

        place = f"D/{setting.path}"
        for event in _EVENTS:
            for (name, better), (_, other) in product((("p_tot", P_TOT), ("ask", ASK)), measures().items()):
                if other != better:
                    cell_id = f"{place}/{event}/raw_{name}_minus/{other}"
                    cell = _difference(cell_id, one(event, other, "raw"), one(event, better, "raw"), of)
                    rows.append(Row((setting.task, f"{event}: raw {better} minus raw {other}"), (cell,)))
            for measure, label in ((P_TOT, "p_tot"), (P_AVG, "p_avg")):
                cell = _difference(f"{place}/{event}/platt_gain/{measure}", one(event, measure, "raw"), one(event, measure, "project"), of)
                rows.append(Row((setting.task, f"{event}: {label} scaled by project minus raw"), (cell,)))
            alone, behind = (one(event, measure, "project") for measure in IN_WORDS)
            if alone and behind:
                cell = _difference(f"{place}/{event}/shots", alone, behind, of)
                rows.append(Row((setting.task, f"{event}: scaled ask_shots minus ask_chat"), (cell,)))
        for measure, label in ((P_TOT, "p_tot"), (P_AVG, "p_avg")):
            cell = _difference(
                f"{place}/event_gain/{measure}", one("tests_pass", measure, "project"), one("exact_match", measure, "project"), of
            )
            rows.append(Row((setting.task, f"scaled {label}: exact match minus passing tests"), (cell,)))
        without = columns.get(Setting(setting.task, "no_docstring"))
        rows += _docstring_rows(place, of, without, one)
    return CellTable("D", "Differences of skill scores, paired", ("task", "difference"), ("skill",), tuple(rows))


def spread_table(columns: Mapping[Setting, Columns], found: Found) -> CellTable:
    """How far apart the scaled probabilities are: what is left of the buckets."""
    rows = []
    for setting, event, measure in product(columns, _EVENTS, (P_TOT, P_AVG)):
        forecasts = found[setting, event, measure]
        cell = Cell(f"S/{event}/{setting.path}/{measure}")
        if not isinstance(forecasts, Missing):
            one = forecasts["project"]
            cell = Cell(cell.id, one.spread, n=one.n, groups=one.groups, grouped_by=one.grouped_by)
        rows.append(Row((str(setting), f"{event}: scaled {measure}"), (cell,)))
    return CellTable(
        "S", "Spread of the scaled probabilities, from the 5 % to the 95 % quantile", ("task", "measure"), ("spread",), tuple(rows)
    )


def _docstring_rows(place: str, of: Columns, without: Columns | None, one: Callable[..., Forecast | None]) -> Iterator[Row]:
    for event in _EVENTS:
        cell_id = f"{place}/{event}/docstring/{P_AVG}"
        cell = Cell(cell_id, sign=True)
        if without is not None:
            first = one(event, P_AVG, "project", without.setting)
            cell = _difference(cell_id, first, one(event, P_AVG, "project"), of, pairs_of(without, of))
        yield Row((of.setting.task, f"{event}: scaled p_avg with docstring minus without"), (cell,))


def _difference(cell_id: str, first: Forecast | None, second: Forecast | None, of: Columns, pairs: Rows | None = None) -> Cell:
    """The skill of the second minus that of the first, on samples that both have.

    of: the columns of the second. pairs: the rows of the first's columns and of the second's that belong together, where these differ.
    """
    if first is None or second is None:
        return Cell(cell_id, sign=True)
    size = len(of.ids)
    at = np.full(size, -1)
    at[second.rows] = np.arange(second.n)
    if pairs is None:
        rows_of_first, where = first.rows, np.arange(first.n)
    else:
        there = dict(zip(first.rows.tolist(), range(first.n), strict=True))
        kept = [(b, there[a]) for a, b in zip(pairs[0].tolist(), pairs[1].tolist(), strict=True) if a in there]
        rows_of_first, where = np.array(kept, dtype=np.intp).reshape(-1, 2).T
    both = at[rows_of_first] >= 0
    mine, theirs = at[rows_of_first][both], where[both]
    if not len(mine):
        return Cell(cell_id, sign=True)
    groups = renumbered(of.groups[second.rows[mine]])
    count = int(groups.max()) + 1
    if count < 2:
        return Cell(cell_id, why=f"one {of.grouped_by}", sign=True)
    found: Interval | None = paired(first.p[theirs], second.p[mine], first.y[theirs], groups, second.y[mine]).skill
    return with_interval(cell_id, found, len(mine), count, of.grouped_by, sign=True)


STUDIED: tuple[Event, ...] = ("tests_pass", "exact_match")
# The paper calls a skill score of 0.05 good, and prints no ECE below it.
GOOD_SKILL = 0.05
_LABELS = {"p_tot": "p_tot", "p_avg": "p_avg", "ask": "Ask T/F", "ask_n": "Ask T/F N", "verbalised": "verbalised", "length": "length"}
_WAYS = {"raw": "raw", "random": "random folds", "project": "by project", "order": "raw"}
_OUTCOMES = (("other", "fail"), ("other", "pass"), ("exact", "fail"), ("exact", "pass"))


@dataclass(frozen=True, slots=True)
class StudyTables:
    """What all tables, plots and claims are made from.

    columns: by setting. found: the forecasts of each setting, event and measure. tables: in order. cells: by id.
    """

    columns: Mapping[Setting, Columns]
    found: Found
    tables: tuple[CellTable, ...]
    cells: Mapping[str, Cell]

    def forecast(self, setting: Setting, event: Event, measure: str, way: Way) -> Forecast | None:
        """One forecast, if there is one."""
        forecasts = self.found.get((setting, event, measure), Missing(NOT_RUN))
        return None if isinstance(forecasts, Missing) else forecasts.get(way)


def study_tables(samples: Mapping[Setting, Sequence[Sample]], seed: int = 0) -> StudyTables:
    """The tables of first choices by setting. seed: of the folds. Raises StudyError for a value that a measure can't have."""
    columns = {setting: columns_of(setting, of_setting) for setting, of_setting in first_choices(samples).items()}
    found: dict[tuple[Setting, Event, str], Forecasts | Missing] = {
        (setting, event, measure): forecasts_of(each, event, measure, seed)
        for setting, each in columns.items()
        for event in STUDIED
        for measure in measures_wanted()
    }
    tables = (
        _rates(columns),
        _docstrings(columns),
        _cross(columns),
        *(_raw(columns, found, event) for event in STUDIED),
        *(_scaled(columns, found, event) for event in STUDIED),
        *(_ranking(columns, found, event) for event in STUDIED),
        difference_table(columns, found),
        spread_table(columns, found),
    )
    return StudyTables(columns, found, tables, {cell.id: cell for table in tables for cell in table.cells()})


def label_of(measure: str) -> str:
    """A measure as tables call it: by the paper's name, or ours."""
    theirs = {ours: name for name, ours in measures().items()}
    return "all of ours" if measure == ALL else _LABELS[theirs[measure]] if measure in theirs else measure


def _rates(columns: Mapping[Setting, Columns]) -> CellTable:
    rows = []
    for setting, each in columns.items():
        cells = []
        for event in STUDIED:
            printed = (
                paper().values(f"T2/*/{DATA_OF[setting.task]}/{event}") if setting.task in DATA_OF and setting.arm != "no_docstring" else ()
            )
            known = each.known(event)
            cells.append(_rate(f"T2/{setting.path}/{event}", each.labels[event] == 1, known, each, printed))
        rows.append(Row((str(setting),), tuple(cells)))
    return CellTable("T2", f"Table 2. {title_of('T2')}", ("task",), tuple(EVENT_WORDS[event] for event in STUDIED), tuple(rows))


def _rate(cell_id: str, happened: NDArray[np.bool_], among: NDArray[np.bool_], of: Columns, printed: Sequence[PaperValue] = ()) -> Cell:
    """The share of `happened` (n,) `among` (n,) those samples."""
    return _rate_of_rows(cell_id, happened, np.flatnonzero(among), of, printed)


def _rate_of_rows(
    cell_id: str, happened: NDArray[np.bool_], rows: NDArray[np.intp], of: Columns, printed: Sequence[PaperValue] = ()
) -> Cell:
    groups, y = renumbered(of.groups[rows]) if len(rows) else rows, happened[rows]
    counts = (len(rows), int(groups.max(initial=-1)) + 1, of.grouped_by)
    found = rate_interval(y, groups) if len(rows) else None
    if found is None:
        value = float(y.mean()) if len(rows) else None
        return Cell(cell_id, value, None, None, *counts, paper=tuple(printed), percent=True, why=NOT_RUN if value is None else "")
    return with_interval(cell_id, found, *counts, paper=tuple(printed), percent=True)


def _docstrings(columns: Mapping[Setting, Columns]) -> CellTable:
    """Table 3: both arms at the same places, and their paired difference."""
    rows = []
    for setting, plain in columns.items():
        without = columns.get(Setting(setting.task, "no_docstring"))
        if setting.arm != BASE_ARM:
            continue
        for event in STUDIED:
            place = f"T3/{setting.task}/{event}"
            data = DATA_OF.get(setting.task) or "–"
            printed = [paper().values(f"T3/*/{data}/{arm}/{event}") for arm in (BASE_ARM, "no_docstring")]
            ids = tuple(f"{place}/{name}" for name in (BASE_ARM, "no_docstring", "difference"))
            if without is None:
                cells = tuple(Cell(id, paper=of_paper, percent=True) for id, of_paper in zip(ids, (*printed, ()), strict=True))
            else:
                cells = paired_rates(ids, (plain, without), pairs_of(plain, without), event, printed)
            rows.append(Row((setting.task, EVENT_WORDS[event]), cells))
    columns_ = ("with docstring", "without", "with minus without")
    return CellTable(
        "T3", f"Table 3. With and without docstrings, the same places ({title_of('T3')})", ("task", "event"), columns_, tuple(rows)
    )


def paired_rates(
    ids: Sequence[str], columns: tuple[Columns, Columns], pairs: Rows, event: Event, printed: Sequence[Sequence[PaperValue]] = ((), ())
) -> tuple[Cell, ...]:
    """How often each of two is right, of the samples that both have with a label, and the first minus the second. ids: of the cells."""
    known = np.logical_and(*(of.labels[event][rows] >= 0 for of, rows in zip(columns, pairs, strict=True)))
    rows = [of_one[known] for of_one in pairs]
    right = [of.labels[event] == 1 for of in columns]
    rates = [_rate_of_rows(*each) for each in zip(ids[:2], right, rows, columns, printed, strict=True)]
    groups = renumbered(columns[0].groups[rows[0]]) if len(rows[0]) else rows[0]
    count, by = int(groups.max(initial=-1)) + 1, columns[0].grouped_by
    found = mean(right[0][rows[0]].astype(np.float64) - right[1][rows[1]], groups) if count > 1 else None
    why = "" if found else f"one {by}" if count else NOT_RUN
    return (*rates, with_interval(ids[2], found, len(rows[0]), count, by, percent=True, sign=True, why=why))


def _cross(columns: Mapping[Setting, Columns]) -> CellTable:
    """Table 4: exact match against tests, as shares of the samples that have both labels."""
    rows = []
    for setting, each in columns.items():
        both = each.known("exact_match") & each.known("tests_pass")
        exact, passed = each.labels["exact_match"] == 1, each.labels["tests_pass"] == 1
        data = DATA_OF.get(setting.task) or "–"
        printed = {pair: paper().values(f"T4/*/{data}/{'/'.join(pair)}") if setting.arm != "no_docstring" else () for pair in _OUTCOMES}
        cells = [
            _rate(
                f"T4/{setting.path}/{match}/{outcome}",
                (exact == (match == "exact")) & (passed == (outcome == "pass")),
                both,
                each,
                printed[match, outcome],
            )
            for match, outcome in _OUTCOMES
        ]
        cells.append(_rate(f"T4/{setting.path}/exact_that_fail", ~passed, both & exact, each))
        rows.append(Row((str(setting),), tuple(cells)))
    names = ("other, fails", "other, passes", "exact, fails", "exact, passes", "exact matches that fail")
    notes = ("Ours takes an exact match for passing without a run, and leaves tests out that are not steady on the original.",)
    return CellTable("T4", f"Table 4. {title_of('T4')}", ("task",), names, tuple(rows), notes)


def _raw(columns: Mapping[Setting, Columns], found: Found, event: Event) -> CellTable:
    """Table 5."""
    rows = tuple(_rows(columns, found, event, "T5", ("raw",), "T5" if event == "tests_pass" else ""))
    title = f"Table 5. Raw measures as probabilities: {EVENT_WORDS[event]}"
    return CellTable(f"T5-{event}", title, ("task", "measure"), _score_names(("raw",)), rows, tuple(_stand_ins(columns)))


def _scaled(columns: Mapping[Setting, Columns], found: Found, event: Event) -> CellTable:
    """Tables 6 and 7. The paper's numbers stand beside ours of random folds, which are made as the paper's are."""
    table = "T6" if event == "tests_pass" else "T7"
    rows = tuple(_rows(columns, found, event, table, SCALED, table))
    title = f"Table {table[1]}. Platt-scaled: {EVENT_WORDS[event]}"
    notes = (f"As in the paper, no ECE is printed where the skill score is below {GOOD_SKILL}.",)
    return CellTable(f"{table}-{event}", title, ("task", "measure"), _score_names(SCALED), rows, notes)


def _score_names(ways: Sequence[Way]) -> tuple[str, ...]:
    names = ("Brier", "skill", "ECE", "calibration error")
    return tuple(name if way == "raw" else f"{name}, {_WAYS[way]}" for way in ways for name in names)


def _rows(
    columns: Mapping[Setting, Columns], found: Found, event: Event, table: str, ways: Sequence[Way], printed_in: str
) -> Iterator[Row]:
    for setting in columns:
        for measure in measures_wanted():
            forecasts = found[setting, event, measure]
            if not isinstance(forecasts, Missing) and not set(ways) & set(forecasts):
                continue  # a measure that is no probability by itself
            if measure in IN_WORDS and isinstance(forecasts, Missing):
                continue
            cells: list[Cell] = []
            for way in ways:
                of_paper = printed_in if way == ways[0] else ""
                forecast = forecasts if isinstance(forecasts, Missing) else forecasts[way]
                cells += _scores(f"{table}/{event}/{setting.path}/{measure}/{way}", forecast, way, _printed(of_paper, setting, measure))
            yield Row((str(setting), label_of(measure)), tuple(cells))


def _printed(table: str, setting: Setting, measure: str) -> dict[str, tuple[PaperValue, ...]]:
    """The paper's numbers of a measure, by score."""
    theirs = {ours: name for name, ours in measures().items()}
    data = DATA_OF.get(setting.task)
    if not table or not data or measure not in theirs or setting.arm == "no_docstring":
        return {}
    place = "/".join((table, "*", theirs[measure], data))
    return {score: paper().values(f"{place}/{score}") for score in ("brier", "skill", "ece", "auc")}


def _scores(place: str, forecast: Forecast | Missing, way: Way, printed: Mapping[str, tuple[PaperValue, ...]]) -> Iterator[Cell]:
    """Brier score, skill, ECE and the calibration error without noise."""
    if isinstance(forecast, Missing):
        yield from (
            Cell(f"{place}/{score}", why=forecast.why, paper=printed.get(score, ())) for score in ("brier", "skill", "ece", "error")
        )
        return
    scores, counts = forecast.scores, (forecast.n, forecast.groups, forecast.grouped_by)
    yield with_interval(f"{place}/brier", scores.brier, *counts, paper=printed.get("brier", ()))
    yield with_interval(f"{place}/skill", scores.skill, *counts, paper=printed.get("skill", ()))
    hidden = way != "raw" and (forecast.skill is None or forecast.skill < GOOD_SKILL)
    yield Cell(
        f"{place}/ece",
        None if hidden else forecast.ece,
        n=forecast.n, groups=forecast.groups, grouped_by=forecast.grouped_by,
        noise_floor=None if hidden else forecast.noise_floor,
        paper=printed.get("ece", ()),
        why=f"skill < {GOOD_SKILL}" if hidden else "",
    )  # fmt: skip
    yield with_interval(f"{place}/error", scores.calibration_error, *counts)


def _ranking(columns: Mapping[Setting, Columns], found: Found, event: Event) -> CellTable:
    """Table 8, of the raw order and of scaled probabilities."""
    ways: tuple[Way, ...] = ("order", *SCALED)
    rows = []
    for setting in columns:
        for measure in measures_wanted():
            forecasts = found[setting, event, measure]
            if measure in IN_WORDS and isinstance(forecasts, Missing):
                continue
            printed = _printed("T8" if event == "tests_pass" else "", setting, measure).get("auc", ())
            cells = []
            for way in ways:
                cell_id, of_paper = f"T8/{event}/{setting.path}/{measure}/{way}/auc", printed if way == "order" else ()
                if isinstance(forecasts, Missing) or way not in forecasts:
                    why = forecasts.why if isinstance(forecasts, Missing) else "not defined"
                    cells.append(Cell(cell_id, why=why, paper=of_paper))
                else:
                    one = forecasts[way]
                    cells.append(with_interval(cell_id, one.auc, one.n, one.groups, one.grouped_by, paper=of_paper))
            rows.append(Row((str(setting), label_of(measure)), tuple(cells)))
    notes = ("Raw: in the order of the measure, a longer text taken for the likelier one. An AUC of ½ is a toss.",)
    return CellTable(
        f"T8-{event}",
        f"Table 8. AUC: {EVENT_WORDS[event]}",
        ("task", "measure"),
        tuple(f"AUC, {_WAYS[way]}" for way in ways),
        tuple(rows),
        notes,
    )


def _stand_ins(columns: Mapping[Setting, Columns]) -> Iterator[str]:
    for setting, each in columns.items():
        for measure, count in sorted(each.stand_ins.items()):
            yield f"{setting}: in {count:,} of {len(each.ids):,} samples {measure} only stands in for a value that could not be had."
        for note in each.notes:
            yield f"{setting}: {note}."

"""Paired differences that the paper's claims are about, each with its interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product

import numpy as np
from numpy.typing import NDArray

from ...calibration.fitting.folds import renumbered
from ...calibration.metrics.intervals import Interval, paired
from ...calibration.report.cells import NOT_RUN, Cell, CellTable, Row, with_interval
from ...calibration.samples import Event
from .columns import BASE_ARM, Columns, Setting, pairs_of
from .forecasts import Forecast, Forecasts, Missing, Way
from .paper import measures

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

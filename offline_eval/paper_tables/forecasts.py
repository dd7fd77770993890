"""Measures as probabilities of an event: raw, and Platt-scaled with random folds (the paper's) and with folds by project (ours)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...calibration.arrays import Floats, sigmoid
from ...calibration.fitting.folds import folds_of, renumbered
from ...calibration.maps.platt import fit_platt
from ...calibration.measures.registry import MEASURES, enter, raw_probability
from ...calibration.metrics.bins import ece, ece_noise_floor
from ...calibration.metrics.intervals import Interval, Intervals, intervals
from ...calibration.metrics.scores import inside
from ...calibration.samples import Event
from ..errors import StudyError
from .columns import Columns, Setting
from .paper import measures

Way = Literal["raw", "random", "project", "order"]
SCALED: tuple[Way, ...] = ("random", "project")
WAYS: tuple[Way, ...] = ("raw", "order", *SCALED)
OURS = ("mean_logprob", "min_logprob", "lowest_logprob", "mean_entropy", "mean_margin")
# All measures that cost no call of the model, in one map, as the shipped calibrators have them.
ALL = "all"
_OF_ALL = ("total_logprob", "token_count", "mean_probability", "length", *OURS)
_RIDGE = 1.0
_SPREAD = (0.05, 0.95)


@dataclass(frozen=True, slots=True)
class Forecast:
    """The probabilities of an event from one measure, of the samples that have the measure and the label.

    way: raw, scaled with random folds or folds by project, or only the order of the raw values, in which nothing underflows.
    rows (m,): of the columns. p (m,), y (m,): probabilities and labels. scores: with their intervals. ece, noise_floor: 10 bins of equal
    width. spread: between the 5 % and the 95 % quantile of p.
    """

    setting: Setting
    event: Event
    measure: str
    way: Way
    rows: NDArray[np.intp]
    p: Floats
    y: NDArray[np.bool_]
    groups: int
    grouped_by: str
    scores: Intervals
    ece: float
    noise_floor: float
    spread: float

    @property
    def n(self) -> int:
        """The number of its samples."""
        return len(self.p)

    @property
    def skill(self) -> float | None:
        """Its skill score."""
        return self.scores.skill.value if self.scores.skill else None

    @property
    def auc(self) -> Interval | None:
        """Its AUC."""
        return self.scores.auc


@dataclass(frozen=True, slots=True)
class Missing:
    """Why there are no forecasts."""

    why: str


Forecasts = Mapping[Way, Forecast]


def measures_wanted() -> tuple[str, ...]:
    """The paper's six measures, ours, and all in one map."""
    return (*measures().values(), *OURS, ALL)


def forecasts_of(columns: Columns, event: Event, measure: str, seed: int, ways: Sequence[Way] = WAYS) -> Forecasts | Missing:
    """The forecasts of an event by a measure, those of `ways` that it has. Raises StudyError for a value that the measure can't have."""
    names = _names(columns, event) if measure == ALL else (measure,)
    known = columns.known(event)
    if not known.any():
        return Missing("not run")
    rows = np.flatnonzero(known & np.isfinite([columns.measures[name] for name in names]).all(axis=0))
    y = columns.labels[event][rows] == 1
    if not names or not len(rows):
        return Missing("not run")
    if y.all() or not y.any():
        return Missing("all labels equal")  # any skill is undefined, and an interval would be of nothing that varies
    groups = renumbered(columns.groups[rows])
    if (count := int(groups.max()) + 1) < 2:
        return Missing(f"one {columns.grouped_by}")
    try:
        entered = [enter(name, columns.measures[name][rows]) for name in names]
        raw = raw_probability(measure, columns.measures[measure][rows]) if measure in MEASURES else None
    except ValueError as error:
        raise StudyError(f"samples of the task {columns.setting}: {error}") from None
    x = np.column_stack(entered)
    said: dict[Way, Floats] = {} if raw is None else {"raw": inside(raw)}
    if measure in MEASURES and "order" in ways:
        said["order"] = _order(entered[0] * (MEASURES[measure].direction or 1))
    parted: dict[Way, NDArray[np.intp]] = {"random": np.arange(len(y)), "project": groups}
    said |= {way: cross_fitted(x, y, folds_of(parts, seed)) for way, parts in parted.items() if way in ways}

    def forecast(way: Way, p: Floats) -> Forecast:
        low, high = np.quantile(p, _SPREAD)
        # Nobody is told how well a mere order is calibrated.
        scores = intervals(p, y, groups, **({"resamples": 2} if way == "order" else {}))
        return Forecast(
            columns.setting, event, measure, way, rows, p, y, count, columns.grouped_by, scores, ece(p, y), ece_noise_floor(p),
            float(high - low),
        )  # fmt: skip

    return {way: forecast(way, p) for way, p in said.items() if way in ways}


def cross_fitted(x: Floats, y: NDArray[np.bool_], fold: NDArray[np.intp]) -> Floats:
    """P(event) of each sample from the Platt map of features x (n, k) that was fitted without the sample's fold."""
    p = np.empty(len(y))
    for number in range(int(fold.max()) + 1):
        out = fold == number
        fitted = fit_platt(x[~out], y[~out], ridge=_RIDGE)
        p[out] = sigmoid(fitted.log_odds(x[out]))
    least = 1 / (len(y) + 2)
    return np.clip(p, least, 1 - least)


def _names(columns: Columns, event: Event) -> Sequence[str]:
    """The measures of the map of all: those that every labelled sample has."""
    known = columns.known(event)
    return tuple(name for name in _OF_ALL if np.isfinite(columns.measures[name][known]).all())


def _order(values: Floats) -> Floats:
    """Probabilities in the order of the values, equal where these are."""
    distinct, rank = np.unique(values, return_inverse=True)
    return np.asarray((rank + 1) / (len(distinct) + 1), dtype=np.float64)


def each(
    found: Mapping[tuple[Setting, Event, str], Forecasts | Missing], wanted: Callable[[Forecast], bool] = lambda _: True
) -> Iterator[Forecast]:
    """All forecasts that are wanted, in order."""
    for forecasts in found.values():
        if not isinstance(forecasts, Missing):
            yield from filter(wanted, forecasts.values())

"""Samples as columns, and measures as probabilities of an event: raw, and scaled by Platt with random folds and folds by project.

Random folds are the paper's (Spiess et al. 2024), whose numbers are in spiess2024.toml, each cell with its place.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...calibration.arrays import Floats, sigmoid
from ...calibration.fitting.folds import Grouping, folds_of, grouped, renumbered
from ...calibration.maps.platt import fit_platt
from ...calibration.measures.registry import MEASURES, enter, raw_probability
from ...calibration.metrics.bins import ece, ece_noise_floor
from ...calibration.metrics.intervals import Interval, Intervals, intervals
from ...calibration.metrics.scores import inside
from ...calibration.report.paper_claims import MAX_UNREADABLE
from ...calibration.samples import EVENTS, Event, Sample, read_samples
from ..errors import StudyError
from ..study_page import Paper, paper_of

# What the paper's column of a task is called. A task that is not here has none.
DATA_OF = {
    "line": "DyPyBench",
    "humaneval": "HumanEval",
    "mbpp": "MBPP",
    "defects4j": "Defects4J",
}
_LINES_AND_FUNCTIONS = ("DyPyBench", "HumanEval", "MBPP")


@dataclass(frozen=True, slots=True)
class Statement:
    """A number in the paper's text, and what its own tables give.

    where: in the text. says: what it is about. value: as printed. made_by: the rule that computes it from the tables. tables: the result.
    """

    where: str
    says: str
    value: float
    made_by: str
    tables: float


def paper() -> Paper:
    """The paper."""
    return paper_of(__package__, "spiess2024")


def measures() -> Mapping[str, str]:
    """Its names of measures, and ours."""
    found: Mapping[str, str] = paper()["measures"]
    return found


def title_of(table: str) -> str:
    """What it calls a table."""
    return str(paper()[table]["title"])


def statements() -> tuple[Statement, ...]:
    """What its text says against its tables."""
    return tuple(Statement(**each) for each in paper()["statement"])


def computed(rule: str) -> float:
    """What the paper's tables give for a statement, by the rule that its `made_by` names. Raises KeyError for an unknown rule."""
    name, _, rest = rule.partition(" ")
    match name:
        case "cell":
            return paper().cells[rest].value
        case "mean_raw_skill":
            return fmean(raw("skill"))
        case "mean_raw_ece":
            return fmean(raw("ece"))
        case "normalising":
            return _normalising(rest)
        case "normalising_lowers":
            return -_normalising(rest)
        case "largest_docstring_gain":
            return max(docstring_gains().values())
    raise KeyError(rule)


def _normalising(score: str) -> float:
    cells = paper().cells
    return fmean(
        cells[f"T5/GPT-3.5/ask_n/{data}/{score}"].value - cells[f"T5/GPT-3.5/ask/{data}/{score}"].value for data in _LINES_AND_FUNCTIONS
    )


def raw(score: str, measure: str = "*") -> list[float]:
    """The raw scores of Table 5, of one measure or of all."""
    return [
        cell.value
        for place, cell in paper().cells.items()
        if fnmatchcase(place, f"T5/*/{measure}/*/{score}") and "/unskilled/" not in place
    ]


def docstring_gains() -> dict[str, float]:
    """How much the share of passing lines rises with docstrings in Table 3, by model."""
    of = {
        model: [paper().cells[f"T3/{model}/DyPyBench/{arm}/tests_pass"].value for arm in ("docstring", "no_docstring")]
        for model in paper().models
    }
    return {model: with_docstring - without for model, (with_docstring, without) in of.items()}


BASE_ARM = "docstring"
ARMS = (BASE_ARM, "no_docstring", "no_suffix")
_NAMES: dict[Grouping, Callable[[Sample], str]] = {
    "project": attrgetter("project"),
    "file": lambda sample: f"{sample.project}/{sample.file}",
    "sample": attrgetter("id"),
}
_LABEL = {True: 1, False: 0, None: -1}


@dataclass(frozen=True, slots=True)
class Setting:
    """A task and an arm, such as line without docstring."""

    task: str
    arm: str = BASE_ARM

    def __str__(self) -> str:
        return self.task if self.arm == BASE_ARM else f"{self.task}, {self.arm.replace('_', ' ')}"

    @property
    def path(self) -> str:
        """The setting in the id of a cell."""
        return f"{self.task}/{self.arm}"


@dataclass(frozen=True, slots=True)
class Columns:
    """n samples.

    ids: of the samples. labels: by event, (n,): 1, 0, or -1 where it is not known. measures: (n,) each, nan where a sample has none.
    groups (n,): what is taken as independent, by `grouped_by`, with its names (n,) for people; notes say why it is not the project.
    stand_ins: by measure, the number of samples whose value stands in for one that could not be had.
    """

    setting: Setting
    ids: tuple[str, ...]
    labels: Mapping[Event, NDArray[np.int8]]
    measures: Mapping[str, Floats]
    groups: NDArray[np.intp]
    names: tuple[str, ...]
    grouped_by: Grouping
    notes: tuple[str, ...]
    stand_ins: Mapping[str, int]

    def says_nothing(self, measure: str) -> bool:
        """Whether too many values of a measure only stand in for an answer that can't be read, or all are one."""
        values = {value for value in self.measures.get(measure, np.empty(0)).tolist() if math.isfinite(value)}
        return self.stand_ins.get(measure, 0) > MAX_UNREADABLE * len(self.ids) or len(values) == 1

    def known(self, event: Event) -> NDArray[np.bool_]:
        """Which samples have a label for an event."""
        return self.labels[event] >= 0


def samples_by_setting(folder: Path) -> dict[Setting, list[Sample]]:
    """The samples of a run by task and arm, from its files samples/TASK.jsonl and samples/TASK-ARM.jsonl. Raises SampleError."""
    return {setting_of(path.stem): read_samples(path) for path in sorted((folder / "samples").glob("*.jsonl"), key=lambda path: path.stem)}


def setting_of(name: str) -> Setting:
    """The setting of a samples file by its name, TASK or TASK-ARM."""
    task, _, arm = name.partition("-")
    return Setting(task, arm or BASE_ARM)


def first_choices(samples: Mapping[Setting, Sequence[Sample]]) -> dict[Setting, list[Sample]]:
    """The samples that are first choices, without settings that have none: further alternatives are no suggestions of their own."""
    found = {setting: [sample for sample in of_setting if sample.rank == 1] for setting, of_setting in samples.items()}
    return {setting: kept for setting, kept in found.items() if kept}


def columns_of(setting: Setting, samples: Sequence[Sample]) -> Columns:
    """The columns of at least one sample."""
    count = len(samples)
    by, groups, notes = grouped(samples, "project")
    return Columns(
        setting=setting,
        ids=tuple(sample.id for sample in samples),
        labels={event: np.fromiter((_LABEL[sample.labels.get(event)] for sample in samples), np.int8, count) for event in EVENTS},
        measures={name: np.fromiter((sample.measures.get(name, math.nan) for sample in samples), np.float64, count) for name in MEASURES},
        groups=groups,
        names=tuple(map(_NAMES[by], samples)),
        grouped_by=by,
        notes=notes,
        stand_ins=Counter(name for sample in samples for name in sample.fallbacks),
    )


def pairs_of(one: Columns, other: Columns) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows of the samples that both have, by id: where they stand in the one, and in the other."""
    places = {sample: row for row, sample in enumerate(other.ids)}
    rows = [(row, places[sample]) for row, sample in enumerate(one.ids) if sample in places]
    found = np.array(rows, dtype=np.intp).reshape(-1, 2)
    return found[:, 0], found[:, 1]


Way = Literal["raw", "random", "project", "order"]
SCALED: tuple[Way, ...] = ("random", "project")
WAYS: tuple[Way, ...] = ("raw", "order", *SCALED)
OURS = ("mean_logprob", "min_logprob", "lowest_logprob", "mean_entropy", "mean_margin")
# What a model says that is asked in words, alone and behind examples (`calibration.shots`). Few runs have it.
IN_WORDS = ("ask_chat", "ask_shots")
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
    """The paper's six measures, ours, those of a model asked in words, and all in one map."""
    return (*measures().values(), *OURS, *IN_WORDS, ALL)


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

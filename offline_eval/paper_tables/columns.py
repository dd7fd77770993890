"""Samples of one task and arm as columns, so that everything after them is arithmetic on arrays."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...calibration.arrays import Floats
from ...calibration.fitting.folds import Grouping, grouped
from ...calibration.measures.registry import MEASURES
from ...calibration.samples import EVENTS, Event, Sample, read_samples

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

    def mostly_stands_in(self, measure: str) -> bool:
        """Whether most values of a measure only stand in."""
        return 2 * self.stand_ins.get(measure, 0) > len(self.ids)

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

"""Rates of round trips over places, paired with what comes of a comment that says nothing, and of none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ....calibration.arrays import Floats
from ....calibration.fitting.folds import numbered
from ....calibration.metrics.groups import difference, mean, mean_share
from ....calibration.metrics.intervals import Interval
from ....calibration.report.cells import Cell, with_interval
from .facts import CodeFacts, PlaceFacts, TripFacts

# When a rebuild counts: it passes the tests; it is the code again; the tests say the same of it as of the code.
Sim = Literal["passes", "equal", "same"]
SIMS: dict[str, tuple[Sim, ...]] = {"truth": ("passes", "equal"), "suggestion": ("passes", "same", "equal")}


@dataclass(frozen=True, slots=True)
class Rates:
    """Of the same places (n,) each.

    rtc: the share of rebuilds that count, over all descriptions. best: of the best description. uninformed: below the comment that says
    nothing. bare: whether what the model writes without a comment counts; nan where that has no meaning. projects: numbered from 0.
    """

    rtc: Floats
    best: Floats
    uninformed: Floats
    bare: Floats
    projects: NDArray[np.intp]
    names: tuple[str, ...]

    @property
    def lift(self) -> Floats:
        """What the descriptions add."""
        return self.rtc - self.uninformed

    def cell(self, name: str, values: Floats, *, sign: bool = False) -> Cell:
        """The mean of values of these places, as a percentage."""
        return mean_cell(name, values, self.projects, percent=True, sign=sign)

    def by_project(self, values: Floats) -> Floats:
        """The mean of values in each project."""
        return np.asarray(np.bincount(self.projects, values) / np.bincount(self.projects))

    def of_project(self, number: int, name: str, values: Floats, *, sign: bool = False) -> Cell:
        """The mean in one project, whose places are taken as independent."""
        inside = values[self.projects == number]
        return mean_cell(name, inside, np.arange(len(inside)), by="place", percent=True, sign=sign)


def rates(facts: Sequence[PlaceFacts], code: str, sim: Sim, *, copies: bool) -> Rates:
    """The rates of a code, truth or suggestion. copies: whether descriptions that recite the code count, too.

    Places where something is unknown, or no description is left, are left out.
    """
    found = [row for place in facts if (row := _of_place(place, code, sim, copies=copies))]
    projects = tuple(dict.fromkeys(project for project, _ in found))
    rtc, best, uninformed, bare = np.array([values for _, values in found], dtype=np.float64).reshape(len(found), 4).T
    return Rates(rtc, best, uninformed, bare, numbered([project for project, _ in found]), projects)


def _of_place(place: PlaceFacts, code: str, sim: Sim, *, copies: bool) -> tuple[str, tuple[float, float, float, float]] | None:
    found = place["codes"].get(code)
    if found is None:
        return None
    trips = [_counts(trip, found, sim) for trip in found["trips"] if copies or not trip["copied"]]
    uninformed, bare = _counts(found["uninformed"], found, sim), _bare(place, code, sim)
    known = [each for each in trips if each is not None]
    if not known or len(known) < len(trips) or uninformed is None or bare is None:
        return None
    return place["project"], (fmean(known), max(known), uninformed, bare)


def _counts(trip: TripFacts, code: CodeFacts, sim: Sim) -> float | None:
    """The share of rebuilds of one comment that count."""
    if sim == "equal":
        return trip["equal"]
    if trip["passes"] is None or sim == "passes" or code["passes"]:
        return trip["passes"]
    return None if code["passes"] is None else 1 - trip["passes"]


def _bare(place: PlaceFacts, code: str, sim: Sim) -> float | None:
    if sim == "passes":
        return None if place["passes"] is None else float(place["passes"])
    return float(place["exact"]) if code == "truth" else np.nan


def mean_cell(
    name: str, values: Floats, groups: NDArray[np.intp], *, by: str = "project", percent: bool = False, sign: bool = False
) -> Cell:
    """The mean of values (n,) with its interval by groups (n,); of one group without an interval.

    percent: they are shares, or with `sign` differences of shares.
    """
    if not len(values) or np.isnan(values).any():
        return Cell(name, why="–", percent=percent, sign=sign)
    count = int(groups.max()) + 1
    if count < 2:
        return Cell(name, float(values.mean()), n=len(values), groups=count, grouped_by=by, percent=percent, sign=sign)
    found = mean(values, groups)
    if percent and found and sign:
        found = Interval(found.value, max(-1.0, found.low), min(1.0, found.high))
    elif percent:
        found = mean_share(values, groups)
    return with_interval(name, found, len(values), count, by, percent=percent, sign=sign)


@dataclass(frozen=True, slots=True)
class Lengths:
    """The characters of codes (n,), whether a rebuild of each passed its tests, and their projects, numbered from 0."""

    characters: Floats
    made: NDArray[np.bool_]
    projects: NDArray[np.intp]

    @property
    def difference(self) -> Interval | None:
        """The mean of those that made the round trip minus that of the others, by the jackknife over projects."""
        return difference(self.characters, self.made, self.projects)


def lengths_of(facts: Sequence[PlaceFacts], code: str) -> Lengths:
    """The lengths of codes whose rebuilds are all judged."""
    found = [
        (len(one["text"]), any(trip["passes"] for trip in one["trips"]), place["project"])
        for place in facts
        if (one := place["codes"].get(code)) and all(trip["passes"] is not None for trip in one["trips"])
    ]
    return Lengths(
        np.array([length for length, _, _ in found], dtype=np.float64),
        np.array([made for _, made, _ in found], dtype=np.bool_),
        numbered([project for _, _, project in found]),
    )


def trips_of(facts: Sequence[PlaceFacts], code: str) -> Iterator[tuple[PlaceFacts, CodeFacts, TripFacts]]:
    """Each description of each place that has some."""
    for place in facts:
        if found := place["codes"].get(code):
            yield from ((place, found, trip) for trip in found["trips"])

"""Morphism identification without a question: a rewrite is called wrong where the log-probability of its line falls far enough.

How far is far enough is taken from other projects. Recall by class is what the paper calls precision.

References: Lin et al. (2024), experiment 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ....calibration.arrays import Floats, sigmoid
from ....calibration.fitting.folds import numbered
from ....calibration.metrics.groups import difference
from ....calibration.metrics.intervals import Interval, intervals
from .facts import LineFacts, PlaceFacts, VariantFacts


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


def falls_of(facts: Sequence[PlaceFacts]) -> Falls:
    """The falls of all rewrites that the model scored."""
    rows = list(_scored(facts))
    fall = np.array([plain - after for _, plain, _, after in rows], dtype=np.float64)
    arm = np.array([variant["arm"] for *_, variant, _ in rows], dtype=np.str_)
    projects = numbered([place["project"] for place, *_ in rows])
    return Falls(
        fall,
        arm,
        np.array([variant["kind"] for *_, variant, _ in rows], dtype=np.str_),
        np.array([variant["rules"][-1] for *_, variant, _ in rows], dtype=np.str_),
        np.array([len(variant["rules"]) for *_, variant, _ in rows], dtype=np.intp),
        projects,
        thresholds(fall, arm, projects),
    )


def _scored(facts: Sequence[PlaceFacts]) -> Iterator[tuple[PlaceFacts, float, VariantFacts, float]]:
    """Each variant with the log-probability of its line before and after."""
    for place in facts:
        for line in place["lines"]:
            yield from ((place, plain, variant, after) for variant, plain, after in _of_line(line))


def _of_line(line: LineFacts) -> Iterator[tuple[VariantFacts, float, float]]:
    plain = (line["plain"] or {}).get("total_logprob")
    for variant in line["variants"]:
        after = (variant["measures"] or {}).get("total_logprob")
        if plain is not None and after is not None:
            yield variant, plain, after


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

"""Dial levels: what each position of the dial shows, and how much of that is right. Pure functions.

It is counted in a log, or read from a calibrator's evidence. `dial` answers which threshold reaches a target; this answers what a position
of the dial does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..calibrator import Calibrator
from ..fitting.dial import DialRow
from ..fitting.folds import MIN_GROUPS, renumbered
from ..guards import MIN_SAMPLES
from ..metrics.bins import Bin
from ..metrics.intervals import rate_interval

POSITIONS = tuple(k / 10 for k in range(10))


@dataclass(frozen=True, slots=True)
class Right:
    """How much of what a position shows is right.

    n, positives: labelled samples, and those of them that were right.
    value: the share that is right of all that the position shows. If some were shown at random it is weighted, and not positives / n.
    low, high: its 95 % interval. None if the evidence does not hold it.
    """

    n: int
    positives: int
    value: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Level:
    """A position of the dial.

    shown: the number of suggestions that are at least this likely. share: of all. Both are None if not known exactly.
    right: None if there are too few labels.
    """

    show_above: float
    shown: int | None
    share: float | None
    right: Right | None


def levels_of(
    p: Floats,
    happened: Sequence[bool | None],
    shown: NDArray[np.bool_],
    propensities: Floats,
    groups: NDArray[np.intp],
    positions: Sequence[float] = POSITIONS,
) -> tuple[Level, ...]:
    """The positions of the dial, from logged decisions, all (n,).

    Parameters:
        p: probabilities.
        happened: whether each was right; None if unknown.
        shown, propensities: whether it was shown, and with which probability.
        groups: numbered from 0. positions: which ones.

    `right` is None with fewer than 25 labels, or 5 groups of them. What was shown at random, with a propensity below 1, has a larger
    weight, so that it represents what was hidden. If nothing represents the hidden suggestions of a position, `right` is None too: they are
    the less likely ones.
    """
    known = np.array([label is not None for label in happened], dtype=np.bool_)
    label = np.array([bool(label) for label in happened], dtype=np.bool_)
    levels = []
    for position in positions:
        above = p >= position
        count = int(above.sum())
        those = above & known & shown
        right = None
        if _are_represented(propensities[above & ~shown], propensities[those]):
            right = _right(label[those], propensities[those], groups[those])
        levels.append(Level(position, count, count / len(p) if len(p) else None, right))
    return tuple(levels)


def _are_represented(of_hidden: Floats, of_labelled: Floats) -> bool:
    """Whether the labelled represent the hidden, by the propensities of both: each hidden one could have been shown, and some were."""
    return not len(of_hidden) or bool((of_hidden > 0).all() and (of_labelled < 1).any())


def levels_of_evidence(calibrator: Calibrator) -> tuple[Level, ...]:
    """The positions of the dial, from a calibrator's held-out evidence. Nothing is interpolated.

    If a row of the calibrator's dial has this threshold, its intervals are given. Otherwise, if the position cuts no bin of the reliability
    diagram, the bins are counted and there is no interval.
    """
    rows = {row.threshold: row for row in calibrator.dial if row.threshold is not None and row.precision is not None}
    evidence = calibrator.evidence
    return tuple(
        _of_row(position, rows[position]) if position in rows else _of_bins(position, evidence.reliability, evidence.n)
        for position in POSITIONS
    )


def _right(label: NDArray[np.bool_], propensities: Floats, groups: NDArray[np.intp]) -> Right | None:
    if len(label) < MIN_SAMPLES:
        return None
    groups = renumbered(groups)
    if int(groups.max()) + 1 < MIN_GROUPS:
        return None
    found = rate_interval(label, groups, 1 / propensities)
    return None if found is None else Right(len(label), int(label.sum()), found.value, found.low, found.high)


def _of_row(position: float, row: DialRow) -> Level:
    precision = row.precision
    assert precision is not None
    right = Right(row.shown, round(precision.value * row.shown), precision.value, precision.low, precision.high)
    return Level(position, row.shown, row.share.value, right if row.shown >= MIN_SAMPLES else None)


def _of_bins(position: float, bins: Sequence[Bin], n: int) -> Level:
    if any(one.low < position <= one.high for one in bins):
        return Level(position, None, None, None)
    above = [one for one in bins if one.low >= position]
    shown, positives = sum(one.n for one in above), sum(one.positives for one in above)
    right = Right(shown, positives, positives / shown, None, None) if shown >= MIN_SAMPLES else None
    return Level(position, shown, shown / n, right)

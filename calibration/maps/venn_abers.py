"""Inductive Venn-Abers prediction (Vovk, Petej & Fedorova 2015): two isotonic fits, one with the new sample as a 0, one with it as a 1.

Their probabilities p0 < p1 enclose what isotonic regression can say, and are wide where there is little evidence. The measure was not made
from the labels, so that all samples may be the calibration set.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .isotonic import fit_isotonic

# Above so many different values, neighbours are taken as equal: a map of steps finer than 1 in 2,000 says no more, and its file is large.
CELLS = 2000


@dataclass(frozen=True, slots=True)
class VennAbersMap:
    """p0 and p1 of the first feature as it enters (its negative where not `rising`).

    scores (m,), rising; p0 (m + 1,): p0[i] from scores[i - 1] on; p1 (m + 1,): p1[i] up to scores[i], that included. errors (m + 1,):
    standard errors of the log odds up to scores[i], those of the isotonic fit.
    """

    kind: Literal["venn_abers"]
    rising: bool
    scores: tuple[float, ...]
    p0: tuple[float, ...]
    p1: tuple[float, ...]
    errors: tuple[float, ...]

    def bounds(self, x: Floats) -> tuple[Floats, Floats]:
        """(n, k) features to p0 and p1, each (n,)."""
        score = x[:, 0] if self.rising else -x[:, 0]
        after, upto = (np.searchsorted(self.scores, score, side=side) for side in ("right", "left"))
        return np.array(self.p0)[after], np.array(self.p1)[upto]

    def log_odds(self, x: Floats) -> Floats:
        """(n, k) features to (n,) log odds of p1 / (1 - p0 + p1), the best of one number for log loss (Vovk et al. 2015, §4)."""
        p0, p1 = self.bounds(x)
        return np.log(p1) - np.log1p(-p0)

    def standard_error(self, x: Floats) -> Floats:
        """(n, k) features to the (n,) standard errors of their log odds."""
        score = x[:, 0] if self.rising else -x[:, 0]
        return np.array(self.errors)[np.searchsorted(self.scores, score, side="left")]


def fit_venn_abers(x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None, *, rising: bool = True) -> VennAbersMap:
    """Fit to one feature x (n, 1) and labels y (n,); groups as in `fit_linear`; rising: whether a higher value speaks for the event.

    Exact for up to `CELLS` different values; above, they are taken together in so many cells of equal mass, named by their smallest.
    """
    score = x[:, 0] if rising else -x[:, 0]
    values, cell = np.unique(score, return_inverse=True)
    if len(values) > CELLS:
        first = np.unique(np.sort(score)[np.arange(CELLS) * len(score) // CELLS])
        values, cell = first, np.searchsorted(first, score, side="right") - 1
    size, positives = np.bincount(cell), np.bincount(cell, y).astype(np.intp)
    p1 = np.append(_with_a_positive(size, positives), 1.0)
    p0 = 1 - np.append(_with_a_positive(size[::-1], (size - positives)[::-1]), 1.0)[::-1]
    errors = fit_isotonic(score[:, None], y, groups).standard_error(np.append(values, values[-1])[:, None])
    kept = np.flatnonzero((p0[1:] != p0[:-1]) | (p1[1:] != p1[:-1]))
    return VennAbersMap(
        kind="venn_abers",
        rising=rising,
        scores=tuple(values[kept].tolist()),
        p0=tuple(p0[np.append(0, kept + 1)].tolist()),
        p1=tuple(p1[np.append(kept, len(values))].tolist()),
        errors=tuple(errors[np.append(kept, len(values))].tolist()),
    )


def _with_a_positive(size: NDArray[np.intp], positives: NDArray[np.intp]) -> Floats:
    """What isotonic regression says of each value when one positive more has it, (m,), of sizes and positives by rising value.

    Algorithms 1 and 2 of Vovk, Petej & Fedorova 2015: the slope of the greatest convex minorant of the cumulative sums over the new
    sample's span, which moves to the right past one value after the other. In whole numbers, so that no turn is misjudged.
    """
    ends = list(zip(np.cumsum(size).tolist(), np.cumsum(positives).tolist(), strict=True))
    hull: list[tuple[int, int]] = []  # the minorant's corners, the leftmost on top
    for point in [*reversed(ends), (0, 0), (-1, -1)]:
        _push(hull, point)
    slopes = []
    for x, y in ends:
        (left_x, left_y), (right_x, right_y) = hull[-1], hull[-2]
        slopes.append((right_y - left_y) / (right_x - left_x))
        # the new sample moves behind this value: what stood before it now stands one sample earlier
        if (right_x - left_x) * (y - 1 - left_y) < (right_y - left_y) * (x - 1 - left_x):
            hull.pop()
            _push(hull, (x - 1, y - 1))
    return np.array(slopes)


def _push(hull: list[tuple[int, int]], point: tuple[int, int]) -> None:
    """Put a point to the left of the hull on it, and take off what is no corner any more."""
    x, y = point
    while len(hull) > 1:
        (near_x, near_y), (far_x, far_y) = hull[-1], hull[-2]
        if (near_x - x) * (far_y - y) > (far_x - x) * (near_y - y):
            break
        hull.pop()
    hull.append(point)

"""Inductive Venn-Abers prediction: two isotonic fits, one with the new sample as a 0, one with it as a 1.

Their probabilities p0 < p1 enclose what isotonic regression can say. They lie far apart where there is little evidence. All samples may be
the calibration set, because the measure was not made from the labels.

References: Vovk, Petej & Fedorova (2015), Large-scale probabilistic predictors with and without guarantees of validity.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .checks import check_not_negative, check_size
from .isotonic import fit_isotonic

# With more distinct values than this, neighbours are taken as equal: finer steps say no more and make a large file.
CELLS = 2000


@dataclass(frozen=True, slots=True)
class VennAbersMap:
    """p0 and p1 of a feature, or of its negative where the map is not `rising`.

    scores (m,): ascending.
    p0 (m + 1,): p0[i] holds from scores[i - 1] on.
    p1 (m + 1,): p1[i] holds up to and including scores[i].
    errors (m + 1,): standard errors of the log odds up to scores[i], taken from an isotonic fit.
    """

    kind: Literal["venn_abers"]
    rising: bool
    scores: tuple[float, ...]
    p0: tuple[float, ...]
    p1: tuple[float, ...]
    errors: tuple[float, ...]

    def bounds(self, x: Floats) -> tuple[Floats, Floats]:
        """Features (n, k) to p0 and p1, each (n,)."""
        score = x[:, 0] if self.rising else -x[:, 0]
        after, upto = (np.searchsorted(self.scores, score, side=side) for side in ("right", "left"))
        return np.array(self.p0)[after], np.array(self.p1)[upto]

    def log_odds(self, x: Floats) -> Floats:
        """Features (n, k) to the log odds of p1 / (1 - p0 + p1) (n,), the best single probability for log loss (Vovk et al. 2015, §4)."""
        p0, p1 = self.bounds(x)
        return np.log(p1) - np.log1p(-p0)

    def standard_error(self, x: Floats) -> Floats:
        """Features (n, k) to the standard errors of their log odds (n,)."""
        score = x[:, 0] if self.rising else -x[:, 0]
        return np.array(self.errors)[np.searchsorted(self.scores, score, side="left")]

    def describe(self, features: Sequence[str]) -> str:
        """The map in one line."""
        return f"venn_abers: {len(self.scores) + 1} steps of {features[0]}"

    def problems(self, features: int) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """(field, reason) for each reason why it can't be used."""
        if not len(self.scores) + 1 == len(self.p0) == len(self.p1) == len(self.errors):
            yield "map", f"{len(self.p0)} p0, {len(self.p1)} p1 and {len(self.errors)} errors for {len(self.scores)} scores"
            return
        for name, values in (("scores", self.scores), ("p0", self.p0), ("p1", self.p1)):
            if (np.diff(values) < 0).any():
                yield f"map.{name}", "fall"
        if not (0 <= self.p0[0] <= self.p0[-1] < 1 and 0 < self.p1[0] <= self.p1[-1] <= 1):
            yield "map", "a probability is outside [0, 1]"
        elif (np.array(self.p0) > self.p1).any():
            yield "map", "p0 is above p1"
        yield from check_size("map", [*self.scores, *self.errors])
        yield from check_not_negative("map.errors", self.errors)


def fit_venn_abers(x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None, *, rising: bool = True) -> VennAbersMap:
    """Fit to one feature x (n, 1) and labels y (n,); groups: as in `fit_linear`. rising: whether a higher value speaks for the event.

    Exact for up to `CELLS` distinct values. More are pooled in that many cells of equal mass, each with its smallest value.
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
    """What isotonic regression says of each value (m,) if one more positive sample has it. size, positives (m,): by ascending value.

    Algorithms 1 and 2 of Vovk, Petej & Fedorova (2015): the slope of the greatest convex minorant of the cumulative sums over the new
    sample's span. That span moves to the right, past one value after the other. All is in whole numbers, so no turn is misjudged.
    """
    ends = list(zip(np.cumsum(size).tolist(), np.cumsum(positives).tolist(), strict=True))
    hull: list[tuple[int, int]] = []  # the corners of the minorant, the leftmost last
    for point in [*reversed(ends), (0, 0), (-1, -1)]:
        _push(hull, point)
    slopes = []
    for x, y in ends:
        (left_x, left_y), (right_x, right_y) = hull[-1], hull[-2]
        slopes.append((right_y - left_y) / (right_x - left_x))
        # the new sample moves past this value, so what was before it is now one sample earlier
        if (right_x - left_x) * (y - 1 - left_y) < (right_y - left_y) * (x - 1 - left_x):
            hull.pop()
            _push(hull, (x - 1, y - 1))
    return np.array(slopes)


def _push(hull: list[tuple[int, int]], point: tuple[int, int]) -> None:
    """Add a point to the left of the hull, and remove what is no longer a corner."""
    x, y = point
    while len(hull) > 1:
        (near_x, near_y), (far_x, far_y) = hull[-1], hull[-2]
        if (near_x - x) * (far_y - y) > (far_x - x) * (near_y - y):
            break
        hull.pop()
    hull.append(point)

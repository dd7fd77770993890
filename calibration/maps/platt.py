"""Platt scaling: log odds = intercept + slopes · features, by Newton's method (linear.py), without a penalty on the first feature.

A penalty (scikit-learn's LogisticRegression has C = 1 unless told otherwise) shrinks the slope of a narrow measure until at n = 50 no skill
is left; smoothed targets alone keep the map finite. With several measures the further ones may have a ridge: they are there to mend what
the first says, and at small n what they add is mostly noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .linear import fit_linear, standard_errors


@dataclass(frozen=True, slots=True)
class PlattMap:
    """log odds = intercept + Σ slope · feature, each feature as `measures.enter` gives it.

    slopes (k,). covariance (k + 1, k + 1): of (intercept, slopes). ridge: the penalty on the features after the first, in units of spread.
    """

    kind: Literal["platt"]
    intercept: float
    slopes: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    ridge: float

    def log_odds(self, x: Floats) -> Floats:
        """(n, k) features to (n,) log odds."""
        log_odds: Floats = self.intercept + x @ np.array(self.slopes)
        return log_odds

    def standard_error(self, x: Floats) -> Floats:
        """(n, k) features to the (n,) standard errors of their log odds."""
        return standard_errors(np.column_stack([np.ones(len(x)), x]), self.covariance)

    def at(self, features: tuple[float, ...]) -> tuple[float, float]:
        """`log_odds` and `standard_error` of one sample, without numpy's cost for each call, which is most of a suggestion's confidence."""
        row = (1.0, *features)
        variance = math.fsum(a * b * c for a, line in zip(row, self.covariance, strict=True) for b, c in zip(row, line, strict=True))
        log_odds = self.intercept + math.fsum(slope * feature for slope, feature in zip(self.slopes, features, strict=True))
        return log_odds, math.sqrt(max(0.0, variance))


def fit_platt(x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None, *, ridge: float = 0.0) -> PlattMap:
    """Fit to features x (n, k), as they enter the map, and labels y (n,); ridge is on the features after the first.

    groups (n,), from 0: what is independent (by default each sample). Finite for perfect separation and for one class. Features that are
    constant or repeat one another get the shortest of the equally good slopes (0 for a constant one). Raises what `fit_linear` raises.
    """
    penalty = np.concatenate([[0.0], np.full(max(0, x.shape[1] - 1), ridge)])[: x.shape[1]] if x.ndim == 2 else None
    found = fit_linear(x, y, groups, ridge=penalty)
    intercept, *slopes = found.theta.tolist()
    return PlattMap("platt", intercept, tuple(slopes), found.covariance, ridge)

"""Platt scaling: log odds = intercept + slopes · features.

The first feature has no penalty. A penalty such as scikit-learn's default (C = 1) shrinks the slope of a measure with a small spread until,
at n = 50, no skill is left. Smoothed targets alone keep the map finite. Further features may have a ridge, because at small n they add
mostly noise.

References: see linear.py, which has the fit.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .checks import check_linear, check_not_negative
from .linear import equation, fit_linear, linear_predictor, standard_errors


@dataclass(frozen=True, slots=True)
class PlattMap:
    """log odds = intercept + Σ slope · feature, each feature as `measures.registry.enter` gives it.

    slopes (k,). covariance (k + 1, k + 1): of (intercept, slopes). ridge: the penalty on the features after the first, which are taken in
    units of their spread.
    """

    kind: Literal["platt"]
    intercept: float
    slopes: tuple[float, ...]
    covariance: tuple[tuple[float, ...], ...]
    ridge: float

    def log_odds(self, x: Floats) -> Floats:
        """Features (n, k) to log odds (n,)."""
        return linear_predictor(self.intercept, self.slopes, x)

    def standard_error(self, x: Floats) -> Floats:
        """Features (n, k) to the standard errors of their log odds (n,)."""
        return standard_errors(np.column_stack([np.ones(len(x)), x]), self.covariance)

    def at(self, features: tuple[float, ...]) -> tuple[float, float]:
        """`log_odds` and `standard_error` of one sample. Without numpy, whose calls would take most of the time of a confidence."""
        row = (1.0, *features)
        variance = math.fsum(a * b * c for a, line in zip(row, self.covariance, strict=True) for b, c in zip(row, line, strict=True))
        log_odds = self.intercept + math.fsum(slope * feature for slope, feature in zip(self.slopes, features, strict=True))
        return log_odds, math.sqrt(max(0.0, variance))

    def describe(self, features: Sequence[str]) -> str:
        """The map in one line."""
        penalty = f", ridge {self.ridge:g} on all but the first" if self.ridge else ""
        return f"platt: {equation(self.intercept, self.slopes, features)}{penalty}, each measure as it enters a map"

    def problems(self, features: int) -> Iterator[tuple[str, str]]:
        """(field, reason) for each reason why it can't be used."""
        yield from check_linear(self.intercept, self.slopes, self.covariance, features, "map")
        yield from check_not_negative("map.ridge", [self.ridge])


def fit_platt(x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None, *, ridge: float = 0.0) -> PlattMap:
    """Fit to features x (n, k), as they enter the map, and labels y (n,).

    ridge: on the features after the first. groups: as in `fit_linear`.

    The map is finite also for perfect separation and for labels of one class. Features that are constant or repeat one another get the
    shortest of the equally good slopes, so a constant one gets 0. Raises what `fit_linear` raises.
    """
    penalty = np.concatenate([[0.0], np.full(max(0, x.shape[1] - 1), ridge)])[: x.shape[1]] if x.ndim == 2 else None
    found = fit_linear(x, y, groups, ridge=penalty)
    intercept, *slopes = found.theta.tolist()
    return PlattMap("platt", intercept, tuple(slopes), found.covariance, ridge)

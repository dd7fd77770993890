"""Temperature scaling (Guo et al. 2017, eq. 9, for two classes): log odds = x / T of a measure that is log odds itself.

One parameter: it can't mend a base rate, where Platt's intercept can. For comparison with what is published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .linear import fit_linear


@dataclass(frozen=True, slots=True)
class TemperatureMap:
    """log odds = slope · the first feature; slope = 1 / T, variance: of the slope."""

    kind: Literal["temperature"]
    slope: float
    variance: float

    def log_odds(self, x: Floats) -> Floats:
        """(n, k) features to (n,) log odds."""
        log_odds: Floats = x[:, 0] * self.slope
        return log_odds

    def standard_error(self, x: Floats) -> Floats:
        """(n, k) features to the (n,) standard errors of their log odds."""
        return np.asarray(np.abs(x[:, 0]) * self.variance**0.5)


def fit_temperature(x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None) -> TemperatureMap:
    """Fit to one feature x (n, 1), log odds, and labels y (n,); groups as in `fit_linear`."""
    found = fit_linear(x[:, :1], y, groups, intercept=False)
    return TemperatureMap("temperature", float(found.theta[0]), found.covariance[0][0])

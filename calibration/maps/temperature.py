"""Temperature scaling: log odds = x / T of a feature x that is log odds itself.

With one parameter it can't correct a base rate, as Platt's intercept can. For comparison with what is published.

References: Guo et al. (2017), eq. 9, for two classes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .checks import check_not_negative, check_size
from .linear import fit_linear


@dataclass(frozen=True, slots=True)
class TemperatureMap:
    """log odds = slope · feature. slope: 1 / T. variance: of the slope."""

    kind: Literal["temperature"]
    slope: float
    variance: float

    def log_odds(self, x: Floats) -> Floats:
        """Features (n, k) to log odds (n,)."""
        log_odds: Floats = x[:, 0] * self.slope
        return log_odds

    def standard_error(self, x: Floats) -> Floats:
        """Features (n, k) to the standard errors of their log odds (n,)."""
        return np.asarray(np.abs(x[:, 0]) * self.variance**0.5)

    def describe(self, features: Sequence[str]) -> str:
        """The map in one line."""
        return f"temperature: log odds = {self.slope:.4g} · {features[0]}, as it enters a map"

    def problems(self, features: int) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """(field, reason) for each reason why it can't be used."""
        yield from check_size("map", [self.slope, self.variance])
        yield from check_not_negative("map.variance", [self.variance])


def fit_temperature(x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None) -> TemperatureMap:
    """Fit to one feature x (n, 1), log odds, and labels y (n,); groups as in `fit_linear`."""
    found = fit_linear(x[:, :1], y, groups, intercept=False)
    return TemperatureMap("temperature", float(found.theta[0]), found.covariance[0][0])

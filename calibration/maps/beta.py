"""Beta calibration: log odds = c + a · log p - b · log(1 - p), with a and b not negative.

The two ends of the map may have different slopes. p is given as its log odds, so neither logarithm is ever taken of 0.

References: Kull, Silva Filho & Flach (2017), Beta calibration, eq. 4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..measures.registry import raw_formula
from .checks import check_linear
from .linear import Linear, fit_linear, linear_predictor, standard_errors, total_loss

# Standard deviation of log p or log(1 - p), in nats. Below it, a slope that changes any probability is in the thousands.
_MIN_SPREAD = 1e-4


@dataclass(frozen=True, slots=True)
class BetaMap:
    """log odds = c + a · log p - b · log(1 - p). The first feature is the log odds of p. covariance (3, 3): of (c, a, b)."""

    kind: Literal["beta"]
    c: float
    a: float
    b: float
    covariance: tuple[tuple[float, ...], ...]

    def log_odds(self, x: Floats) -> Floats:
        """Features (n, k) to log odds (n,)."""
        return linear_predictor(self.c, (self.a, self.b), logs_of(x))

    def standard_error(self, x: Floats) -> Floats:
        """Features (n, k) to the standard errors of their log odds (n,)."""
        return standard_errors(np.column_stack([np.ones(len(x)), logs_of(x)]), self.covariance)

    def describe(self, features: Sequence[str]) -> str:
        """The map in one line."""
        p = raw_formula(features[0])
        return f"beta: log odds = {self.c:.4g} + {self.a:.4g} · log p − {self.b:.4g} · log(1 − p), p = {p}"

    def problems(self, features: int) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """(field, reason) for each reason why it can't be used."""
        yield from check_linear(self.c, (self.a, self.b), self.covariance, 2, "map")
        if self.a < 0 or self.b < 0:
            yield "map", "a or b is negative: the map would fall"


def fit_beta(x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None) -> BetaMap:
    """Fit to one feature x (n, 1), log odds, and labels y (n,); groups as in `fit_linear`.

    A slope that would be negative is set to 0 and the rest is fitted again. The loss is convex, so the best map has that slope 0. If both
    would be negative, the map is constant. The reference implementation refits only once, which can leave a falling map.

    A logarithm that hardly varies gets the slope 0, such as log(1 - p) where all p are near 0. Its slope would be in the millions and mean
    nothing.
    """
    logs = logs_of(x)
    moves = logs.std(axis=0) > _MIN_SPREAD
    best: tuple[float, BetaMap] | None = None
    for used in ([0, 1], [0], [1], []):
        if not moves[used].all():
            continue
        found = fit_linear(logs[:, used], y, groups)
        if (found.theta[1:] < 0).any():
            continue
        made = _map(found, used)
        loss = total_loss(made.log_odds(x), y)
        if len(used) == 2:
            return made
        if best is None or loss < best[0]:
            best = loss, made
    assert best is not None
    return best[1]


def logs_of(x: Floats) -> Floats:
    """log p and -log(1 - p), (n, 2), of the first feature, the log odds of p."""
    z = x[:, 0]
    return np.column_stack([-np.logaddexp(0.0, -z), np.logaddexp(0.0, z)])


def _map(found: Linear, used: list[int]) -> BetaMap:
    parameters, covariance = np.zeros(3), np.zeros((3, 3))
    at = [0, *(i + 1 for i in used)]
    parameters[at] = found.theta
    covariance[np.ix_(at, at)] = found.covariance
    c, a, b = parameters.tolist()
    return BetaMap("beta", c, a, b, tuple(map(tuple, covariance.tolist())))

"""Beta calibration (Kull, Silva Filho & Flach 2017, eq. 4): log odds = c + a · log p - b · log(1 - p), a and b not negative.

Three parameters: the two ends of the map may have slopes of their own. p comes as its log odds, so that neither log is ever of 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .linear import Linear, fit_linear, standard_errors, total_loss

# of a log, in nats: below, a slope that changes a probability is in the thousands
_MIN_SPREAD = 1e-4


@dataclass(frozen=True, slots=True)
class BetaMap:
    """log odds = c + a · log p - b · log(1 - p) of the first feature, the log odds of p; covariance (3, 3): of (c, a, b)."""

    kind: Literal["beta"]
    c: float
    a: float
    b: float
    covariance: tuple[tuple[float, ...], ...]

    def log_odds(self, x: Floats) -> Floats:
        """(n, k) features to (n,) log odds."""
        log_odds: Floats = self.c + _logs(x) @ np.array([self.a, self.b])
        return log_odds

    def standard_error(self, x: Floats) -> Floats:
        """(n, k) features to the (n,) standard errors of their log odds."""
        return standard_errors(np.column_stack([np.ones(len(x)), _logs(x)]), self.covariance)


def fit_beta(x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None) -> BetaMap:
    """Fit to one feature x (n, 1), log odds, and labels y (n,); groups as in `fit_linear`.

    Where a slope would be negative it is 0 and the others are fitted again (the loss is convex, so the best map is on that side); where
    both would be, the map is constant. Fitted once only, as in the reference implementation, two negative slopes can leave a falling map.
    A log that hardly moves, log(1 - p) where all p are near 0, has the slope 0: it would be in the millions, and say nothing.
    """
    logs = _logs(x)
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


def _logs(x: Floats) -> Floats:
    """log p and -log(1 - p), (n, 2), of p's log odds, the first feature."""
    z = x[:, 0]
    return np.column_stack([-np.logaddexp(0.0, -z), np.logaddexp(0.0, z)])


def _map(found: Linear, used: list[int]) -> BetaMap:
    parameters, covariance = np.zeros(3), np.zeros((3, 3))
    at = [0, *(i + 1 for i in used)]
    parameters[at] = found.theta
    covariance[np.ix_(at, at)] = found.covariance
    c, a, b = parameters.tolist()
    return BetaMap("beta", c, a, b, tuple(map(tuple, covariance.tolist())))

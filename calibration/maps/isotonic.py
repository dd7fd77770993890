"""Isotonic regression (Zadrozny & Elkan 2002; pool adjacent violators, Barlow et al. 1972), with bounded ends.

Plain, it says 0 and 1 at the ends: in a quarter of cases at n = 25, of which the first that is wrong costs an infinite log loss. Here a
positive of weight 1 stands before all samples and a negative of weight 1 behind them, so that m samples of one class at an end give
1 / (m + 1) or m / (m + 1) (the same worst case that Venn-Abers prediction takes), and the rest is left as it is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .steps import StepsMap, rate_and_error


def fit_isotonic(x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None, *, rising: bool = True) -> StepsMap:
    """Fit to one feature x (n, 1) and labels y (n,); groups as in `fit_linear`. rising: whether a higher value speaks for the event.

    Equal values have equal probabilities. A step begins half-way between the values on both its sides.
    """
    # only a fit needs scipy; the live server never does
    from scipy.optimize import isotonic_regression

    score = x[:, 0] if rising else -x[:, 0]
    values, inverse = np.unique(score, return_inverse=True)
    size, positives = np.bincount(inverse), np.bincount(inverse, y)
    rates = np.concatenate([[1.0], positives / size, [0.0]])
    found = isotonic_regression(rates, weights=np.concatenate([[1.0], size, [1.0]])).x[1:-1]
    starts = np.flatnonzero(np.diff(found) > 0) + 1
    below, above = values[starts - 1], values[starts]
    edges = below / 2 + above / 2
    # between neighbouring floats there is none: the edge is then the one that is to be in the step that begins there
    edges = np.where(edges <= below, above, edges) if rising else np.where(edges >= above, below, edges)
    block = np.zeros(len(values), dtype=np.intp)
    block[starts] = 1
    log_odds, errors = rate_and_error(y, np.cumsum(block)[inverse], found[np.concatenate([[0], starts])], groups)
    if not rising:
        edges, log_odds, errors = -edges[::-1], log_odds[::-1], errors[::-1]
    return StepsMap("isotonic", tuple(edges.tolist()), tuple(log_odds.tolist()), tuple(errors.tolist()))

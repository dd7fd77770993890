"""Isotonic regression: the best monotone map, with bounded ends.

Plain isotonic regression gives the probabilities 0 and 1 at its ends: to a quarter of the samples at n = 25. The first of them that is
wrong costs an infinite log loss. So a positive of weight 1 is put before all samples and a negative of weight 1 after them. m samples of
one class at an end then give 1 / (m + 1) or m / (m + 1), the worst case that Venn-Abers prediction takes too. The rest of the map stays as
it is.

References: Zadrozny & Elkan (2002); Barlow et al. (1972) for the algorithm, pool adjacent violators.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .steps import StepsMap, rate_and_error


def fit_isotonic(x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None, *, rising: bool = True) -> StepsMap:
    """Fit to one feature x (n, 1) and labels y (n,); groups: as in `fit_linear`. rising: whether a higher value speaks for the event.

    Equal values get equal probabilities. A step begins half-way between the values on its two sides.
    """
    # Not at the top: the live server, which fits nothing, does not load scipy.
    from scipy.optimize import isotonic_regression

    score = x[:, 0] if rising else -x[:, 0]
    values, inverse = np.unique(score, return_inverse=True)
    size, positives = np.bincount(inverse), np.bincount(inverse, y)
    rates = np.concatenate([[1.0], positives / size, [0.0]])
    found = isotonic_regression(rates, weights=np.concatenate([[1.0], size, [1.0]])).x[1:-1]
    starts = np.flatnonzero(np.diff(found) > 0) + 1
    below, above = values[starts - 1], values[starts]
    edges = below / 2 + above / 2
    # Between neighbouring floats there is no half-way: the edge is then the value that belongs to the step that begins there.
    edges = np.where(edges <= below, above, edges) if rising else np.where(edges >= above, below, edges)
    block = np.zeros(len(values), dtype=np.intp)
    block[starts] = 1
    log_odds, errors = rate_and_error(y, np.cumsum(block)[inverse], found[np.concatenate([[0], starts])], groups)
    if not rising:
        edges, log_odds, errors = -edges[::-1], log_odds[::-1], errors[::-1]
    return StepsMap("isotonic", tuple(edges.tolist()), tuple(log_odds.tolist()), tuple(errors.tolist()))

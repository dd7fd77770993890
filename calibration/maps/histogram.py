"""Histogram binning: the rate of the event in bins of equal mass. Poor at small n; for comparison with what is published.

References: Zadrozny & Elkan (2001).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from ..metrics.bins import equal_mass
from .steps import StepsMap, rate_and_error

BINS = 10


def fit_histogram(x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None, *, bins: int = BINS) -> StepsMap:
    """Fit to one feature x (n, 1) and labels y (n,); groups as in `fit_linear`.

    A bin with k positives among m samples has the rate (k + 1) / (m + 2), never 0 or 1. A bin begins at its smallest value.
    """
    score = x[:, 0]
    step = equal_mass(score, bins)
    size, positives = np.bincount(step), np.bincount(step, y)
    first = np.full(len(size), np.inf)
    np.minimum.at(first, step, score)
    values, errors = rate_and_error(y, step, (positives + 1) / (size + 2), groups)
    return StepsMap("histogram", tuple(first[1:].tolist()), tuple(values.tolist()), tuple(errors.tolist()))

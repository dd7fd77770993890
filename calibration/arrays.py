"""Arrays: the type of all arrays of floats here, and the functions between a probability and its log odds."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def sigmoid(z: Floats) -> Floats:
    """1 / (1 + exp(-z)). Nothing overflows."""
    e = np.exp(-np.abs(z))
    return np.where(z >= 0, 1.0, e) / (1.0 + e)


def bounded(p: Floats, n: int) -> Floats:
    """Probabilities of a map that was fitted to n samples, none nearer to certainty than 1 / (n + 2)."""
    return np.clip(p, 1 / (n + 2), 1 - 1 / (n + 2))


def logit(p: Floats) -> Floats:
    """log(p / (1 - p))."""
    return np.log(p) - np.log1p(-p)

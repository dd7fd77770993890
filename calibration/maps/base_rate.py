"""The base rate: the same probability for everything, by Laplace's rule of succession. What there is before there is evidence for more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .steps import rate_and_error


@dataclass(frozen=True, slots=True)
class BaseRateMap:
    """log odds = value, with its error."""

    kind: Literal["base_rate"]
    value: float
    error: float

    def log_odds(self, x: Floats) -> Floats:
        """(n, k) features to (n,) log odds."""
        return np.full(len(x), self.value)

    def standard_error(self, x: Floats) -> Floats:
        """(n, k) features to the (n,) standard errors of their log odds."""
        return np.full(len(x), self.error)


def fit_base_rate(y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None) -> BaseRateMap:
    """(N+ + 1) / (n + 2) of labels y (n,); groups as in `fit_linear`."""
    rate = (int(y.sum()) + 1) / (len(y) + 2)
    _, error = rate_and_error(y, np.zeros(len(y), dtype=np.intp), np.array([rate]), groups)
    return BaseRateMap("base_rate", math.log(rate / (1 - rate)), float(error[0]))

"""The base rate: the same probability for every sample. Used where there are too few samples for any other map."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats
from .checks import check_not_negative, check_size
from .steps import rate_and_error


@dataclass(frozen=True, slots=True)
class BaseRateMap:
    """log odds = value, with its standard error."""

    kind: Literal["base_rate"]
    value: float
    error: float

    def log_odds(self, x: Floats) -> Floats:
        """Features (n, k) to log odds (n,)."""
        return np.full(len(x), self.value)

    def standard_error(self, x: Floats) -> Floats:
        """Features (n, k) to the standard errors of their log odds (n,)."""
        return np.full(len(x), self.error)

    def describe(self, features: Sequence[str]) -> str:
        """The map in one line."""
        return f"base rate: log odds = {self.value:.4g}, whatever {features[0]} is"

    def problems(self, features: int) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """(field, reason) for each reason why it can't be used."""
        yield from check_size("map", [self.value, self.error])
        yield from check_not_negative("map.error", [self.error])


def fit_base_rate(y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None) -> BaseRateMap:
    """Fit to labels y (n,), of which N+ are positive: the rate is (N+ + 1) / (n + 2) (Laplace's rule of succession), never 0 or 1.

    groups: as in `fit_linear`.
    """
    rate = (int(y.sum()) + 1) / (len(y) + 2)
    _, error = rate_and_error(y, np.zeros(len(y), dtype=np.intp), np.array([rate]), groups)
    return BaseRateMap("base_rate", math.log(rate / (1 - rate)), float(error[0]))

"""Forecasts for tests of metrics: probabilities p (n,) with labels y (n,), any or from a world whose truth is known."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.calibration.arrays import Floats

Forecast = tuple[Floats, NDArray[np.bool_]]

_probabilities = st.one_of(st.floats(0, 1), st.integers(0, 10).map(lambda k: k / 10))
forecasts: st.SearchStrategy[Forecast] = st.lists(st.tuples(_probabilities, st.booleans()), min_size=1, max_size=60).map(
    lambda pairs: (np.array([p for p, _ in pairs]), np.array([y for _, y in pairs]))
)
"""1 to 60 forecasts with ties, zeros and ones among them."""


def perfect(n: int, seed: int, shape: tuple[float, float] = (1.2, 2.5)) -> Forecast:
    """Forecasts whose event happens exactly as often as they say; p from a beta distribution."""
    rng = np.random.default_rng(seed)
    p = rng.beta(*shape, n)
    return p, rng.random(n) < p


def overconfident(n: int, seed: int, shape: tuple[float, float] = (1.2, 2.5)) -> Forecast:
    """Forecasts whose log odds are 1.6 times the truth's."""
    rng = np.random.default_rng(seed)
    truth = rng.beta(*shape, n)
    odds = (truth / (1 - truth)) ** 1.6
    return odds / (1 + odds), rng.random(n) < truth

"""Correlations of few paired numbers, such as two scores of several models, each with its 95 % interval from Fisher's z.

Each pair is taken as independent of the others. With grouped samples use `groups.correlation`.

References: Fisher (1921) for r; Bonett & Wright (2000) for rho; Fieller, Hartley & Pearson (1957) for tau.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from .intervals import Interval

MIN_PAIRS = 5
_Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Correlations:
    """r: Pearson's. rho: Spearman's, r of the ranks. tau: Kendall's tau-b. None where one of the two is the same throughout."""

    n: int
    r: Interval | None
    rho: Interval | None
    tau: Interval | None


def correlations(x: ArrayLike, y: ArrayLike) -> Correlations:
    """The correlations of x (n,) and y (n,). None for all three where there are fewer than `MIN_PAIRS` pairs."""
    a, b = (np.asarray(values, dtype=np.float64) for values in (x, y))
    if a.shape != b.shape or a.ndim != 1:
        raise ValueError(f"{a.shape} and {b.shape} numbers are not pairs")
    n = len(a)
    if n < MIN_PAIRS:
        return Correlations(n, None, None, None)
    r, rho, tau = pearson(a, b), pearson(ranks(a), ranks(b)), kendall(a, b)
    return Correlations(
        n,
        r=_interval(r, 1 / (n - 3)),
        rho=None if rho is None else _interval(rho, (1 + rho**2 / 2) / (n - 3)),
        tau=_interval(tau, 0.437 / (n - 4)),
    )


def pearson(a: Floats, b: Floats) -> float | None:
    """Pearson's r; None where a or b is the same throughout."""
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    a, b = a - a.mean(), b - b.mean()
    return float(np.clip((a / math.sqrt(a @ a)) @ (b / math.sqrt(b @ b)), -1, 1))


def kendall(a: Floats, b: Floats) -> float | None:
    """Kendall's tau-b, which counts ties of either as no pair of it; None where a or b is the same throughout."""
    one, other = (np.sign(values[:, None] - values[None, :]) for values in (a, b))
    untied = float((one != 0).sum()) * float((other != 0).sum())
    return float((one * other).sum()) / math.sqrt(untied) if untied else None


def ranks(values: Floats) -> Floats:
    """The rank of each of values (n,), from 1; equal ones share the mean of theirs."""
    _, of, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[of], dtype=np.float64)


def _interval(value: float | None, variance: float) -> Interval | None:
    """Symmetric in Fisher's z. At 1 and -1 it has no width: z has no end there, and n alone would have to tell."""
    if value is None:
        return None
    if abs(value) == 1:
        return Interval(value, value, value)
    z, half = math.atanh(value), _Z95 * math.sqrt(variance)
    return Interval(value, math.tanh(z - half), math.tanh(z + half))

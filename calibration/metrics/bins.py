"""Bins: reliability among similar probabilities, and the expected calibration error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Floats
from ..field_types import Count, Positive, Share
from .scores import checked

BINS = 10
_Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of a reliability diagram.

    low, high, mean: of the probabilities in it.
    n, positives: its samples, and those with the event.
    rate, rate_low, rate_high: positives / n with its 95 % Wilson interval, samples taken as independent.
    """

    low: Share
    high: Share
    n: Positive
    positives: Count
    mean: float
    rate: float
    rate_low: float
    rate_high: float


def equal_width(p: Floats, bins: int = BINS) -> NDArray[np.intp]:
    """The bin of each p among `bins` bins of equal width, from 0.

    A bin is closed on the right: (0.2, 0.3] is bin 2 of 10. p = 0 is in the first bin and 1 in the last. The edges are k / bins as the
    nearest float, so 0.3 is in bin 2.

    >>> equal_width(np.array([0.0, 0.1, 0.3, 0.31, 1.0])).tolist()
    [0, 0, 2, 3, 9]
    """
    # The product is rounded, and may lie on the other side of an edge than p.
    index = np.floor(p * bins)
    index -= p <= index / bins
    index += p > (index + 1) / bins
    return np.maximum(index, 0).astype(np.intp)


def equal_mass(p: Floats, bins: int = BINS) -> NDArray[np.intp]:
    """The bin of each p among at most `bins` bins of about n / bins samples. Equal p's are never parted, so ties make fewer bins."""
    ordered = np.sort(p)
    # A bin begins at the value of rank k n / bins, wherever the run of that value begins.
    first = ordered[[k * len(p) // bins for k in range(1, bins)]]
    return np.searchsorted(np.unique(first[first > ordered[0]]), p, side="right")


Binning = Callable[[Floats, int], NDArray[np.intp]]
"""`equal_width` or `equal_mass`: from probabilities (n,) and a number of bins to the bin of each (n,)."""


def ece(p: ArrayLike, y: ArrayLike, bins: int = BINS, by: Binning = equal_width) -> float:
    """Expected calibration error, Σ_b n_b / n · |ȳ_b - p̄_b|. Published values have 10 bins of equal width.

    It is never 0 for a finite sample, not even for perfect probabilities. Compare it with `ece_noise_floor` for the same bins.

    References: Naeini et al. (2015).
    """
    p, y = checked(p, y)
    return float(np.abs(np.bincount(by(p, bins), y - p)).sum() / len(p))


def ece_noise_floor(p: ArrayLike, bins: int = BINS, by: Binning = equal_width) -> float:
    """The expected `ece` of a perfect forecaster with the same p's.

    In closed form: the sum of y - p in a bin has the variance V_b = Σ p (1 - p), and E|·| = √(2 V_b / π) if it is nearly normal. Bins of a
    handful of samples are not, but have little weight. From n = 100 on it is within 5 % of a simulation
    (tests/calibration/metrics/test_metrics.py).
    """
    p, _ = checked(p, np.zeros(np.shape(p)))
    variance = np.bincount(by(p, bins), p * (1 - p))
    return float(np.sqrt(2 / math.pi * variance).sum() / len(p))


def reliability(p: ArrayLike, y: ArrayLike, bins: int = BINS, by: Binning = equal_mass) -> list[Bin]:
    """The bins of a reliability diagram that have samples, in ascending order.

    Spiess et al. (2024) draw 10 bins of equal width, and 5 of equal mass.
    """
    p, y = checked(p, y)
    index = by(p, bins)
    n = np.bincount(index)
    positives, total = np.bincount(index, y), np.bincount(index, p)
    low, high = np.full(len(n), np.inf), np.full(len(n), -np.inf)
    np.minimum.at(low, index, p)
    np.maximum.at(high, index, p)
    made = []
    for b in np.flatnonzero(n).tolist():
        size, happened = int(n[b]), int(positives[b])
        made.append(Bin(float(low[b]), float(high[b]), size, happened, float(total[b]) / size, happened / size, *wilson(happened, size)))
    return made


def wilson(positives: float, n: float, z: float = _Z95) -> tuple[float, float]:
    """The score interval of a rate (Wilson 1927): low, high. z: the normal quantile, by default for 95 %."""
    rate, z2 = positives / n, z**2
    centre = (rate + z2 / (2 * n)) / (1 + z2 / n)
    half = z / (1 + z2 / n) * math.sqrt(rate * (1 - rate) / n + z2 / (4 * n * n))
    # At the ends the two are equal but for rounding.
    return max(0.0, centre - half) if positives > 0 else 0.0, min(1.0, centre + half) if positives < n else 1.0

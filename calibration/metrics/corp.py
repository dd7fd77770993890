"""CORP: the reliability curve by isotonic regression, and the decomposition of the Brier score that follows from it.

The mean score of probabilities is MCB - DSC + UNC. Miscalibration (MCB) is the score minus that of the recalibrated probabilities.
Discrimination (DSC) is what these gain over always giving the base rate. Uncertainty (UNC) is the score of the base rate. There are no bins
to choose: the recalibrated probabilities come from the pool-adjacent-violators algorithm (PAV), and are the best monotone ones for every
proper score at once.

References: Dimitriadis, Gneiting & Jordan (2021).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Floats
from .scores import pooled

_STANDARD_ERROR = 0.02
_MIN_SIMULATIONS, _MAX_SIMULATIONS = 5, 1000
_CELLS, _BAND_POINTS, _BAND_SIMULATIONS = 4096, 256, 400


@dataclass(frozen=True, slots=True)
class Decomposition:
    """score = miscalibration - discrimination + uncertainty, each ≥ 0 (but for rounding)."""

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


@dataclass(frozen=True, slots=True)
class Recalibrated:
    """The CORP reliability curve: m blocks of samples to which PAV gives one rate each, both ascending. All arrays (m,).

    low, high: smallest and largest probability in the block. n: samples. rate: of the event among them.

    It is drawn as the line through (low, rate), (high, rate) of each block in turn. The blocks were chosen for their rates, so an interval
    of a block's rate as if it were a bin is too narrow; see `consistency_band`.
    """

    low: Floats
    high: Floats
    n: NDArray[np.int64]
    rate: Floats


@dataclass(frozen=True, slots=True)
class Band:
    """The band in which the CORP curve of a perfect forecaster with the same p's lies in 95 % of cases: low, high (m,) at p (m,).

    At the lowest and highest p's it need not include the diagonal: PAV pools few samples there, and most curves begin at 0 and end at 1.
    """

    p: Floats
    low: Floats
    high: Floats


def recalibrated(p: ArrayLike, y: ArrayLike) -> Recalibrated:
    """The CORP curve of probabilities p (n,) for labels y (n,). Equal p's are one point."""
    runs = pooled(p, y)
    starts, n, rate = _pav(runs.positives, runs.n)
    return Recalibrated(runs.p[starts], runs.p[np.append(starts[1:], len(runs.p)) - 1], n, rate)


def decompose(p: ArrayLike, y: ArrayLike) -> Decomposition:
    """MCB, DSC and UNC of the mean score, `scores.brier`.

    MCB is never 0 for a finite sample, not even for perfect probabilities. Compare it with `miscalibration_noise_floor`.
    """
    runs = pooled(p, y)
    return _decomposed(runs.p, runs.n, runs.positives)


def miscalibration_noise_floor(p: ArrayLike) -> float:
    """The mean MCB of a perfect forecaster with the same p's, over simulations of y* ~ Bern(p).

    There are as many simulations as bring the standard error of the mean below 2 % of it: about 130 for n = 100, 5 (the minimum) for a
    million.
    """
    runs = pooled(p, np.zeros(np.shape(p)))
    values: list[float] = []
    for positives in _redrawn(runs.p, runs.n, _MAX_SIMULATIONS):
        values.append(_decomposed(runs.p, runs.n, positives).miscalibration)
        if len(values) >= _MIN_SIMULATIONS and np.std(values, ddof=1) <= _STANDARD_ERROR * np.mean(values) * math.sqrt(len(values)):
            break
    return float(np.mean(values))


def consistency_band(p: ArrayLike) -> Band:
    """The pointwise 95 % band under the hypothesis of calibration, from simulations of y* ~ Bern(p).

    It is given at up to 256 of the p's, evenly spaced in rank. More than 4,096 distinct p's are simulated as that many cells of equal mass,
    each with its mean p. For n = 100,000 and 1,000,000 the median width is then within 0.2 % of that from single samples, and 90 % of the
    widths are within 15 % (400 simulations each).
    """
    runs = pooled(p, np.zeros(np.shape(p)))
    cell = (np.cumsum(runs.n) - 1) * _CELLS // runs.n.sum() if len(runs.p) > _CELLS else np.arange(len(runs.p))
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    n = np.add.reduceat(runs.n, starts)
    # A mean of ones may be rounded to more than 1.
    mean = np.minimum(np.add.reduceat(runs.n * runs.p, starts) / n, 1)
    points = np.unique(np.linspace(0, len(mean) - 1, _BAND_POINTS).astype(np.intp))
    curves = []
    for positives in _redrawn(mean, n, _BAND_SIMULATIONS):
        blocks, _, rate = _pav(positives, n)
        curves.append(rate[np.searchsorted(blocks, points, side="right") - 1])
    low, high = np.quantile(curves, [0.025, 0.975], axis=0)
    return Band(mean[points], low, high)


def _pav(positives: NDArray[np.int64], n: NDArray[np.int64]) -> tuple[NDArray[np.intp], NDArray[np.int64], Floats]:
    """The blocks of the non-decreasing fit to positives / n with weights n: index of the first entry, samples and rate of each."""
    # Not at the top: the live server reads evidence but makes none, and does not load scipy.
    from scipy.optimize import isotonic_regression

    starts = isotonic_regression(positives / n, weights=n).blocks[:-1]
    size = np.add.reduceat(n, starts)
    return starts, size, np.add.reduceat(positives, starts) / size


def _decomposed(p: Floats, n: NDArray[np.int64], positives: NDArray[np.int64]) -> Decomposition:
    total = n.sum()
    mean = float((positives @ (1 - p) ** 2 + (n - positives) @ p**2) / total)
    _, size, rate = _pav(positives, n)
    best = float(size @ _entropy(rate) / total)
    uncertainty = float(_entropy(np.array([positives.sum() / total]))[0])
    return Decomposition(mean, mean - best, uncertainty - best, uncertainty)


def _entropy(rate: Floats) -> Floats:
    """The mean score of giving the true rate."""
    return rate * (1 - rate) ** 2 + (1 - rate) * rate**2


def _redrawn(p: Floats, n: NDArray[np.int64], times: int) -> Iterator[NDArray[np.int64]]:
    """Simulated positives of n samples each, if p is their true probability."""
    rng = np.random.default_rng(0)
    single = bool((n == 1).all())
    for _ in range(times):
        yield (rng.random(len(p)) < p).astype(np.int64) if single else rng.binomial(n, p)

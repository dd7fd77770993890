"""Tests of calibration that take samples as independent, to be compared with those by group of `metrics.null_tests`."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.calibration.arrays import Floats
from assay.calibration.metrics.null_tests import NullTest
from assay.calibration.metrics.scores import checked, pooled


def spiegelhalter(p: ArrayLike, y: ArrayLike) -> NullTest:
    """Z = Σ (y - p)(1 - 2p) / √(Σ (1 - 2p)² p (1 - p)), two-sided, standard normal (Spiegelhalter 1986).

    That is the Brier score against its expectation: Z > 0 where probabilities are too extreme, < 0 where they are too near 0.5. It does not
    see errors that leave the Brier score as expected. Size at a nominal 5 %: 4.0 to 5.7 % (n = 50 to 10,000, 2,000 or 4,000 worlds each).
    Raises ValueError where every p is 0, 0.5 or 1: the score is then as expected whatever happens.
    """
    p, y = checked(p, y)
    variance = float(((1 - 2 * p) ** 2 * p * (1 - p)).sum())
    if variance == 0:
        raise ValueError("Spiegelhalter's test is not defined where every probability is 0, 0.5 or 1")
    z = float(((y - p) * (1 - 2 * p)).sum()) / math.sqrt(variance)
    return NullTest(z, math.erfc(abs(z) / math.sqrt(2)))


def kuiper_statistic(p: ArrayLike, y: ArrayLike) -> float:
    """max C - min C of the cumulative differences C_k = Σ_{i ≤ k} (y_i - p_i) / √(Σ p (1 - p)) in the order of p, C_0 = 0 among them.

    ECCE-R over its scale σ (Arrieta-Ibarra et al. 2022). Equal p's are one step, so their order does not matter.
    Raises ValueError where every p is 0 or 1.
    """
    runs = pooled(p, y)
    scale = math.sqrt(float((runs.n * runs.p * (1 - runs.p)).sum()))
    if scale == 0:
        raise ValueError("Kuiper's test is not defined where every probability is 0 or 1")
    return float(np.ptp(np.cumsum(np.append(0, runs.positives - runs.n * runs.p)))) / scale


def kuiper(p: ArrayLike, y: ArrayLike) -> NullTest:
    """Kuiper's test: `kuiper_statistic` against the range of a Brownian motion, which it has for large n.

    Size at a nominal 5 %: 3.1 to 4.2 % for n = 50 to 164, 3.8 to 4.9 % for 500 and 2,000, 5.0 to 5.3 % for 10,000 (2,000 or 4,000 worlds
    each), because n steps range less far than the motion between them. With few distinct p's that stays: 1.9 to 3.0 % with 10 of them,
    whatever n; `null_test` of `kuiper_statistic` has no such loss.
    """
    statistic = kuiper_statistic(p, y)
    return NullTest(statistic, brownian_range_exceeds(statistic))


def brownian_range_exceeds(x: float) -> float:
    """P(max - min > x) of a standard Brownian motion on [0, 1] (Feller 1951)."""
    if x <= 0:
        return 1.0
    if x < 1.5:
        # the expansion that converges for small x, of P(max - min ≤ x); the other is for large x
        odd = [(2 * k + 1) ** 2 * math.pi**2 for k in range(20)]
        return 1 - math.fsum(8 * (1 / q + 1 / x**2) * math.exp(-q / (2 * x**2)) for q in odd)
    return math.fsum((-1) ** (k - 1) * 4 * k * math.erfc(k * x / math.sqrt(2)) for k in range(1, 30))


def null_test(
    p: ArrayLike,
    y: ArrayLike,
    statistic: Callable[[Floats, NDArray[np.bool_]], float],
    simulations: int = 999,
    seed: int = 0,
) -> NullTest:
    """The parametric null test of any statistic(p, y) that is larger the worse calibrated p is: against those of y* ~ Bern(p).

    p-value (1 + #{T* ≥ T}) / (1 + simulations) (Davison & Hinkley 1997, ch. 4): never 0, and calibrated probabilities get one ≤ α in at
    most α of cases, for any n. With `bins.ece` it is the consistency test of Bröcker & Smith (2007). Costs 1 + simulations statistics.
    """
    p, y = checked(p, y)
    observed = statistic(p, y)
    rng = np.random.default_rng(seed)
    # Sums of the same terms in another order differ by less than the margin.
    as_extreme = sum(statistic(p, rng.random(len(p)) < p) >= observed - 1e-9 * abs(observed) for _ in range(simulations))
    return NullTest(observed, (1 + as_extreme) / (1 + simulations))

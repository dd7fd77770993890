"""Tests of the hypothesis that probabilities are calibrated: y_i happens with probability p_i.

A small p-value refutes calibration. A large one does not prove it; it says that n samples show no miscalibration.

Both take only groups as independent. If samples of one project fail together, tests of single samples refute calibrated probabilities far
too often. With 15 groups of very unequal size whose latent normals correlate by 0.1, a nominal 5 % was 17 % (Spiegelhalter) and 36 %
(Kuiper) for n = 600, and 31 % and 61 % for n = 2,000 (2,000 worlds each; `benchmarks/intervals.py` had those at revision `c06c32f7`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Floats
from .bins import equal_mass
from .scores import checked

_STEPS = 4096
_CHUNK = 100


@dataclass(frozen=True, slots=True)
class NullTest:
    """A test statistic, and the probability that calibrated probabilities have one at least as extreme."""

    statistic: float
    p_value: float


def spiegelhalter_by_group(p: ArrayLike, y: ArrayLike, groups: NDArray[np.integer]) -> NullTest:
    """Spiegelhalter's test where only `groups` (n,), numbered from 0, are independent: Student's t of their sums of (y - p)(1 - 2p).

    That is the Brier score against its expectation (Spiegelhalter 1986): above 0 where probabilities are too extreme, below where too near
    0.5.
    Size at a nominal 5 %: 3.6 to 5.5 % for 6 to 100 groups of very unequal size, correlated or not (2,000 worlds each).
    Raises ValueError for fewer than two groups, and where no group's sum differs from another's.
    """
    # Not at the top: the live server, which reads evidence but makes none, does not load scipy.
    from scipy.special import stdtr

    p, y = checked(p, y)
    _check_groups(groups, p)
    sums = np.bincount(groups, (y - p) * (1 - 2 * p))[np.bincount(groups) > 0]
    error = float(np.std(sums, ddof=1)) / math.sqrt(len(sums))
    if error == 0:
        raise ValueError("Spiegelhalter's test is not defined where no group differs from another")
    t = float(sums.mean()) / error
    return NullTest(t, float(2 * stdtr(len(sums) - 1, -abs(t))))


def kuiper_by_group(p: ArrayLike, y: ArrayLike, groups: NDArray[np.integer], simulations: int = 999, seed: int = 0) -> NullTest:
    """Kuiper's test where only `groups` (n,), numbered from 0, are independent, by the wild cluster bootstrap.

    The statistic is max C - min C of the cumulative differences C_k = Σ_{i ≤ k} (y_i - p_i) / √(Σ p (1 - p)) in the order of p, C_0 = 0
    among them: ECCE-R over its scale (Arrieta-Ibarra et al. 2022).
    In each simulation the residuals y - p of a whole group keep or change their sign together, which keeps how they correlate inside it
    (Cameron, Gelbach & Miller 2008, Rademacher weights with the hypothesis imposed). At most 4,096 steps of equal mass in the order of p.
    Size at a nominal 5 %: 3.7 to 5.5 % for 8 to 100 groups of very unequal size, correlated or not (2,000 worlds each, 199 simulations).
    Since all signs at once change nothing, the p-value of G groups is not below about 2 / 2^G: 5 can't refute at 5 %, and 6 of unequal size
    did not. It looks for errors of any shape, and pays for it: where log odds were 1.6 times too large it refuted 19 % of 300 worlds of 15
    groups, `spiegelhalter_by_group` 79 %.
    Raises ValueError for fewer than two groups and where every p is 0 or 1.
    """
    # Not at the top: the live server, which reads evidence but makes none, does not load scipy.
    from scipy.sparse import csr_array

    p, y = checked(p, y)
    _check_groups(groups, p)
    scale = math.sqrt(float((p * (1 - p)).sum()))
    if scale == 0:
        raise ValueError("Kuiper's test is not defined where every probability is 0 or 1")
    steps = csr_array((y - p, (equal_mass(p, _STEPS), groups)))
    observed = float(_ranges(steps.sum(axis=1)))
    rng = np.random.default_rng(seed)
    as_extreme = 0
    for start in range(0, simulations, _CHUNK):
        signs = rng.choice([-1.0, 1.0], (steps.shape[1], min(_CHUNK, simulations - start)))
        # The same terms, summed in another order, differ by less.
        as_extreme += int((_ranges(steps @ signs) >= observed - 1e-9 * abs(observed)).sum())
    return NullTest(observed / scale, (1 + as_extreme) / (1 + simulations))


def _ranges(steps: Floats) -> Floats:
    """max - min of the walks of these steps (m,) or (m, walks), with their start at 0."""
    walk = np.cumsum(steps, axis=0)
    return np.asarray(np.maximum(walk.max(axis=0), 0) - np.minimum(walk.min(axis=0), 0))


def _check_groups(groups: NDArray[np.integer], p: Floats) -> None:
    if groups.shape != p.shape or groups.dtype.kind not in "iu" or groups.min() < 0:
        raise ValueError("groups are one integer from 0 per sample")
    if groups.min() == groups.max():
        raise ValueError("a test by group needs at least two groups")

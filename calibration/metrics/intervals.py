"""95 % intervals for metrics by a bootstrap that resamples whole groups: samples of one project are alike, only projects are independent.

Brier, skill, log loss and AUC have the percentile interval (Efron & Tibshirani 1993, ch. 13), expanded for few groups as `tail` says. The
calibration error can't: resampled, it is larger every time, so that its percentile interval never covers 0 for a calibrated forecaster. It
has the centred interval of its debiased square instead, see `_CalibrationError`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..measures import Floats
from .bins import equal_mass
from .scores import auc, checked

RESAMPLES = 1000
_CHUNK = 2_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Intervals:
    """Every metric with its interval; skill and auc are None where all labels are equal.

    calibration_error: root mean square of the calibration error, debiased, over bins of equal mass.
    """

    brier: Interval
    skill: Interval | None
    log_loss: Interval
    auc: Interval | None
    calibration_error: Interval


def intervals(p: ArrayLike, y: ArrayLike, groups: NDArray[np.intp], resamples: int = RESAMPLES, seed: int = 0) -> Intervals:
    """Metrics of probabilities p (n,) for labels y (n,) with their intervals, resampling `groups` (n,), numbered from 0 without a gap.

    The same seed gives the same intervals. A resample in which all labels are equal has no skill and no AUC and is left out of those two.
    Raises ValueError for what `checked` refuses, for an infinite log loss and for fewer than two groups.
    """
    p, y = checked(p, y)
    count = int(groups.max()) + 1
    if groups.shape != p.shape or count < 2:
        raise ValueError(
            f"an interval needs at least two groups, not {count}" if groups.shape == p.shape else "one group per sample is needed"
        )
    said = np.where(y, p, 1 - p)
    if (said == 0).any():
        raise ValueError("the log loss is infinite: probability 0 was given to something that happened; bound the probabilities first")
    sums = np.column_stack([np.bincount(groups, column, count) for column in (np.ones(len(p)), y, (p - y) ** 2, -np.log(said))])
    error = _CalibrationError.of(p, y, groups, count)
    ranks = _Ranks.of(p, y, groups)
    rows: list[Floats] = []
    for weights in _weights(count, len(p), resamples, seed):
        n, positives, brier, log_loss = (weights @ sums).T
        rows.append(np.array([n, positives, brier, log_loss, ranks.auc(weights), error.debiased_square(weights)]))
    n, positives, brier, log_loss, areas, squares = np.concatenate(rows, axis=1)
    rate = positives / n
    mixed = (rate > 0) & (rate < 1)
    whole_n, whole_positives, whole_brier, whole_log_loss = sums.sum(axis=0)
    base_rate = whole_positives / whole_n
    skills = 1 - (brier / n)[mixed] / (rate * (1 - rate))[mixed]
    defined = 0 < base_rate < 1 and len(skills) > 0
    share = tail(count)
    return Intervals(
        brier=_percentile(whole_brier / whole_n, brier / n, share),
        skill=_percentile(1 - whole_brier / whole_n / (base_rate * (1 - base_rate)), skills, share) if defined else None,
        log_loss=_percentile(whole_log_loss / whole_n, log_loss / n, share),
        auc=_percentile(auc(p, y), areas[mixed], share) if defined else None,
        calibration_error=_centred_root(float(error.debiased_square(np.ones((1, count)))[0]), squares, share),
    )


def student_t(degrees: int) -> float:
    """The 97.5 % quantile of Student's t, by the expansion in 1 / degrees (Abramowitz & Stegun 26.7.5): within 1 % from 3 degrees on."""
    z, v = 1.959963984540054, degrees
    terms = (
        z,
        (z**3 + z) / (4 * v),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3),
    )
    return math.fsum(terms)


def tail(groups: int) -> float:
    """The share of resamples to leave out at each end of a 95 % percentile interval, for so many groups: 2.5 % for very many.

    Φ(-√(G / (G - 1)) · t), t with G - 1 degrees (Hesterberg 2015, the expanded percentile interval): the plain one is as narrow as one from
    1.96 and a variance divided by G. That of skill held the truth in 86 % of worlds with 5 groups, 91 % with 15 and 92 % with 30; this one
    in 91 %, 95 % and 95 %.
    """
    return 0.5 * math.erfc(math.sqrt(groups / (groups - 1)) * student_t(groups - 1) / math.sqrt(2))


def _weights(groups: int, n: int, resamples: int, seed: int) -> Iterator[Floats]:
    """How often each group was drawn, (chunk, groups) at a time, chunks small enough for (chunk, n) arrays."""
    rng = np.random.default_rng(seed)
    chunk = max(1, min(resamples, _CHUNK // n))
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        drawn = rng.integers(groups, size=(rows, groups)) + groups * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * groups).reshape(rows, groups).astype(np.float64)


def _percentile(value: float, resampled: Floats, share: float) -> Interval:
    low, high = np.quantile(resampled, [share, 1 - share])
    return Interval(float(value), float(low), float(high))


def _centred_root(square: float, resampled: Floats, share: float) -> Interval:
    """θ + (quantile - mean) of the resampled squares, then the root: the spread and the skew of the bootstrap are right, its mean is not.

    Covered the truth in 95 to 99 % of 200 worlds each of n = 164 and 400, calibrated, slightly off (0.04) and overconfident (0.095);
    with the quantiles mirrored instead (the basic bootstrap) 91 to 100 %.
    """
    low, high = square + np.quantile(resampled, [share, 1 - share]) - resampled.mean()
    return Interval(*(float(np.sqrt(max(0.0, v))) for v in (square, low, high)))


@dataclass(frozen=True, slots=True)
class _Ranks:
    """The samples in the order of p, for the AUC of weighted groups."""

    group: NDArray[np.intp]
    positive: NDArray[np.bool_]
    run_starts: NDArray[np.intp]

    @classmethod
    def of(cls, p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp]) -> _Ranks:
        order = np.argsort(p, kind="stable")
        ordered = p[order]
        return cls(groups[order], y[order], np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])))

    def auc(self, weights: Floats) -> Floats:
        """(resamples,); nan where a resample has one class. Ties count half."""
        each = weights[:, self.group]
        positives = np.add.reduceat(each * self.positive, self.run_starts, axis=1)
        negatives = np.add.reduceat(each * ~self.positive, self.run_starts, axis=1)
        below = np.cumsum(negatives, axis=1)
        pairs = positives.sum(axis=1) * below[:, -1]
        with np.errstate(invalid="ignore"):
            return np.asarray((positives * (below - negatives / 2)).sum(axis=1) / pairs)


@dataclass(frozen=True, slots=True)
class _CalibrationError:
    """Sums by group and bin, (groups, bins): `residual` of y - p and `size`, a count."""

    residual: Floats
    size: Floats

    @classmethod
    def of(cls, p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp], count: int) -> _CalibrationError:
        index = equal_mass(p)
        bins = int(index.max()) + 1
        cell = groups * bins + index
        shape = (count, bins)
        residual: Floats = np.bincount(cell, y - p, count * bins).astype(np.float64)
        size: Floats = np.bincount(cell, minlength=count * bins).astype(np.float64)
        return cls(residual.reshape(shape), size.reshape(shape))

    def debiased_square(self, weights: Floats) -> Floats:
        """Σ_b n_b / n · (δ_b² - v_b), (resamples,): δ_b the mean of y - p in bin b, v_b the variance of that mean between groups.

        Kumar, Liang & Ma (2019), eq. 4, with v_b clustered: G_b / (G_b - 1) · Σ_g (Σ_{i in g and b} (y_i - p_i - δ_b))² / n_b², which is
        their unbiased variance when each sample is its own group. A bin with samples of one group only adds nothing.
        """
        n = weights @ self.size
        groups = weights @ (self.size > 0)
        usable = groups > 1
        safe_n = np.where(usable, n, 1.0)
        delta = weights @ self.residual / safe_n
        squares = (
            weights @ self.residual**2 - 2 * delta * (weights @ (self.residual * self.size)) + delta**2 * (weights @ self.size**2)
        ) / safe_n**2
        variance = squares * groups / np.where(usable, groups - 1, 1.0)
        return np.asarray((np.where(usable, n * (delta**2 - variance), 0.0)).sum(axis=1) / n.sum(axis=1))

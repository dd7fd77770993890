"""95 % intervals of metrics, with only groups taken as independent, because samples of one project are alike.

Brier score, skill, log loss, AUC and AUGRC, and their differences between two forecasters, have Student's t interval with the standard
error of the delete-one-group jackknife. It needs no resampling and no seed, and covered best of the intervals tried (docs/intervals.md).
Percentiles of a bootstrap, also expanded and BCa ones, are too narrow where groups or positives are few.

The calibration error has the centred bootstrap interval of its debiased square (`_centred_root`). Near 0 that square is far from normal, so
the jackknife does not serve. Percentiles never cover 0 for a calibrated forecaster, because every resample has a larger error.

References: Efron & Tibshirani (1993), ch. 11.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Floats
from ..field_types import Parameter
from .bins import equal_mass, wilson
from .scores import checked

RESAMPLES = 1000
BLOCKS = 500
_CHUNK = 2_000_000
# The multiplications of a product that one thread does in less time than it takes to wake another.
_ALONE = 200_000
# In closed form: the expansion in `student_t` is good from 3 degrees of freedom on.
_T_OF_FEW_DEGREES = {1: 12.706204736432095, 2: 4.302652729911275}


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its 95 % interval."""

    value: Parameter
    low: Parameter
    high: Parameter


@dataclass(frozen=True, slots=True)
class Intervals:
    """Every metric with its interval.

    skill, auc: None if all labels are equal, or would be without one of the groups.
    calibration_error: root mean square, debiased, over bins of equal mass.
    """

    brier: Interval
    skill: Interval | None
    log_loss: Interval
    auc: Interval | None
    augrc: Interval
    calibration_error: Interval


@dataclass(frozen=True, slots=True)
class PairedIntervals:
    """Metrics of a second forecaster minus those of a first. It is better if brier or log_loss is below 0, or skill or auc above.

    skill, auc: None as in `Intervals`.
    """

    brier: Interval
    skill: Interval | None
    log_loss: Interval
    auc: Interval | None


def intervals(p: ArrayLike, y: ArrayLike, groups: NDArray[np.integer], resamples: int = RESAMPLES, seed: int = 0) -> Intervals:
    """Metrics with their intervals.

    p, y, groups (n,): probabilities, labels, and groups numbered from 0, which alone are independent. resamples, seed: for the interval of
    the calibration error.

    Raises ValueError for what `checked` refuses, an infinite log loss, fewer than two groups and a group number that no sample has.
    """
    p, y = checked(p, y)
    groups = checked_groups(groups, p)
    whole, without = _metrics(p, y, groups)
    brier, skill, log_loss, auc, augrc = zip(whole.tolist(), _half_widths(without).tolist(), strict=True)
    return Intervals(
        brier=_on_log_scale(*brier, highest=1.0),
        skill=_at_most_1(*skill) if not math.isnan(skill[1]) else None,
        log_loss=_on_log_scale(*log_loss),
        auc=_of_auc(*auc, y, groups) if not math.isnan(auc[1]) else None,
        augrc=on_logit_scale(*augrc, highest=0.5),
        calibration_error=_calibration_error(p, y, groups, resamples, seed),
    )


def paired(p: ArrayLike, q: ArrayLike, y: ArrayLike, groups: NDArray[np.integer], y_of_q: ArrayLike | None = None) -> PairedIntervals:
    """The metrics of probabilities q (n,) minus those of p (n,), for the same labels y (n,) in the same groups (n,).

    y_of_q (n,): the labels of q where they are others, as of a second model at the same places, or of another event.

    The intervals are narrower than those of p and q suggest, because a sample that is hard for one forecaster is hard for the other. It
    compares before and after calibration, or two maps on held-out samples. Raises what `intervals` raises.
    """
    p, y = checked(p, y)
    q, z = checked(q, y if y_of_q is None else y_of_q)
    if len(q) != len(p):
        raise ValueError(f"{len(p)} and {len(q)} forecasts are not pairs")
    groups = checked_groups(groups, p)
    whole, without = _metrics(p, y, groups)
    whole_of_q, without_of_q = _metrics(q, z, groups)
    half = _half_widths(without_of_q - without)
    brier, skill, log_loss, auc, _ = zip((whole_of_q - whole).tolist(), half.tolist(), strict=True)
    return PairedIntervals(
        brier=_around(*brier),
        skill=_around(*skill) if not math.isnan(skill[1]) else None,
        log_loss=_around(*log_loss),
        auc=_around(*auc) if not math.isnan(auc[1]) else None,
    )


def rate_interval(y: ArrayLike, groups: NDArray[np.integer], weights: ArrayLike | None = None) -> Interval | None:
    """The share of y (n,) that is true, with its 95 % interval. groups (n,), numbered from 0, are alone independent.

    weights (n,): above 0. A sample that was included with the probability p has the weight 1 / p (Horvitz & Thompson 1952).

    It is Wilson's interval for the effective number of samples, with the quantile of Student's t for the number of groups instead of 1.96.
    The effective number is (Σ w)² / Σ w² over the design effect, as in `dial.Rate`. If all are true, or none, nothing varies and only the
    groups count. docs/intervals.md has its coverage. None if the effective number of groups is below two.

    References: Korn & Graubard (1998). Franco et al. (2019), J. Survey Statistics and Methodology 7, find Wilson's kind to cover best.
    """
    happened = np.asarray(y, dtype=np.float64)
    w = np.ones(len(happened)) if weights is None else np.asarray(weights, dtype=np.float64)
    if not len(happened):
        return None
    w = w * w.sum() / (w @ w)
    right, size = np.bincount(groups, w * happened), np.bincount(groups, w)
    n = float(size.sum())
    rate, worth = float(right.sum()) / n, n**2 / float(size @ size)
    # Rounding may make it slightly less than 2.
    if worth < 2 - 1e-9:
        return None
    if 0 < rate < 1:
        residual = right - rate * size
        design = float(residual @ residual) * (worth / (worth - 1)) ** 2 / (n * rate * (1 - rate))
        effective = n / max(1.0, design)
    else:
        effective = worth
    return Interval(rate, *wilson(rate * effective, effective, student_t(max(1, math.floor(worth - 1 + 1e-9)))))


def student_t(degrees: int) -> float:
    """The 97.5 % quantile of Student's t within 1 %, from 3 degrees on by its expansion (Abramowitz & Stegun 26.7.5)."""
    if degrees in _T_OF_FEW_DEGREES:
        return _T_OF_FEW_DEGREES[degrees]
    z, v = 1.959963984540054, degrees
    terms = (
        z,
        (z**3 + z) / (4 * v),
        (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2),
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3),
    )
    return math.fsum(terms)


def tail(groups: int) -> float:
    """The share of resamples to leave out at each end of a 95 % percentile interval: 2.5 % for very many groups, less for few.

    It is Φ(-√(G / (G - 1)) · t), with t of G - 1 degrees. The plain percentile interval is as narrow as one from 1.96 and a variance
    divided by G.

    References: Hesterberg (2015), the expanded percentile interval.
    """
    return 0.5 * math.erfc(math.sqrt(groups / (groups - 1)) * student_t(groups - 1) / math.sqrt(2))


def checked_groups(groups: NDArray[np.integer], samples: NDArray[np.generic]) -> NDArray[np.intp]:
    """The groups (n,) of samples (n,), numbered from 0 without a gap. Raises ValueError for any others, and for fewer than two."""
    groups = np.asarray(groups)
    if groups.shape != samples.shape or groups.dtype.kind not in "iu" or groups.min() < 0:
        raise ValueError("groups are one integer from 0 per sample")
    sizes = np.bincount(groups)
    if len(sizes) < 2:
        raise ValueError("an interval needs at least two groups, not 1")
    if not sizes.all():
        raise ValueError(f"no sample is of group {sizes.argmin()} of {len(sizes)}; number the groups without a gap")
    return groups.astype(np.intp)


def _metrics(p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Brier, skill, log loss, AUC and AUGRC of all samples (5,), and of all but those of one group (5, groups). nan if undefined.

    All follow from five sums, from which the part of a group can be subtracted: n, positives, Σ (p - y)², Σ -log of the probability of what
    happened, and pairs in order. AUGRC is in closed form, as in `selective.augrc`.
    """
    count = int(groups.max()) + 1
    said = np.where(y, p, 1 - p)
    if (said == 0).any():
        raise ValueError("the log loss is infinite: probability 0 was given to something that happened; bound the probabilities first")
    of_group = np.stack([np.bincount(groups, column, count) for column in (np.ones(len(p)), y, (p - y) ** 2, -np.log(said))])
    pairs, pairs_of_group = _pairs_in_order(p, y, groups, count)
    whole = np.append(of_group.sum(axis=1), pairs)
    without = whole[:, None] - np.vstack([of_group, pairs_of_group])
    return _metrics_of(whole), _metrics_of(without)


def _metrics_of(sums: Floats) -> Floats:
    n, positives, squares, surprise, pairs = sums
    negatives = n - positives
    mixed = positives * negatives
    of_both = np.where(mixed > 0, mixed, np.nan)
    return np.stack([squares / n, 1 - squares * n / of_both, surprise / n, pairs / of_both, (mixed - pairs + negatives**2 / 2) / n**2])


def _pairs_in_order(p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp], count: int) -> tuple[float, Floats]:
    """Pairs in which the positive sample has a higher p than the negative one, equal p's counted half: all, and those of each group."""
    values, run = np.unique(p, return_inverse=True)
    won = _won(run, y)
    # Ordered by group, then p, a positive also wins against the negatives of all groups before its own.
    _, cell = np.unique(groups * len(values) + run, return_inverse=True)
    negatives = np.bincount(groups, ~y, count)
    inside = np.bincount(groups[y], _won(cell, y)[y], count) - np.bincount(groups, y, count) * (np.cumsum(negatives) - negatives)
    return float(won[y].sum()), np.asarray(np.bincount(groups, won, count) - inside, dtype=np.float64)


def _won(rank: NDArray[np.intp], y: NDArray[np.bool_]) -> Floats:
    """The number of samples of the other class with which each makes a pair in order: lower ones for a positive, higher for a negative.

    Equal ones count half. rank (n,): from 0 without a gap.
    """
    positives, negatives = np.bincount(rank, y), np.bincount(rank, ~y)
    below = np.cumsum(negatives) - negatives / 2
    above = positives.sum() - np.cumsum(positives) + positives / 2
    return np.where(y, below[rank], above[rank])


def _half_widths(without: Floats) -> Floats:
    """t times the jackknife's standard error √((G - 1) / G · Σ_g (θ_g - θ̄)²) (Efron & Tibshirani 1993, eq. 11.5); (metrics,)."""
    count = without.shape[1]
    return np.asarray(student_t(count - 1) * math.sqrt(count - 1) * without.std(axis=1))


def _around(value: float, half: float) -> Interval:
    return Interval(value, value - half, value + half)


def _at_most_1(value: float, half: float) -> Interval:
    return Interval(value, value - half, min(1.0, value + half))


def _on_log_scale(value: float, half: float, highest: float = math.inf) -> Interval:
    """Symmetric in the logarithm (delta method), for what can't be below 0."""
    factor = _factor(half / value) if value > 0 else 1.0
    return Interval(value, value / factor, min(highest, value * factor))


def on_logit_scale(value: float, half: float, highest: float = 1.0) -> Interval:
    """Symmetric in the log odds of value / highest (delta method), for what is between 0 and `highest`."""
    if not 0 < value < highest:
        return Interval(value, value, value)
    odds, factor = value / (highest - value), _factor(half * highest / (value * (highest - value)))
    return Interval(value, highest * odds / (odds + factor), highest * odds * factor / (1 + odds * factor))


def _factor(exponent: float) -> float:
    # One group of a million samples beside one of ten can overflow a float.
    return math.exp(min(exponent, 600.0))


def _of_auc(value: float, half: float, y: NDArray[np.bool_], groups: NDArray[np.intp]) -> Interval:
    """The interval of an AUC, on the logit scale.

    If all pairs are in order, or none, the jackknife sees no difference between groups. Then it comes from k pairs of a positive and a
    negative sample, no two of which share a group: all are in order with probability A^k, so an A below 0.025^(1 / k) is refuted.
    """
    if 0 < value < 1:
        return on_logit_scale(value, half)
    positive, negative = (int(np.count_nonzero(np.bincount(groups[of_class]))) for of_class in (y, ~y))
    least = 0.025 ** (1 / min(positive, negative, (int(groups.max()) + 1) // 2))
    return Interval(value, least, 1.0) if value == 1 else Interval(value, 0.0, 1 - least)


def _calibration_error(p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp], resamples: int, seed: int) -> Interval:
    """The root of the debiased square and its interval, from a bootstrap of whole groups.

    More than BLOCKS groups are dealt at random into BLOCKS blocks, which are resampled. Blocks of independent groups are independent too,
    and cost the same for any n. The value itself depends on no seed.
    """
    index, rng = equal_mass(p), np.random.default_rng(seed)
    cells = _Cells.of(y - p, index, groups)
    of_bins = cells.by_bin()
    count = int(groups.max()) + 1
    if count > BLOCKS:
        cells, count = _Cells.of(y - p, index, (rng.permutation(count) % BLOCKS)[groups]), BLOCKS
    of_groups = cells.by_group_and_bin()
    flat = of_groups.reshape(count, -1)
    resampled = [_debiased_square(_product(weights, flat).reshape(-1, *of_bins.shape)) for weights in _weights(count, resamples, rng)]
    return _centred_root(float(_debiased_square(of_bins)), np.concatenate(resampled), tail(count))


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of groups × bins that hold samples. sums (6, cells): size s, residual r = Σ (y - p), r², r s, s² and 1 of each."""

    group: NDArray[np.intp]
    bin: NDArray[np.intp]
    sums: Floats

    @classmethod
    def of(cls, residual: Floats, bins: NDArray[np.intp], groups: NDArray[np.intp]) -> _Cells:
        width = int(bins.max()) + 1
        cell = groups * width + bins
        sizes = np.bincount(cell)
        inhabited = np.flatnonzero(sizes)
        s, r = sizes[inhabited].astype(np.float64), np.bincount(cell, residual)[inhabited]
        return cls(inhabited // width, inhabited % width, np.stack([s, r, r * r, r * s, s * s, np.ones(len(s))]))

    def by_bin(self) -> Floats:
        """(6, bins)."""
        return np.stack([np.bincount(self.bin, each) for each in self.sums])

    def by_group_and_bin(self) -> Floats:
        """(groups, 6, bins)."""
        table = np.zeros((int(self.group.max()) + 1, 6, int(self.bin.max()) + 1))
        table[self.group, :, self.bin] = self.sums.T
        return table


def _debiased_square(of_bins: Floats) -> Floats:
    """Σ_b n_b / n · (δ_b² - v_b) of sums (…, 6, bins) as in `_Cells`. δ_b is the mean of y - p in bin b, v_b its variance between groups.

    v_b is G_b / (G_b - 1) · Σ_g (Σ_{i in g and b} (y_i - p_i - δ_b))² / n_b², the unbiased variance of the paper if each sample is its own
    group. A bin with samples of only one group adds nothing.

    References: Kumar, Liang & Ma (2019), eq. 4.
    """
    n, residual, squares, products, sizes, groups = np.moveaxis(of_bins, -2, 0)
    usable = groups > 1
    safe_n = np.where(usable, n, 1.0)
    delta = residual / safe_n
    variance = (squares - 2 * delta * products + delta**2 * sizes) / safe_n**2 * groups / np.where(usable, groups - 1, 1.0)
    return np.asarray(np.where(usable, n * (delta**2 - variance), 0.0).sum(axis=-1) / n.sum(axis=-1))


def _weights(groups: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """How often each group was drawn, in chunks (resamples, groups)."""
    chunk = max(1, _CHUNK // groups)
    for start in range(0, resamples, chunk):
        rows = min(chunk, resamples - start)
        drawn = rng.integers(groups, size=(rows, groups)) + groups * np.arange(rows)[:, None]
        yield np.bincount(drawn.ravel(), minlength=rows * groups).reshape(rows, groups).astype(np.float64)


def _product(weights: Floats, flat: Floats) -> Floats:
    """weights @ flat, by rows so few that BLAS does not share them out among threads: on busy processors these mostly wait."""
    rows = max(1, _ALONE // flat.size)
    return np.concatenate([weights[start : start + rows] @ flat for start in range(0, len(weights), rows)])


def _centred_root(square: float, resampled: Floats, share: float) -> Interval:
    """The root of θ + (quantile - mean) of the resampled squares. The spread and skew of the bootstrap are right, its mean is not."""
    low, high = square + np.quantile(resampled, [share, 1 - share]) - resampled.mean()
    return Interval(*(float(np.sqrt(max(0.0, v))) for v in (square, low, high)))

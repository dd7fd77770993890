"""Statistics of samples that are alike within groups, each with its 95 % interval by the delete-one-group jackknife.

Each is a function of sums to which every group adds its part. So a group is left out by subtracting its part, and all groups at once.
Groups, such as projects, are numbered from 0 and are alone independent. Places, such as the gaps that several texts were drawn for, and
strata are any integers; a place lies within a group.

A statistic is None where it is undefined, or would be without one of the groups.

References: Efron & Tibshirani (1993), ch. 11.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Floats
from .intervals import Interval, checked_groups, on_logit_scale, rate_interval, student_t
from .scores import checked

# Of sums (k, …): the statistic (…), nan where it is undefined.
Statistic = Callable[[Floats], Floats]
Groups = NDArray[np.integer]


def jackknife(sums: Floats, statistic: Statistic) -> Interval | None:
    """The statistic of all groups' sums (k, groups) with Student's t interval. None if it is undefined, also without one of the groups."""
    whole, count = sums.sum(axis=1), sums.shape[1]
    if count < 2:
        return None
    with np.errstate(all="ignore"):
        value = float(statistic(whole[:, None])[0])
        without = statistic(whole[:, None] - sums)
    if not (math.isfinite(value) and np.isfinite(without).all()):
        return None
    half = student_t(count - 1) * math.sqrt(count - 1) * float(without.std())
    return Interval(value, value - half, value + half)


def mean(values: ArrayLike, groups: Groups) -> Interval | None:
    """The mean of values (n,), such as p - y: how far probabilities are off on average."""
    v = np.asarray(values, dtype=np.float64)
    return jackknife(_by_group(groups, np.ones(len(v)), v), lambda sums: sums[1] / sums[0])


def mean_share(values: ArrayLike, groups: Groups) -> Interval | None:
    """The mean of shares (n,), each from 0 to 1, with its interval on the logit scale. None of fewer than two groups.

    Where each is 0 or 1 it is the rate of labels, and has `rate_interval`'s; also where no group differs from another, as of few thirds.
    """
    v = np.asarray(values, dtype=np.float64)
    if np.max(groups, initial=0) == 0:
        return None
    found = None if np.isin(v, (0.0, 1.0)).all() else mean(v, groups)
    if found is None or found.high - found.value < 1e-12:
        return rate_interval(v, groups)
    return on_logit_scale(found.value, found.high - found.value)


def difference(values: ArrayLike, first: ArrayLike, groups: Groups) -> Interval | None:
    """The mean of the values (n,) of a first kind minus that of the others. first (n,), bool: which are. None of fewer than two groups."""
    v, x = np.asarray(values, dtype=np.float64), np.asarray(first, dtype=np.bool_)
    if np.max(groups, initial=0) == 0:
        return None
    return jackknife(_by_group(groups, x, x * v, ~x, ~x * v), lambda s: s[1] / s[0] - s[3] / s[2])


def skill(p: ArrayLike, y: ArrayLike, groups: Groups) -> Interval | None:
    """The skill score of probabilities p (n,), of which any may be 0 or 1, for labels y (n,)."""
    p, y = checked(p, y)
    return jackknife(_by_group(groups, np.ones(len(p)), y, (p - y) ** 2), lambda s: _skill(s[0], s[1], s[2]))


def skill_gain(p: ArrayLike, y: ArrayLike, q: ArrayLike, z: ArrayLike, groups: Groups) -> Interval | None:
    """The skill score of q (n,) for labels z (n,) minus that of p (n,) for y (n,), on the same samples.

    Unlike `intervals.paired` it compares two events, and takes a probability of 0 for what happened.
    """
    p, y = checked(p, y)
    q, z = checked(q, z)
    sums = _by_group(groups, np.ones(len(p)), y, (p - y) ** 2, z, (q - z) ** 2)
    return jackknife(sums, lambda s: _skill(s[0], s[3], s[4]) - _skill(s[0], s[1], s[2]))


def within_auc(p: ArrayLike, y: ArrayLike, places: NDArray[np.integer], groups: Groups) -> Interval | None:
    """The mean, over places that have both labels, of the AUC within the place, ties counted half.

    It says whether p tells right from wrong at one place, which the AUC of all samples mixes with telling easy places from hard ones. Where
    p is the same throughout each place it is exactly 1/2.
    """
    p, y = checked(p, y)
    group = checked_groups(groups, p)
    _, place = np.unique(np.stack([group, np.asarray(places)]), axis=1, return_inverse=True)
    place = place.ravel()
    positives, negatives = np.bincount(place, y), np.bincount(place, ~y)
    _, run = np.unique(p, return_inverse=True)
    cells, cell = np.unique(place * (run.max() + 1) + run, return_inverse=True)
    of_cell = cells // (run.max() + 1)
    up, down = np.bincount(cell, y), np.bincount(cell, ~y)
    before = np.cumsum(negatives) - negatives
    won = np.bincount(of_cell, up * (np.cumsum(down) - down / 2 - before[of_cell]))
    both = positives * negatives > 0
    group_of = np.zeros(len(both), dtype=np.intp)
    group_of[place] = group
    auc = won[both] / (positives * negatives)[both]
    count = int(group.max()) + 1
    sums: Floats = np.stack([np.bincount(group_of[both], part, count) for part in (np.ones(len(auc)), auc)]).astype(np.float64)
    sums = sums[:, sums[0] > 0]
    found = jackknife(sums, lambda s: s[1] / s[0])
    return None if found is None else _of_share(found, sums.shape[1])


def log_odds_ratio(y: ArrayLike, exposed: ArrayLike, strata: NDArray[np.integer], groups: Groups) -> Interval | None:
    """The log odds ratio of y (n,) on exposed (n,), both bool, within strata (n,): above 0 if y is likelier where it is exposed.

    References: Mantel & Haenszel (1959).
    """
    happened, x = np.asarray(y, dtype=np.bool_), np.asarray(exposed, dtype=np.bool_)
    group = checked_groups(groups, happened)
    _, stratum = np.unique(strata, return_inverse=True)
    width, count = int(stratum.max()) + 1, int(group.max()) + 1
    cell = (stratum * 4 + 2 * happened + x) * count + group
    sums = np.bincount(cell, minlength=width * 4 * count).reshape(width * 4, count).astype(np.float64)

    def statistic(s: Floats) -> Floats:
        neither, only_x, only_y, both = np.moveaxis(s.reshape(width, 4, -1), 1, 0)
        n = np.maximum(neither + only_x + only_y + both, 1)
        return np.asarray(np.log((both * neither / n).sum(axis=0)) - np.log((only_x * only_y / n).sum(axis=0)))

    return jackknife(sums, statistic)


def intraclass_correlation(values: ArrayLike, places: NDArray[np.integer], groups: Groups) -> Interval | None:
    """The share of the variance of values (n,) that lies between places, by one-way analysis of variance, ICC(1).

    References: Shrout & Fleiss (1979); Donner (1986) for places of unequal size.
    """
    v = np.asarray(values, dtype=np.float64)
    v = v - v.mean()
    group = checked_groups(groups, v)
    _, place = np.unique(np.stack([group, np.asarray(places)]), axis=1, return_inverse=True)
    size, total = np.bincount(place.ravel()), np.bincount(place.ravel(), v)
    group_of = np.zeros(len(size), dtype=np.intp)
    group_of[place.ravel()] = group
    of_places = _by_group(group_of, np.ones(len(size)), size, size**2, total, total**2 / size)
    sums = np.vstack([of_places, _by_group(group, v**2)])

    def statistic(s: Floats) -> Floats:
        count, n, squared_sizes, sum_of_all, between, squares = s
        within = (squares - between) / (n - count)
        among = (between - sum_of_all**2 / n) / (count - 1)
        typical = (n - squared_sizes / n) / (count - 1)
        return np.asarray((among - within) / (among + (typical - 1) * within))

    found = jackknife(sums, statistic)
    return None if found is None else Interval(found.value, max(-1.0, found.low), min(1.0, found.high))


def correlation(x: ArrayLike, y: ArrayLike, groups: Groups) -> Interval | None:
    """Pearson's r of x (n,) and y (n,), its interval symmetric in Fisher's z. None where all points lie on a line, too."""
    a, b = (np.asarray(values, dtype=np.float64) for values in (x, y))
    a, b = a - a.mean(), b - b.mean()

    def statistic(s: Floats) -> Floats:
        n, sa, sb, aa, bb, ab = s
        return np.asarray(np.arctanh((n * ab - sa * sb) / np.sqrt((n * aa - sa**2) * (n * bb - sb**2))))

    found = jackknife(_by_group(groups, np.ones(len(a)), a, b, a * a, b * b, a * b), statistic)
    return None if found is None else Interval(*map(math.tanh, (found.value, found.low, found.high)))


def _by_group(groups: Groups, *columns: ArrayLike) -> Floats:
    """The sums (k, groups) of k columns (n,)."""
    group = checked_groups(groups, np.asarray(columns[0]))
    return np.stack([np.bincount(group, np.asarray(column, dtype=np.float64)) for column in columns])


def _skill(n: Floats, positives: Floats, squares: Floats) -> Floats:
    reference = positives * (n - positives) / n
    return np.asarray(1 - squares / np.where(reference > 0, reference, np.nan))


def _of_share(found: Interval, groups: int) -> Interval:
    """The interval on the logit scale. Where all groups say 1, or all 0, nothing varies: a share below 0.025^(1 / groups) is refuted."""
    if 0 < found.value < 1:
        return on_logit_scale(found.value, found.high - found.value)
    least = 0.025 ** (1 / groups)
    return Interval(1.0, least, 1.0) if found.value == 1 else Interval(0.0, 0.0, 1 - least)

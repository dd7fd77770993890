"""The dial: a threshold on the confidence for each target, "show me a suggestion only if it is at least this likely to be right".

What a row promises: of the suggestions with confidence ≥ threshold, a share of at least target - tolerance is right. The threshold is
chosen on held-out samples. The promise may fail for at most a share `risk` of all draws of projects and samples that are exchangeable with
these, for each target by itself. It is about all suggestions that are shown together, over all such projects, not about one suggestion, one
project or projects of another kind. So the threshold usually lies below the target: more likely suggestions make up for less likely ones.
With `each` the threshold is at least the target, and what is above it is tested to be right as often as that.

The method is Learn then Test along a fixed sequence, in the notation of its paper. Precision is a ratio and need not grow with the
threshold. So at t = 1.00, 0.99, … 0.00 the hypothesis E[Σ (y - (x - ε)) 1{p ≥ t}] ≤ 0 is tested, the sum being over a group. Each is tested
at the level at which the one before was refuted, until one is not refuted. The threshold is the lowest refuted t.

There are two starting points (the fallback procedure). One has 3/4 of δ, at the strictest t that shows MIN_SHOWN samples; with fewer, one
wrong sample would end the sequence. The other has 1/4, at the strictest t that shows a fifth of all samples, so that a few confident
mistakes do not hide everything. If the first sequence reaches the second, the levels add up to δ. Neither the order nor the starting points
depend on y. The steps are fixed, so ties in p need no care.

The p-value is that of a binomial test with the effective number of samples, because samples of a group are alike, and with Student's t,
because that number is an estimate. For groups this is approximate: docs/dial.md has measured error rates.

References: Angelopoulos et al. (2022), arXiv 2110.01052. Wiens (2003). Korn & Graubard (1998), Survey Methodology 24.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Floats
from ..field_types import Count, Share
from ..metrics.intervals import Interval
from ..metrics.scores import checked

RISK = 0.1
MIN_SHOWN = 40
TARGETS = tuple(k / 20 for k in range(1, 20))

LEVELS = np.arange(101) / 100
_FIRST_PART, _SECOND_BEGINNING = 0.75, 0.2


@dataclass(frozen=True, slots=True)
class DialRow:
    """With a probability of 1 - risk, at least target - tolerance of the suggestions with confidence ≥ threshold are right.

    threshold: None if the evidence is too weak for this target. Nothing is shown then.
    shown: held-out samples that are shown. share: of all of them.
    precision: the share of the shown that is right.

    The 95 % intervals take only groups as independent. They do not account for the choice of the threshold on the same samples.
    """

    target: float
    tolerance: float
    risk: float
    threshold: Share | None
    shown: Count
    share: Interval
    precision: Interval | None


def dial(
    p: ArrayLike,
    y: ArrayLike,
    groups: NDArray[np.intp],
    *,
    targets: Sequence[float] = TARGETS,
    tolerance: float = 0.0,
    risk: float = RISK,
    each: bool = False,
) -> tuple[DialRow, ...]:
    """One row for each target.

    Parameters:
        p, y, groups (n,): held-out probabilities, labels, and groups numbered from 0.
        targets: x of the method. tolerance: ε. risk: δ.
        each: no threshold lies below its target, so every confidence that is shown is at least the target.

    A higher target never has a lower threshold or a larger share, because all targets go through the same sequence, and what is refuted for
    one is refuted for every lower one.

    Raises ValueError for what `checked` refuses, for groups that are not n numbers from 0, a target or risk outside (0, 1) and a tolerance
    outside [0, 1).
    """
    p, y = checked(p, y)
    if groups.shape != p.shape or groups.min() < 0:
        raise ValueError("one group per sample is needed, numbered from 0")
    if not all(0 < value < 1 for value in (*targets, risk)) or not 0 <= tolerance < 1:
        raise ValueError("targets and risk are between 0 and 1, tolerance from 0 to below 1")
    sums = _Sums.of(p, y, groups)
    precision = Rate.of(sums.right, sums.shown, sums.right_right, sums.right_shown, sums.shown_shown)
    share = Rate.of(sums.shown, sums.shown[0], sums.shown_shown, sums.shown_all, sums.shown_shown[0])
    p_values = precision.p_value(np.maximum(0.0, np.array(targets) - tolerance))
    if each:
        p_values[np.array(targets)[:, None] > LEVELS] = 1.0
    rows = []
    for target, level in zip(targets, _lowest(p_values, sums.shown, risk), strict=True):
        if level is None:
            rows.append(DialRow(target, tolerance, risk, None, 0, Interval(0.0, 0.0, 0.0), None))
        else:
            shown = int(sums.shown[level])
            rows.append(DialRow(target, tolerance, risk, float(LEVELS[level]), shown, share.interval(level), precision.interval(level)))
    return tuple(rows)


def _lowest(p_values: Floats, shown: Floats, risk: float) -> list[int | None]:
    """For each target the lowest refuted level, from p-values (targets, levels). None if there is none.

    Among levels that show the same samples it is the highest, because no confidence was seen below it.
    """
    added = np.zeros(len(shown))
    for part, least in ((_FIRST_PART, 0.0), (1 - _FIRST_PART, _SECOND_BEGINNING * shown[0])):
        if len(enough := np.flatnonzero(shown >= max(least, MIN_SHOWN))):
            added[enough[-1]] += part * risk
    carried, lowest = np.zeros(len(p_values)), np.full(len(p_values), -1)
    for level in reversed(range(len(shown))):
        carried += added[level]
        refuted = (p_values[:, level] <= carried) & (carried > 0)
        lowest[refuted] = level
        carried[~refuted] = 0
    return [int(np.flatnonzero(shown == shown[level])[-1]) if level >= 0 else None for level in lowest]


@dataclass(frozen=True, slots=True)
class _Sums:
    """Sums over groups at each level t, all (levels,).

    shown: Σ N, right: Σ S, shown_shown: Σ N², right_shown: Σ S N, right_right: Σ S², shown_all: Σ N A. N, S and A are the shown, the right
    among the shown, and all samples of a group.
    """

    shown: Floats
    right: Floats
    shown_shown: Floats
    right_shown: Floats
    right_right: Floats
    shown_all: Floats

    @classmethod
    def of(cls, p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp]) -> _Sums:
        """N and S of a group change only at levels where it has samples, so no table of groups by levels is needed."""
        levels = len(LEVELS)
        below_top = levels - np.searchsorted(LEVELS, p, side="right")
        cells, index = np.unique(groups * levels + below_top, return_inverse=True)
        group, step = np.divmod(cells, levels)
        begins = np.flatnonzero(np.diff(group, prepend=-1))
        sizes = np.diff(begins, append=len(cells))

        def before_and_after(count: Floats) -> tuple[Floats, Floats]:
            total = np.cumsum(count)
            after = total - np.repeat((total - count)[begins], sizes)
            return after - count, after

        def at_each_level(change: Floats) -> Floats:
            return np.cumsum(np.bincount(step, change, levels))[::-1].astype(np.float64)

        shown, right = np.bincount(index).astype(np.float64), np.bincount(index, y).astype(np.float64)
        (n, n_after), (s, s_after) = before_and_after(shown), before_and_after(right)
        everything = np.repeat(n_after[begins + sizes - 1], sizes)
        changes = (shown, right, n_after**2 - n**2, s_after * n_after - s * n, s_after**2 - s**2, shown * everything)
        return cls(*map(at_each_level, changes))


@dataclass(frozen=True, slots=True)
class Rate:
    """A ratio of sums over groups at each level, all (levels,).

    effective: the number of independent samples that it is worth: the samples over the design effect. That is the variance of the ratio
        between groups over that of as many independent samples, at least 1. It is 1 if the rate is 0 or 1, where nothing varies.
    degrees: of freedom, (Σ b)² / Σ b² - 1: the number of groups less one if they are equally large, 0 for a single group.
    """

    rate: Floats
    effective: Floats
    degrees: Floats

    @classmethod
    def of(cls, a: Floats, b: Floats, aa: Floats, ab: Floats, bb: Floats) -> Rate:
        """The rate Σ a / Σ b, from the sums over groups of a, b, a², a b and b², which broadcast to (levels,)."""
        a, b, aa, ab, bb = np.broadcast_arrays(a, b, aa, ab, bb)
        with np.errstate(divide="ignore", invalid="ignore"):
            rate = a / b
            groups = b**2 / bb
            # Each residual a - rate b over 1 - 1 / groups: the jackknife variance if groups are equally large.
            design = (aa - 2 * rate * ab + rate**2 * bb) * (groups / (groups - 1)) ** 2 / (b * rate * (1 - rate))
            known = (b > 0) & (groups > 1)
        design = np.where(known & (rate > 0) & (rate < 1), np.maximum(1.0, design), 1.0)
        return cls(np.where(b > 0, rate, 0.0), b / design, np.where(known, groups - 1, 0.0))

    def p_value(self, nulls: Floats) -> Floats:
        """p-values (k, levels) of the hypotheses that the rate is at most each of `nulls` (k,)."""
        # Not at the top: the live server reads dials but makes none, and does not load scipy.
        from scipy.special import betainc, ndtri, stdtr

        usable = (self.rate > 0) & (self.degrees > 0)
        rate, degrees = np.where(usable, self.rate, 0.5), np.where(usable, self.degrees, 1.0)
        binomial = betainc(self.effective * rate, self.effective * (1 - rate) + 1, nulls[:, None])
        return np.asarray(np.where(usable, stdtr(degrees, ndtri(binomial)), 1.0))

    def interval(self, level: int) -> Interval:
        """Clopper & Pearson's 95 % interval for the effective number times (1.96 / t)² (Korn & Graubard 1998)."""
        from scipy.special import betaincinv, ndtri, stdtrit

        rate, effective = float(self.rate[level]), float(self.effective[level])
        worth = effective * (ndtri(0.975) / stdtrit(float(self.degrees[level]), 0.975)) ** 2
        low = betaincinv(worth * rate, worth * (1 - rate) + 1, 0.025) if rate > 0 else 0.0
        high = betaincinv(worth * rate + 1, worth * (1 - rate), 0.975) if rate < 1 else 1.0
        return Interval(rate, float(low), float(high))

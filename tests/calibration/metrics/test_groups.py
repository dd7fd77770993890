from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from forecasts import Forecast, forecasts, perfect
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from validation_worlds import most

from assay.calibration.metrics.groups import (
    correlation,
    difference,
    intraclass_correlation,
    log_odds_ratio,
    mean_share,
    skill_gain,
    within_auc,
)
from assay.calibration.metrics.intervals import Interval, paired, rate_interval
from assay.calibration.metrics.scores import auc

GROUPS = 12


@given(forecasts, st.integers(2, 9))
def test_the_auc_within_places_is_the_mean_of_that_of_each(forecast: Forecast, count: int) -> None:
    p, y = np.tile(forecast[0], 3), np.tile(forecast[1], 3)
    rng = np.random.default_rng(count)
    places, groups = rng.integers(0, count, len(p)), np.repeat(np.arange(3), len(p) // 3)
    of_each = [
        auc(p[here], y[here])
        for group in range(3)
        for place in range(count)
        if 0 < y[here := (places == place) & (groups == group)].sum() < here.sum()
    ]
    found = within_auc(p, y, places, groups)
    if found is not None:
        assert found.value == pytest.approx(np.mean(of_each))
    else:
        assert len(of_each) < 3


@given(st.integers(0, 1000))
def test_what_is_constant_within_places_tells_nothing_there_whatever_it_tells_of_all(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = rng.integers(0, 30, 300)
    p = rng.random(30)[places]
    found = within_auc(p, rng.random(300) < p, places, places % GROUPS)
    assert (found.value, found.low, found.high) == (0.5, 0.5, 0.5)


def test_a_share_of_one_is_no_certainty() -> None:
    y = np.tile([True, False], 20)
    found = within_auc(y.astype(float), y, np.arange(40) // 2, np.arange(40) // 4)
    assert found == Interval(1.0, pytest.approx(0.025**0.1), 1.0)
    reversed_ = within_auc((~y).astype(float), y, np.arange(40) // 2, np.arange(40) // 4)
    assert reversed_ == Interval(0.0, 0.0, pytest.approx(1 - 0.025**0.1))


def test_the_log_odds_ratio_within_strata_is_not_that_of_what_makes_them() -> None:
    rng = np.random.default_rng(0)
    strata = rng.integers(0, 4, 8000)
    base = np.array([0.1, 0.3, 0.6, 0.9])[strata]
    y, exposed = rng.random(8000) < base, rng.random(8000) < base
    groups = rng.integers(0, GROUPS, 8000)
    within, mixed = log_odds_ratio(y, exposed, strata, groups), log_odds_ratio(y, exposed, 0 * strata, groups)
    assert within.low < 0 < within.high
    assert mixed.low > 1


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_the_intraclass_correlation_is_the_share_of_the_variance_between_places(share: float) -> None:
    rng = np.random.default_rng(1)
    places = rng.integers(0, 900, 6000)
    values = 100 + math.sqrt(share) * rng.normal(size=900)[places] + math.sqrt(1 - share) * rng.normal(size=6000)
    found = intraclass_correlation(values, places, places % 30)
    assert found.low - 0.01 <= share <= found.high + 0.01
    assert found.value == pytest.approx(share, abs=0.03)


def test_the_gain_of_skill_is_that_of_paired_intervals_where_those_are_defined() -> None:
    p, y = perfect(900, 0)
    q, groups = np.clip(p**2, 0.001, 0.999), np.arange(900) % GROUPS
    expected = paired(p, q, y, groups).skill
    found = skill_gain(p, y, q, y, groups)
    assert (found.value, found.low, found.high) == pytest.approx((expected.value, expected.low, expected.high))


Drawn = tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]
# Of x, y, the groups' offsets, places and groups: a statistic, and its truth where x has nothing to do with y.
OF_NOTHING: dict[str, tuple[Callable[[Drawn], Interval | None], float]] = {
    "within_auc": (lambda d: within_auc(1 / (1 + np.exp(-d[0] - d[2])), d[1], d[3], d[4]), 0.5),
    "log_odds_ratio": (lambda d: log_odds_ratio(d[1], d[0] > 0, d[4], d[4]), 0.0),
    "correlation": (lambda d: correlation(d[0], d[1], d[4]), 0.0),
    "intraclass_correlation": (lambda d: intraclass_correlation(d[0], d[3], d[4]), 0.0),
}


@pytest.mark.parametrize("name", OF_NOTHING)
def test_an_interval_misses_the_truth_in_about_one_world_of_twenty(name: str) -> None:
    statistic, truth = OF_NOTHING[name]
    rng, missed = np.random.default_rng(0), 0
    groups = np.repeat(np.arange(20), rng.integers(10, 60, 20))
    n = len(groups)
    for _ in range(200):
        x, offset = rng.normal(size=n), rng.normal(size=20)[groups]
        found = statistic((x, rng.random(n) < 1 / (1 + np.exp(-offset)), offset, np.arange(n) // 5, groups))
        missed += not found.low <= truth <= found.high
    assert missed <= most(200, 0.06)


def test_shares_of_items_say_more_than_as_many_labels_and_labels_have_the_interval_of_rates() -> None:
    rng = np.random.default_rng(0)
    groups, shares = np.arange(200), rng.binomial(3, 0.5, 200) / 3
    found, as_labels, rate = mean_share(shares, groups), rate_interval(shares, groups), mean_share(shares > 0.5, groups)
    assert found.high - found.low < 0.7 * (as_labels.high - as_labels.low)
    assert rate == rate_interval(shares > 0.5, groups)
    assert mean_share(shares, np.zeros(200, dtype=np.intp)) is None


def test_a_difference_of_means_is_what_the_kinds_were_drawn_with_and_needs_both_in_more_than_one_group() -> None:
    rng = np.random.default_rng(0)
    groups, first = np.arange(400) % 20, rng.random(400) < 0.4
    values = rng.normal(size=400) + 2 * first
    found, turned = difference(values, first, groups), difference(values, ~first, groups)
    assert found.value == pytest.approx(values[first].mean() - values[~first].mean())
    assert found.low < 2 < found.high
    assert (turned.value, turned.low) == pytest.approx((-found.value, -found.high))
    assert difference(values, groups == 3, groups) is None, "without that group there is no first kind"
    assert difference(values, first, np.zeros(400, dtype=np.intp)) is None
    assert difference([], [], np.zeros(0, dtype=np.intp)) is None

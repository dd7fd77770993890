from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from forecasts import Forecast, forecasts, overconfident, perfect
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtri  # type: ignore[import-untyped]
from scipy.stats import ttest_1samp  # type: ignore[import-untyped]

from assay.calibration.metrics.bins import ece
from assay.calibration.metrics.null_tests import (
    NullTest,
    brownian_range_exceeds,
    kuiper,
    kuiper_by_group,
    kuiper_statistic,
    null_test,
    spiegelhalter,
    spiegelhalter_by_group,
)

Groups = NDArray[np.intp]


def clustered(n: int, groups: int, seed: int, correlation: float = 0.1, temper: float = 1.0) -> tuple[*Forecast, Groups]:
    """Each event happens as often as is said (for temper 1), but those of a group together: their latent normals are correlated.

    Groups are of very unequal size, and differ in what is said of them.
    """
    rng = np.random.default_rng(seed)
    weight = rng.lognormal(0, 1, groups)
    group = np.concatenate([np.arange(groups), rng.choice(groups, n - groups, p=weight / weight.sum())])
    log_odds = rng.normal(-0.4, 1, n) + rng.normal(0, 0.5, groups)[group]
    latent = np.sqrt(correlation) * rng.normal(size=groups)[group] + np.sqrt(1 - correlation) * rng.normal(size=n)
    return 1 / (1 + np.exp(-temper * log_odds)), latent < ndtri(1 / (1 + np.exp(-log_odds))), group


def share_refuted(test: Callable[[int], NullTest], worlds: int) -> float:
    return float(np.mean([test(seed).p_value <= 0.05 for seed in range(worlds)]))


@given(forecasts)
def test_spiegelhalters_z_is_the_brier_score_against_its_expectation(forecast: Forecast) -> None:
    p, y = forecast
    p = p * 0.4 + 0.05
    z = spiegelhalter(p, y).statistic
    surplus = np.mean((y - p) ** 2) - np.mean(p * (1 - p))
    assert z * np.sqrt((p * (1 - p) * (1 - 2 * p) ** 2).sum()) / len(p) == pytest.approx(surplus, abs=1e-12)


def test_spiegelhalters_test_is_two_sided() -> None:
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.02, 0.98, 2000)
    y = rng.random(2000) < truth
    timid = 0.5 + 0.5 * (truth - 0.5)
    bold = np.clip(0.5 + 1.6 * (truth - 0.5), 0.001, 0.999)
    assert spiegelhalter(timid, y).statistic < -3
    assert spiegelhalter(bold, y).statistic > 3
    assert spiegelhalter(timid, y).p_value < 0.001
    assert spiegelhalter(bold, y).p_value < 0.001
    assert spiegelhalter(truth, y).p_value > 0.05


@given(forecasts, st.integers(2, 6))
def test_spiegelhalters_test_by_group_is_students_t_of_the_groups_sums(forecast: Forecast, groups: int) -> None:
    p, y = forecast
    group = np.arange(len(p)) % groups * 2
    sums = np.array([((y - p) * (1 - 2 * p))[group == g].sum() for g in set(group.tolist())])
    if len(sums) > 1 and sums.std() > 1e-9:
        found, expected = spiegelhalter_by_group(p, y, group), ttest_1samp(sums, 0)
        assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))


@given(forecasts, st.integers(0, 2**32))
def test_kuipers_statistic_is_the_range_of_the_walk_whatever_the_order_of_the_samples(forecast: Forecast, seed: int) -> None:
    p, y = forecast
    scale = np.sqrt((p * (1 - p)).sum())
    if scale > 0:
        walk = [0.0] + [float((y - p)[p <= value].sum()) for value in np.unique(p)]
        assert kuiper_statistic(p, y) * scale == pytest.approx(max(walk) - min(walk), abs=1e-9)
        order = np.random.default_rng(seed).permutation(len(p))
        assert kuiper_statistic(p[order], y[order]) == kuiper_statistic(p, y)


def test_the_range_of_a_brownian_motion_has_the_published_distribution() -> None:
    """P(≤ 1) from Feller's series; mean 2 √(2 / π)."""
    assert 1 - brownian_range_exceeds(1) == pytest.approx(0.06336, abs=1e-5)
    x = np.linspace(0, 12, 24_001)
    assert np.trapezoid([brownian_range_exceeds(v) for v in x], x) == pytest.approx(2 * np.sqrt(2 / np.pi), abs=1e-6)
    assert brownian_range_exceeds(1.5 - 1e-12) == pytest.approx(brownian_range_exceeds(1.5), abs=1e-9)
    assert (np.diff([brownian_range_exceeds(v) for v in x]) <= 1e-12).all()


def test_kuipers_p_value_is_the_simulated_one() -> None:
    p, y = perfect(4000, 7)
    asymptotic, simulated = kuiper(p, y), null_test(p, y, kuiper_statistic, simulations=1500)
    assert asymptotic.statistic == simulated.statistic
    assert asymptotic.p_value == pytest.approx(simulated.p_value, abs=0.05)


def test_kuipers_test_by_group_counts_the_changes_of_sign_of_whole_groups() -> None:
    p, y, group = clustered(60, 6, 4)
    observed, scale = kuiper_statistic(p, y), np.sqrt((p * (1 - p)).sum())
    order = np.argsort(p)
    ranges = []
    for signs in itertools.product([-1, 1], repeat=6):
        walk = np.concatenate([[0], np.cumsum(((y - p) * np.array(signs)[group])[order])])
        ranges.append((walk.max() - walk.min()) / scale)
    exact = np.mean(np.array(ranges) >= observed - 1e-9)
    assert 0.1 < exact < 0.9
    assert kuiper_by_group(p, y, group, simulations=4999).p_value == pytest.approx(exact, abs=0.025)


@pytest.mark.slow
@pytest.mark.parametrize("test", [spiegelhalter, kuiper, lambda p, y: null_test(p, y, ece, simulations=99)])
def test_a_test_refutes_5_percent_of_calibrated_worlds_and_most_overconfident_ones(test: Callable[..., NullTest]) -> None:
    assert share_refuted(lambda seed: test(*perfect(300, seed)), 300) == pytest.approx(0.05, abs=0.033)
    assert share_refuted(lambda seed: test(*overconfident(600, seed)), 50) > 0.8


@pytest.mark.parametrize("by_group", [spiegelhalter_by_group, lambda *world: kuiper_by_group(*world, simulations=99)])
def test_a_test_by_group_refutes_5_percent_of_calibrated_worlds_whose_groups_fail_together(by_group: Callable[..., NullTest]) -> None:
    assert share_refuted(lambda seed: by_group(*clustered(600, 15, seed)), 300) == pytest.approx(0.05, abs=0.035)
    assert share_refuted(lambda seed: by_group(*clustered(1500, 30, seed, temper=2.5)), 40) > 0.5


def test_a_test_of_single_samples_refutes_a_third_of_calibrated_worlds_whose_groups_fail_together() -> None:
    assert share_refuted(lambda seed: kuiper(*clustered(600, 15, seed)[:2]), 200) > 0.25


@given(forecasts, st.integers(1, 30))
def test_the_simulated_p_value_is_never_0_and_counts_what_is_as_large(forecast: Forecast, simulations: int) -> None:
    p, y = forecast
    assert null_test(p, y, lambda *_: 1.0, simulations).p_value == 1
    found = null_test(p, y, ece, simulations)
    assert 1 / (1 + simulations) <= found.p_value <= 1
    assert found == null_test(p, y, ece, simulations)


def test_five_groups_cannot_refute_at_5_percent_with_kuipers_test_and_thirty_can() -> None:
    for groups, possible in ((5, False), (30, True)):
        p, y, group = clustered(3000, groups, 1, correlation=0.0, temper=5.0)
        assert (kuiper_by_group(p, y, group).p_value <= 0.05) == possible


@pytest.mark.parametrize(
    ("test", "p"),
    [(spiegelhalter, [0.0, 0.5, 1.0]), (kuiper, [0.0, 1.0, 1.0]), (lambda p, y: kuiper_by_group(p, y, np.arange(3)), [1.0, 0, 0])],
)
def test_a_test_that_is_not_defined_is_refused(test: Callable[..., NullTest], p: list[float]) -> None:
    with pytest.raises(ValueError, match="not defined"):
        test(p, [False, True, True])


@pytest.mark.parametrize("test", [spiegelhalter_by_group, kuiper_by_group])
@pytest.mark.parametrize(
    ("groups", "why"), [([0, 0, 0], "two groups"), ([0, 1], "one integer"), ([0.0, 1.0, 2.0], "one integer"), ([-1, 0, 1], "one integer")]
)
def test_groups_that_are_none_are_refused(test: Callable[..., NullTest], groups: list[float], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        test([0.2, 0.4, 0.6], [True, False, True], np.array(groups))

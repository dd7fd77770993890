from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from forecasts import Forecast, forecasts
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import ndtri  # type: ignore[import-untyped]
from scipy.stats import ttest_1samp  # type: ignore[import-untyped]

from assay.calibration.metrics.null_tests import NullTest, kuiper_by_group, spiegelhalter_by_group

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


@given(forecasts, st.integers(2, 6))
def test_spiegelhalters_test_by_group_is_students_t_of_the_groups_sums(forecast: Forecast, groups: int) -> None:
    p, y = forecast
    group = np.arange(len(p)) % groups * 2
    sums = np.array([((y - p) * (1 - 2 * p))[group == g].sum() for g in set(group.tolist())])
    if len(sums) > 1 and sums.std() > 1e-9:
        found, expected = spiegelhalter_by_group(p, y, group), ttest_1samp(sums, 0)
        assert (found.statistic, found.p_value) == pytest.approx((expected.statistic, expected.pvalue))


def test_kuipers_test_by_group_counts_the_changes_of_sign_of_whole_groups() -> None:
    p, y, group = clustered(60, 6, 4)
    found, scale = kuiper_by_group(p, y, group, simulations=4999), np.sqrt((p * (1 - p)).sum())
    order = np.argsort(p)
    ranges = []
    for signs in itertools.product([-1, 1], repeat=6):
        walk = np.concatenate([[0], np.cumsum(((y - p) * np.array(signs)[group])[order])])
        ranges.append((walk.max() - walk.min()) / scale)
    exact = np.mean(np.array(ranges) >= found.statistic - 1e-9)
    assert 0.1 < exact < 0.9
    assert found.p_value == pytest.approx(exact, abs=0.025)


@pytest.mark.parametrize("by_group", [spiegelhalter_by_group, lambda *world: kuiper_by_group(*world, simulations=99)])
def test_a_test_by_group_refutes_5_percent_of_calibrated_worlds_whose_groups_fail_together(by_group: Callable[..., NullTest]) -> None:
    assert share_refuted(lambda seed: by_group(*clustered(600, 15, seed)), 300) == pytest.approx(0.05, abs=0.035)
    assert share_refuted(lambda seed: by_group(*clustered(1500, 30, seed, temper=2.5)), 40) > 0.5


def test_a_test_that_is_not_defined_is_refused() -> None:
    with pytest.raises(ValueError, match="not defined"):
        kuiper_by_group([1.0, 0.0, 0.0], [False, True, True], np.arange(3))

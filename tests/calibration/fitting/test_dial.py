from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit  # type: ignore[import-untyped]
from scipy.stats import beta, binomtest, norm  # type: ignore[import-untyped]
from scipy.stats import t as student

from assay.calibration.arrays import Floats
from assay.calibration.fitting.dial import TARGETS, Rate, dial

sys.path.append(str(Path(__file__).parents[3] / "benchmarks"))

from dial import BASE, outcomes

Draw = tuple[Floats, NDArray[np.bool_], NDArray[np.intp]]


def draw(seed: int, n: int = 600, groups: int = 20, between: float = 0.4, digits: int = 3) -> Draw:
    """Confidences that are about right, rounded so that many are equal."""
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, n)
    z = rng.normal(0.3, 1.8, n)
    return expit(z).round(digits), rng.random(n) < expit(z + rng.normal(0, between, groups)[group]), group


def rate_of(right: list[int], shown: list[int]) -> Rate:
    """Of groups with so many right and shown samples."""
    s, n = np.array(right, dtype=float), np.array(shown, dtype=float)
    return Rate.of(*(np.array([v.sum()]) for v in (s, n, s**2, s * n, n**2)))


@pytest.mark.parametrize(("k", "n", "x"), [(190, 200, 0.9), (80, 100, 0.75), (45, 45, 0.94), (520, 1000, 0.5)])
def test_where_every_sample_is_a_group_test_and_interval_are_nearly_the_exact_ones_and_never_bolder(k: int, n: int, x: float) -> None:
    rate, exact = rate_of([1] * k + [0] * (n - k), [1] * n), binomtest(k, n, x, alternative="greater")
    assert exact.pvalue <= rate.p_value(np.array([x]))[0, 0] <= exact.pvalue + 0.01
    found, interval = rate.interval(0), binomtest(k, n).proportion_ci(0.95)
    assert interval.low - 0.005 <= found.low <= interval.low
    assert interval.high <= found.high <= interval.high + 0.005


def test_the_interval_of_few_groups_is_korn_and_graubards() -> None:
    right = np.array([9, 14, 20, 11, 17, 6])
    found = rate_of(right.tolist(), [20] * 6).interval(0)
    rate, variance = right.sum() / 120, right.var(ddof=1) * 6 / 120**2
    # the variance of the mean of 6 groups, but for the jackknife's 6 / 5
    worth = rate * (1 - rate) / (variance * 6 / 5) * (norm.ppf(0.975) / student.ppf(0.975, 5)) ** 2
    low, high = beta.ppf([0.025, 0.975], [worth * rate, worth * rate + 1], [worth * (1 - rate) + 1, worth * (1 - rate)])
    assert (found.value, found.low, found.high) == pytest.approx((rate, low, high), rel=1e-9)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from([40, 90, 400, 1500]), st.sampled_from([1, 2, 7, 40]), st.integers(1, 4), st.booleans())
def test_a_higher_target_has_no_lower_threshold_and_rows_say_what_is_shown(seed: int, n: int, groups: int, digits: int, each: bool) -> None:
    p, y, group = draw(seed, n, groups, digits=digits)
    rows = dial(p, y, group, each=each)
    assert tuple(row.target for row in rows) == TARGETS
    thresholds = [2.0 if row.threshold is None else row.threshold for row in rows]
    assert thresholds == sorted(thresholds)
    assert [row.share.value for row in rows] == sorted((row.share.value for row in rows), reverse=True)
    for row in rows:
        if row.threshold is None:
            assert (row.shown, row.share.value, row.precision) == (0, 0.0, None)
            continue
        at = p >= row.threshold
        assert (row.shown, row.share.value) == (at.sum(), at.sum() / n)
        assert row.precision.value == pytest.approx(y[at].mean(), abs=1e-12)
        assert row.precision.value >= row.target
        for interval in (row.share, row.precision):
            assert 0 <= interval.low <= interval.value <= interval.high <= 1
        assert row.threshold >= row.target or not each


def test_a_confidence_on_the_threshold_is_shown() -> None:
    p = np.repeat([0.29, 0.57, 0.58, 1.0], 200)
    rows = dial(p, np.arange(800) >= 200, np.arange(800), targets=(0.9,))
    assert (rows[0].threshold, rows[0].shown) == (0.57, 600)


@pytest.mark.parametrize(
    ("p", "y", "groups"),
    [
        (np.full(39, 0.99), np.ones(39, bool), np.arange(39)),
        (np.full(400, 0.99), np.zeros(400, bool), np.arange(400)),
        (np.full(400, 0.99), np.ones(400, bool), (np.arange(400) == 0).astype(np.intp)),
    ],
    ids=["too few", "all wrong", "one project and a sample"],
)
def test_without_evidence_nothing_is_shown_at_any_level(p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp]) -> None:
    assert {row.threshold for row in dial(p, y, groups, targets=(0.3, 0.6, 0.9))} == {None}


def test_tolerance_does_not_make_up_for_too_few_samples() -> None:
    assert dial(np.full(39, 0.5), np.ones(39, bool), np.arange(39), targets=(0.3,), tolerance=0.4)[0].threshold is None
    assert dial(np.full(40, 0.5), np.ones(40, bool), np.arange(40), targets=(0.3,), tolerance=0.4)[0].threshold == 0.5


@pytest.mark.slow
def test_no_row_is_wrong_more_often_than_stated_and_reading_off_the_measured_precision_is() -> None:
    """Stated 10 %; of 150 worlds that is 15 ± 3.7, and 4 standard deviations are left for the worst of 19 rows."""
    found, _ = outcomes(replace(BASE, n=800, between=0.6), 150)
    assert found["dial"].wrong.max() <= 0.2
    assert found["each"].wrong.max() <= 0.2
    assert found["seen"].wrong.max() >= 0.4


def test_where_projects_differ_taking_samples_for_independent_breaks_the_promise_and_taking_projects_keeps_it() -> None:
    world, rng = replace(BASE, projects=15, between=0.8), np.random.default_rng(0)
    precision, _ = world.at_levels(world.confidence)
    wrong = {"projects": np.zeros(len(TARGETS)), "samples": np.zeros(len(TARGETS))}
    for _ in range(150):
        (p, y, project), _ = world.draw(rng)
        for taken, groups in (("projects", project), ("samples", np.arange(world.n))):
            for i, row in enumerate(dial(p, y, groups)):
                wrong[taken][i] += row.threshold is not None and precision[round(100 * row.threshold)] < row.target
    assert wrong["projects"].max() / 150 <= 0.2
    assert wrong["samples"].max() / 150 >= 0.25


def test_a_few_sure_mistakes_do_not_hide_everything() -> None:
    found, best = outcomes(replace(BASE, bent=3.0), 40)
    half = TARGETS.index(0.5)
    assert found["dial"].share[half] >= 0.7 * best[half]

"""Correlations against scipy's, and their intervals against published ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from assay.calibration.metrics.correlations import correlations

NUMBERS = st.lists(st.tuples(st.integers(-5, 5), st.integers(-5, 5)), min_size=5, max_size=20)


@given(pairs=NUMBERS)
def test_all_three_are_scipys_ties_included(pairs: list[tuple[int, int]]) -> None:
    a, b = np.array(pairs, dtype=np.float64).T
    assume(np.ptp(a) > 0 and np.ptp(b) > 0)
    found = correlations(a, b)
    for ours, theirs in ((found.r, stats.pearsonr), (found.rho, stats.spearmanr), (found.tau, stats.kendalltau)):
        if ours is None:
            assert (theirs, abs(theirs(a, b)[0])) == (stats.pearsonr, pytest.approx(1))
            continue
        assert ours.value == pytest.approx(theirs(a, b)[0], abs=1e-9)
        assert -1 <= ours.low <= ours.value <= ours.high <= 1


def test_fishers_interval_of_seven_pairs_is_wide() -> None:
    pass_at_1, rtc = (19.5, 29.3, 37.6, 33.4, 46.3, 63.4, 75.6), (8.3, 10.6, 18.3, 18.9, 31.7, 34.8, 40.2)
    r = correlations(pass_at_1, rtc).r
    assert (round(r.value, 3), round(r.low, 2), round(r.high, 2)) == (0.959, 0.74, 0.99)


def test_what_is_the_same_throughout_and_too_few_pairs_have_none() -> None:
    assert correlations([1, 1, 1, 1, 1], [1, 2, 3, 4, 5]).tau is None
    assert correlations([1, 2, 3, 4], [1, 2, 3, 4]).r is None


def test_perfect_agreement_of_few_pairs_has_an_interval_of_more_than_a_point() -> None:
    few, many = (correlations(np.arange(n), np.arange(n) ** 2) for n in (5, 50))
    assert few.tau.low < 0 < few.tau.value == few.tau.high == 1
    for name in ("rho", "tau"):
        assert getattr(few, name).low < getattr(many, name).low < 1
        against = getattr(correlations(np.arange(5), -(np.arange(5) ** 2)), name)
        assert (against.low, against.value, against.high) == (-1, -1, -getattr(few, name).low)
    assert correlations(np.arange(9), 3.0 * np.arange(9)).r is None


def test_means_that_are_equal_but_for_their_rounding_are_ties() -> None:
    sums = [0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1]
    assert sums[0] != sums[1]
    a, b = np.array([0.0, *sums, 1.0, 2.0]), np.array([0.0, 0.6, 0.7, 1.0, 2.0])
    found = correlations(a, b)
    assert found.rho.value == pytest.approx(stats.spearmanr([1, 2, 2, 4, 5], b)[0], abs=1e-9)
    assert found.tau.value == pytest.approx(stats.kendalltau([1, 2, 2, 4, 5], b)[0], abs=1e-9)
    assert correlations(np.array(sums * 3), np.arange(6)) == correlations(np.full(6, 0.6), np.arange(6))

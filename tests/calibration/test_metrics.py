from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics as sk  # type: ignore[import-untyped]
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.calibration.measures import Floats
from assay.calibration.metrics.bins import ece, ece_noise_floor, equal_mass, equal_width, reliability, wilson
from assay.calibration.metrics.scores import auc, brier, log_loss, reference_brier, skill

probabilities = st.one_of(st.floats(0, 1), st.integers(0, 10).map(lambda k: k / 10))
forecasts = st.lists(st.tuples(probabilities, st.booleans()), min_size=1, max_size=60).map(
    lambda pairs: (np.array([p for p, _ in pairs]), np.array([y for _, y in pairs]))
)


@given(forecasts)
def test_brier_auc_and_log_loss_agree_with_scikit_learn(forecast: tuple[Floats, NDArray[np.bool_]]) -> None:
    p, y = forecast
    assert brier(p, y) == pytest.approx(sk.brier_score_loss(y, p, pos_label=True), abs=1e-12)
    inside = p * 0.98 + 0.01
    assert log_loss(inside, y) == pytest.approx(sk.log_loss(y, inside, labels=[False, True]), abs=1e-12)
    if len(set(y.tolist())) == 2:
        assert auc(p, y) == pytest.approx(sk.roc_auc_score(y, p), abs=1e-12)


@given(forecasts)
def test_the_auc_is_the_share_of_pairs_in_the_right_order(forecast: tuple[Floats, NDArray[np.bool_]]) -> None:
    p, y = forecast
    if len(set(y.tolist())) == 2:
        difference = p[y][:, None] - p[~y][None, :]
        assert auc(p, y) == pytest.approx(((difference > 0) + 0.5 * (difference == 0)).mean())


@given(forecasts)
def test_skill_is_what_is_left_of_the_reference(forecast: tuple[Floats, NDArray[np.bool_]]) -> None:
    _, y = forecast
    if len(set(y.tolist())) == 2:
        assert skill(y.astype(float), y) == 1
        assert skill(np.full(len(y), y.mean()), y) == pytest.approx(0, abs=1e-9)
        assert reference_brier(y) == pytest.approx(brier(np.full(len(y), y.mean()), y))


@pytest.mark.parametrize("rate", [0.72, 0.33])
def test_reference_brier_of_the_papers_base_rates(rate: float) -> None:
    assert reference_brier(np.arange(100) < 100 * rate) == pytest.approx(rate * (1 - rate))


def test_with_one_class_skill_and_auc_are_refused_not_guessed() -> None:
    for metric in (skill, auc):
        with pytest.raises(ValueError, match="all labels are equal"):
            metric([0.2, 0.4], [True, True])


def test_an_infinite_log_loss_is_an_error_not_a_silent_clip() -> None:
    with pytest.raises(ValueError, match="the log loss is infinite"):
        log_loss([0.0, 0.5], [True, False])


@pytest.mark.parametrize(
    ("p", "y"), [([], []), ([0.5], [1, 0]), ([1.1], [1]), ([math.nan], [1]), ([-0.1], [0]), ([0.5], [0.5]), ([0.5], [math.nan])]
)
def test_what_is_no_forecast_is_refused(p: list[float], y: list[float]) -> None:
    with pytest.raises(ValueError, match=r"forecasts|probability|label"):
        brier(p, y)


def test_bins_are_closed_on_the_right_and_0_3_is_in_0_2_to_0_3_though_0_3_divided_by_0_1_is_below_3() -> None:
    assert [int(0.3 / 0.1), np.linspace(0, 1, 11)[3] == 0.3] == [2, False]
    assert equal_width(np.arange(11) / 10).tolist() == [0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert equal_width(np.nextafter(np.arange(10) / 10, 2)).tolist() == list(range(10))


def test_p_of_1_is_in_the_last_bin_not_in_a_bin_of_its_own() -> None:
    p, y = np.array([0.95, 1.0]), np.array([True, False])
    assert equal_width(p).tolist() == [9, 9]
    assert ece(p, y) == pytest.approx(0.475)


@given(forecasts, st.integers(1, 20))
def test_ece_is_the_weighted_gap_of_every_bin(forecast: tuple[Floats, NDArray[np.bool_]], bins: int) -> None:
    p, y = forecast
    gaps = 0.0
    for k in range(bins):
        inside = (p <= (k + 1) / bins) & ((p > k / bins) | (k == 0))
        if inside.any():
            gaps += inside.sum() * abs(y[inside].mean() - p[inside].mean())
    assert ece(p, y, bins) == pytest.approx(gaps / len(p), abs=1e-12)


@pytest.mark.parametrize("n", [100, 164, 500, 2000])
@pytest.mark.parametrize("shape", [(1, 1), (1.2, 2.5), (0.3, 0.6)])
def test_the_noise_floor_is_the_mean_ece_of_a_perfect_forecaster(n: int, shape: tuple[float, float]) -> None:
    rng = np.random.default_rng(n)
    p = rng.beta(*shape, n)
    simulated = np.mean([ece(p, rng.random(n) < p) for _ in range(1500)])
    assert ece_noise_floor(p) == pytest.approx(simulated, rel=0.05)


@given(forecasts, st.integers(1, 12))
def test_bins_of_equal_mass_are_in_order_without_a_gap_and_part_no_ties(forecast: tuple[Floats, NDArray[np.bool_]], bins: int) -> None:
    p, _ = forecast
    index = equal_mass(p, bins)
    assert sorted(set(index.tolist())) == list(range(int(index.max()) + 1))
    assert index.max() < bins
    assert (np.diff(index[np.argsort(p)]) >= 0).all()
    assert all(len(set(index[p == value].tolist())) == 1 for value in p)


def test_bins_of_equal_mass_have_equal_mass_where_nothing_is_tied() -> None:
    p = np.random.default_rng(0).random(1000)
    assert np.bincount(equal_mass(p)).tolist() == [100] * 10


def test_with_nine_of_ten_samples_tied_no_sample_is_lost_and_every_bin_says_how_many_it_has() -> None:
    p = np.concatenate([np.full(900, 0.5), np.linspace(0.6, 0.9, 100)])
    y = np.arange(1000) % 2 == 0
    bins = reliability(p, y)
    assert sum(b.n for b in bins) == 1000
    assert bins[0].n == 900
    assert bins[0].mean == pytest.approx(0.5)
    assert bins[0].rate == pytest.approx(0.5)


@given(forecasts)
def test_reliability_bins_hold_every_sample_once(forecast: tuple[Floats, NDArray[np.bool_]]) -> None:
    p, y = forecast
    bins = reliability(p, y)
    assert sum(b.n for b in bins) == len(p)
    assert sum(b.positives for b in bins) == y.sum()
    assert sum(b.n * b.mean for b in bins) == pytest.approx(p.sum())
    for b in bins:
        assert b.low <= b.mean * (1 + 1e-12)
        assert b.rate_low - 1e-12 <= b.rate <= b.rate_high + 1e-12


def test_wilson_intervals_are_the_published_ones() -> None:
    assert wilson(0, 10) == pytest.approx((0, 0.2775328), abs=1e-6)
    assert wilson(15, 20) == pytest.approx((0.5312983, 0.8881382), abs=1e-4)

from __future__ import annotations

import math

import numpy as np
import pytest
import sklearn.metrics as sk  # type: ignore[import-untyped]
from forecasts import Forecast, forecasts
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.metrics.bins import Binning, ece, ece_noise_floor, equal_mass, equal_width, reliability, wilson
from assay.calibration.metrics.scores import auc, brier, log_loss, pooled, reference_brier, skill


@given(forecasts)
def test_brier_auc_and_log_loss_agree_with_scikit_learn(forecast: Forecast) -> None:
    p, y = forecast
    assert brier(p, y) == pytest.approx(sk.brier_score_loss(y, p, pos_label=True), abs=1e-12)
    inside = p * 0.98 + 0.01
    assert log_loss(inside, y) == pytest.approx(sk.log_loss(y, inside, labels=[False, True]), abs=1e-12)
    if len(set(y.tolist())) == 2:
        assert auc(p, y) == pytest.approx(sk.roc_auc_score(y, p), abs=1e-12)


@given(forecasts)
def test_skill_is_what_is_left_of_the_reference(forecast: Forecast) -> None:
    _, y = forecast
    if len(set(y.tolist())) == 2:
        assert skill(y.astype(float), y) == 1
        assert skill(np.full(len(y), y.mean()), y) == pytest.approx(0, abs=1e-9)
        assert reference_brier(y) == pytest.approx(brier(np.full(len(y), y.mean()), y))


@given(forecasts)
def test_samples_are_pooled_by_equal_probability_in_ascending_order(forecast: Forecast) -> None:
    p, y = forecast
    runs = pooled(np.where(p == 0, -0.0, p), y)
    values, counts = np.unique(p, return_counts=True)
    assert runs.p.tolist() == values.tolist()
    assert runs.n.tolist() == counts.tolist()
    assert runs.positives.tolist() == [int(y[p == value].sum()) for value in values]


@given(forecasts, st.lists(st.integers(0, 4), min_size=60, max_size=60))
def test_saying_each_stratums_own_base_rate_has_skill_0_against_the_strata(forecast: Forecast, drawn: list[int]) -> None:
    _, y = forecast
    strata = np.array(drawn[: len(y)])
    rates = np.array([y[strata == s].mean() for s in strata])
    assert reference_brier(y, strata) == pytest.approx(brier(rates, y))
    if reference_brier(y, strata) > 0:
        assert skill(rates, y, strata) == pytest.approx(0, abs=1e-9)
        assert skill(y.astype(float), y, strata) == 1
        assert skill(rates, y) >= -1e-9


@pytest.mark.parametrize("strata", [np.array([0]), np.array([0.0, 1.0]), np.array([-1, 0])])
def test_strata_that_are_not_one_integer_per_sample_are_refused(strata: np.ndarray) -> None:
    with pytest.raises(ValueError, match="strata"):
        skill([0.2, 0.4], [True, False], strata)


def test_skill_is_refused_where_every_stratum_has_one_class() -> None:
    with pytest.raises(ValueError, match="of every stratum"):
        skill([0.2, 0.4], [True, False], np.array([0, 1]))


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


@pytest.mark.parametrize("bins", range(1, 60))
def test_a_probability_next_to_an_edge_is_on_its_side_of_it(bins: int) -> None:
    edges = np.arange(bins + 1) / bins
    p = np.concatenate([edges, np.nextafter(edges, 2), np.nextafter(edges, -1)]).clip(0, 1)
    assert equal_width(p, bins).tolist() == np.searchsorted(edges[1:-1], p, side="left").tolist()


@given(forecasts, st.integers(1, 20))
def test_ece_is_the_weighted_gap_of_every_bin(forecast: Forecast, bins: int) -> None:
    p, y = forecast
    gaps = 0.0
    for k in range(bins):
        inside = (p <= (k + 1) / bins) & ((p > k / bins) | (k == 0))
        if inside.any():
            gaps += inside.sum() * abs(y[inside].mean() - p[inside].mean())
    assert ece(p, y, bins) == pytest.approx(gaps / len(p), abs=1e-12)


@pytest.mark.parametrize("by", [equal_width, equal_mass])
@pytest.mark.parametrize(("n", "shape"), [(100, (1, 1)), (164, (0.3, 0.6)), (2000, (1.2, 2.5))])
def test_the_noise_floor_is_the_mean_ece_of_a_perfect_forecaster(n: int, shape: tuple[float, float], by: Binning) -> None:
    rng = np.random.default_rng(n)
    p = rng.beta(*shape, n)
    simulated = np.mean([ece(p, rng.random(n) < p, by=by) for _ in range(1500)])
    assert ece_noise_floor(p, by=by) == pytest.approx(simulated, rel=0.05)


@given(forecasts, st.integers(1, 12))
def test_bins_of_equal_mass_are_in_order_without_a_gap_and_part_no_ties(forecast: Forecast, bins: int) -> None:
    p, _ = forecast
    index = equal_mass(p, bins)
    assert sorted(set(index.tolist())) == list(range(int(index.max()) + 1))
    assert index.max() < bins
    assert (np.diff(index[np.argsort(p)]) >= 0).all()
    assert all(len(set(index[p == value].tolist())) == 1 for value in p)


@pytest.mark.parametrize("by", [equal_width, equal_mass])
@given(forecast=forecasts)
def test_reliability_bins_hold_every_sample_once(by: Binning, forecast: Forecast) -> None:
    p, y = forecast
    bins = reliability(p, y, by=by)
    assert sum(b.n for b in bins) == len(p)
    assert sum(b.positives for b in bins) == y.sum()
    assert sum(b.n * b.mean for b in bins) == pytest.approx(p.sum())
    for b in bins:
        inside = (p >= b.low) & (p <= b.high)
        assert (b.n, b.positives) == (inside.sum(), y[inside].sum())
        assert {b.low, b.high} <= set(p.tolist())
        assert b.rate_low - 1e-12 <= b.rate <= b.rate_high + 1e-12


def test_wilson_intervals_are_the_published_ones() -> None:
    # exactly at the ends, where rounding would leave 2.8e-17
    assert all(wilson(0, n)[0] == 0 and wilson(n, n)[1] == 1 for n in range(1, 200))
    assert wilson(0, 10) == pytest.approx((0, 0.2775328), abs=1e-6)
    assert wilson(15, 20) == pytest.approx((0.5312983, 0.8881382), abs=1e-4)

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import sklearn.metrics as sk  # type: ignore[import-untyped]
from forecasts import Forecast, forecasts, perfect
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.arrays import Floats
from assay.calibration.metrics.bins import Binning, ece, ece_noise_floor, equal_mass, equal_width, reliability, wilson
from assay.calibration.metrics.scores import auc, brier, log_loss, reference_brier, skill
from assay.calibration.metrics.selective import Curve, augrc, aurc, excess_aurc, risk_coverage, roc, thinned


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


def test_with_one_class_skill_and_auc_are_refused_not_guessed() -> None:
    for metric in (skill, auc):
        with pytest.raises(ValueError, match="all labels are equal"):
            metric([0.2, 0.4], [True, True])
    with pytest.raises(ValueError, match="of every stratum"):
        skill([0.2, 0.4], [True, False], np.array([0, 1]))


def test_an_infinite_log_loss_is_an_error_not_a_silent_clip() -> None:
    with pytest.raises(ValueError, match="the log loss is infinite"):
        log_loss([0.0, 0.5], [True, False])


@pytest.mark.parametrize(("p", "y"), [([], []), ([0.5], [1, 0]), ([1.1], [1]), ([math.nan], [1]), ([0.5], [0.5])])
def test_what_is_no_forecast_is_refused(p: list[float], y: list[float]) -> None:
    with pytest.raises(ValueError, match=r"forecasts|probability|label"):
        brier(p, y)


def test_a_probability_next_to_an_edge_is_on_its_side_of_it() -> None:
    for bins in range(1, 60):
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
def test_the_noise_floor_is_the_mean_ece_of_a_perfect_forecaster(by: Binning) -> None:
    rng = np.random.default_rng(164)
    p = rng.beta(0.3, 0.6, 164)
    simulated = np.mean([ece(p, rng.random(164) < p, by=by) for _ in range(1500)])
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


few = st.lists(st.tuples(st.integers(0, 3).map(lambda k: k / 4), st.booleans()), min_size=1, max_size=6).map(
    lambda pairs: (np.array([p for p, _ in pairs]), np.array([y for _, y in pairs]))
)


def risks_over_all_orders(p: Floats, y: np.ndarray) -> Floats:
    """Mean risk among the first 1 … n over every order from the highest p down."""
    n = len(p)
    orders = [o for o in itertools.permutations(range(n)) if all(p[a] >= p[b] for a, b in itertools.pairwise(o))]
    return np.mean([np.cumsum(~y[list(o)]) / np.arange(1, n + 1) for o in orders], axis=0)


@given(few)
def test_the_risk_is_its_mean_over_every_order_of_equal_probabilities(forecast: Forecast) -> None:
    p, y = forecast
    risks = risks_over_all_orders(p, y)
    curve = risk_coverage(p, y)
    assert curve.y == pytest.approx(risks)
    assert curve.x == pytest.approx(np.arange(1, len(p) + 1) / len(p))
    assert aurc(p, y) == pytest.approx(risks.mean())


@given(forecasts)
def test_augrc_is_the_area_under_the_share_that_is_shown_and_wrong(forecast: Forecast) -> None:
    p, y = forecast
    curve = risk_coverage(p, y)
    coverage, shown_and_wrong = np.concatenate([[0], curve.x]), np.concatenate([[0], curve.x * curve.y])
    assert augrc(p, y) == pytest.approx(np.trapezoid(shown_and_wrong, coverage), abs=1e-12)


@given(forecasts)
def test_excess_is_0_for_the_best_order_and_never_below(forecast: Forecast) -> None:
    p, y = forecast
    assert excess_aurc(y * 0.5 + 0.2, y) == pytest.approx(0, abs=1e-12)
    assert excess_aurc(p, y) >= -1e-12
    assert aurc(p, y) <= aurc(~y * 0.5, y) + 1e-12


def test_with_one_class_the_areas_are_all_or_nothing() -> None:
    p = [0.2, 0.4, 0.4]
    assert (aurc(p, [1, 1, 1]), augrc(p, [1, 1, 1]), excess_aurc(p, [1, 1, 1])) == (0, 0, 0)
    assert (aurc(p, [0, 0, 0]), augrc(p, [0, 0, 0]), excess_aurc(p, [0, 0, 0])) == (1, 0.5, 0)


@given(forecasts)
def test_the_roc_curve_is_scikit_learns_and_its_area_the_auc(forecast: Forecast) -> None:
    p, y = forecast
    if len(set(y.tolist())) == 2:
        curve = roc(p, y)
        false, true, _ = sk.roc_curve(y, p, drop_intermediate=False)
        assert (curve.x.tolist(), curve.y.tolist()) == (pytest.approx(false), pytest.approx(true))
        assert np.trapezoid(curve.y, curve.x) == pytest.approx(auc(p, y))


def columns_of(x: Floats, count: int) -> np.ndarray:
    """The column of each x of 0 … 1, of so many of equal width."""
    return np.minimum(x * count, count - 1).astype(int)


@pytest.mark.parametrize("curve_of", [roc, risk_coverage])
def test_a_thinned_curve_enters_leaves_and_reaches_as_far_in_every_column(curve_of: object) -> None:
    assert callable(curve_of)
    found, count = curve_of(*perfect(30_000, 0)), 50
    # so that a column's edges are the same numbers here as there
    whole = Curve((found.x - found.x[0]) / (found.x[-1] - found.x[0]), found.y)
    thin = thinned(whole, count)
    assert len(thin.x) <= 4 * count < len(whole.x)
    assert set(zip(thin.x.tolist(), thin.y.tolist(), strict=True)) <= set(zip(whole.x.tolist(), whole.y.tolist(), strict=True))
    for column in range(count):
        before, after = whole.y[columns_of(whole.x, count) == column], thin.y[columns_of(thin.x, count) == column]
        assert (after[0], after[-1], after.min(), after.max()) == (before[0], before[-1], before.min(), before.max())

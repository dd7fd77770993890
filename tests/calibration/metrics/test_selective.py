from __future__ import annotations

import itertools

import numpy as np
import pytest
import sklearn.metrics as sk  # type: ignore[import-untyped]
from forecasts import Forecast, forecasts, perfect
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.arrays import Floats
from assay.calibration.metrics.scores import auc
from assay.calibration.metrics.selective import Curve, augrc, aurc, excess_aurc, risk_coverage, roc, thinned

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


def test_a_roc_curve_of_one_class_is_refused() -> None:
    with pytest.raises(ValueError, match="all labels are equal"):
        roc([0.2, 0.4], [True, True])


def columns_of(x: Floats, count: int) -> np.ndarray:
    """The column of each x of 0 … 1, of so many of equal width."""
    return np.minimum(x * count, count - 1).astype(int)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("count", [50, 400])
@pytest.mark.parametrize("curve_of", [roc, risk_coverage])
def test_a_thinned_curve_enters_leaves_and_reaches_as_far_in_every_column(curve_of: object, count: int, seed: int) -> None:
    assert callable(curve_of)
    found = curve_of(*perfect(30_000, seed))
    # so that a column's edges are the same numbers here as there
    whole = Curve((found.x - found.x[0]) / (found.x[-1] - found.x[0]), found.y)
    thin = thinned(whole, count)
    assert len(thin.x) <= 4 * count < len(whole.x)
    assert set(zip(thin.x.tolist(), thin.y.tolist(), strict=True)) <= set(zip(whole.x.tolist(), whole.y.tolist(), strict=True))
    for column in range(count):
        before, after = whole.y[columns_of(whole.x, count) == column], thin.y[columns_of(thin.x, count) == column]
        assert (after[0], after[-1], after.min(), after.max()) == (before[0], before[-1], before.min(), before.max())

from __future__ import annotations

import numpy as np
import pytest
from forecasts import Forecast, forecasts, overconfident, perfect
from hypothesis import given, settings
from model_diagnostics.scoring import SquaredError  # type: ignore[import-untyped]
from model_diagnostics.scoring import decompose as model_diagnostics_decompose

from assay.calibration.metrics.corp import consistency_band, decompose, miscalibration_noise_floor, recalibrated
from assay.calibration.metrics.scores import brier, reference_brier


@given(forecast=forecasts)
def test_the_score_is_miscalibration_minus_discrimination_plus_uncertainty(forecast: Forecast) -> None:
    p, y = forecast
    p = p * 0.98 + 0.01
    found = decompose(p, y)
    assert found.score == pytest.approx(brier(p, y), abs=1e-12)
    assert found.score == pytest.approx(found.miscalibration - found.discrimination + found.uncertainty, abs=1e-12)
    assert found.miscalibration >= -1e-12
    assert found.discrimination >= -1e-12
    assert found.uncertainty == pytest.approx(reference_brier(y), abs=1e-12)


@given(forecast=forecasts)
@settings(max_examples=60, deadline=None)
def test_it_agrees_with_model_diagnostics(forecast: Forecast) -> None:
    p, y = forecast
    p = p.round(6) * 0.98 + 0.01
    if y.all() or not y.any():
        return
    theirs = model_diagnostics_decompose(y.astype(float), p, scoring_function=SquaredError()).row(0, named=True)
    ours = decompose(p, y)
    for name in ("miscalibration", "discrimination", "uncertainty", "score"):
        assert getattr(ours, name) == pytest.approx(theirs[name], abs=1e-9)


def test_the_recalibrated_probabilities_have_no_miscalibration_left_and_as_much_discrimination() -> None:
    p, y = overconfident(1000, 0)
    curve = recalibrated(p, y)
    again = curve.rate[np.searchsorted(curve.low, p, side="right") - 1]
    before, after = decompose(p, y), decompose(again, y)
    assert before.miscalibration > 0.01
    assert after.miscalibration == pytest.approx(0, abs=1e-12)
    assert after.discrimination == pytest.approx(before.discrimination, abs=1e-12)


@pytest.mark.parametrize("n", [50, 500, pytest.param(20_000, marks=pytest.mark.slow)])
def test_the_noise_floor_is_the_mean_miscalibration_of_a_perfect_forecaster(n: int) -> None:
    rng = np.random.default_rng(n)
    p = rng.beta(1.2, 2.5, n)
    simulated = np.mean([decompose(p, rng.random(n) < p).miscalibration for _ in range(400)])
    assert miscalibration_noise_floor(p) == pytest.approx(simulated, rel=0.08)


def test_certain_probabilities_have_no_noise_floor_and_no_band() -> None:
    assert miscalibration_noise_floor([0, 1, 1]) == 0
    band = consistency_band([0, 1, 1])
    assert band.p.tolist() == band.low.tolist() == band.high.tolist() == [0, 1]


@pytest.mark.parametrize("n", [300, pytest.param(20_000, marks=pytest.mark.slow)])
def test_the_band_holds_the_curve_of_a_perfect_forecaster_in_95_percent_of_cases_at_each_point(n: int) -> None:
    p, _ = perfect(n, 0)
    band = consistency_band(p)
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(150):
        curve = recalibrated(p, rng.random(n) < p)
        rate = curve.rate[np.maximum(np.searchsorted(curve.low, band.p, side="right") - 1, 0)]
        inside.append((rate >= band.low - 1e-9) & (rate <= band.high + 1e-9))
    assert np.mean(inside) == pytest.approx(0.95, abs=0.025)


def test_the_band_holds_the_diagonal_leaves_out_an_overconfident_curve_and_narrows_with_n() -> None:
    p, y = overconfident(5000, 0)
    band = consistency_band(p)
    assert len(band.p) == 256
    assert ((band.low <= band.p) & (band.p <= band.high))[25:-25].all()
    assert (np.diff(band.low) >= 0).all()
    assert (np.diff(band.high) >= 0).all()
    curve = recalibrated(p, y)
    rate = curve.rate[np.maximum(np.searchsorted(curve.low, band.p, side="right") - 1, 0)]
    assert ((rate < band.low) | (rate > band.high)).mean() > 0.4
    fewer = consistency_band(p[:500])
    assert (band.high - band.low).mean() < 0.6 * (fewer.high - fewer.low).mean()

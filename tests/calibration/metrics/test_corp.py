from __future__ import annotations

import numpy as np
import pytest
import relplot  # type: ignore[import-untyped]
from forecasts import Forecast, forecasts, overconfident, perfect
from hypothesis import given, settings
from model_diagnostics.scoring import SquaredError  # type: ignore[import-untyped]
from model_diagnostics.scoring import decompose as model_diagnostics_decompose

from assay.calibration.metrics.corp import consistency_band, decompose, miscalibration_noise_floor, recalibrated
from assay.calibration.metrics.scores import brier, reference_brier
from assay.calibration.metrics.smooth import smooth_ece, smooth_ece_noise_floor


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


def test_the_noise_floor_is_the_mean_miscalibration_of_a_perfect_forecaster() -> None:
    rng = np.random.default_rng(500)
    p = rng.beta(1.2, 2.5, 500)
    simulated = np.mean([decompose(p, rng.random(500) < p).miscalibration for _ in range(400)])
    assert miscalibration_noise_floor(p) == pytest.approx(simulated, rel=0.08)


def test_certain_probabilities_have_no_noise_floor_and_no_band() -> None:
    assert miscalibration_noise_floor([0, 1, 1]) == 0
    band = consistency_band([0, 1, 1])
    assert band.p.tolist() == band.low.tolist() == band.high.tolist() == [0, 1]


def test_the_band_holds_the_curve_of_a_perfect_forecaster_in_95_percent_of_cases_at_each_point() -> None:
    p, _ = perfect(300, 0)
    band = consistency_band(p)
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(150):
        curve = recalibrated(p, rng.random(300) < p)
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


@pytest.mark.parametrize("n", [200, pytest.param(100_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("world", [perfect, overconfident])
def test_it_agrees_with_relplot_within_one_thousandth(n: int, world: object) -> None:
    """relplot halves its bandwidth 10 times and integrates over 200 points or few more: its own resolution is 0.001."""
    assert callable(world)
    p, y = world(n, n)
    assert smooth_ece(p, y) == pytest.approx(relplot.smECE(p, y.astype(float)), abs=0.001)


def test_a_gap_that_is_the_same_everywhere_is_the_smooth_ece() -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(0.05, 1, 200_000)
    assert smooth_ece(p, rng.random(200_000) < p - 0.05) == pytest.approx(0.05, abs=0.004)


def test_probabilities_0_and_1_that_come_true_have_error_0() -> None:
    assert smooth_ece([0, 1, 1, 0], [False, True, True, False]) == 0
    assert smooth_ece_noise_floor([0, 1, 1, 0]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 30_000])
@pytest.mark.parametrize("shape", [(1.2, 2.5), (0.3, 0.6)])
def test_the_noise_floor_is_the_mean_of_a_perfect_forecaster(n: int, shape: tuple[float, float]) -> None:
    rng = np.random.default_rng(n)
    p = rng.beta(*shape, n)
    simulated = np.mean([smooth_ece(p, rng.random(n) < p) for _ in range(150)])
    assert smooth_ece_noise_floor(p) == pytest.approx(simulated, rel=0.09)


def test_a_miscalibrated_forecaster_is_above_the_noise_floor_and_a_perfect_one_is_near_it() -> None:
    off, calibrated = overconfident(3000, 0), perfect(3000, 0)
    assert smooth_ece(*off) > 2.5 * smooth_ece_noise_floor(off[0])
    assert 0.5 < smooth_ece(*calibrated) / smooth_ece_noise_floor(calibrated[0]) < 1.5

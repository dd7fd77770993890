from __future__ import annotations

import math
import time

import numpy as np
import pytest
import relplot  # type: ignore[import-untyped]
from forecasts import Forecast, forecasts, overconfident, perfect
from hypothesis import given, settings

from assay.calibration.arrays import Floats
from assay.calibration.metrics.smooth import GRID, smooth_ece, smooth_ece_noise_floor

STEP = 1 / GRID


def by_definition(p: Floats, y: np.ndarray, points: int = 4001) -> float:
    """Smooth ECE from sums of reflected kernels, without a transform; images of a sample up to 8 away."""
    t = np.linspace(0, 1, points)

    def integral(sigma: float) -> float:
        height = np.zeros(points)
        for image in range(-8, 9, 2):
            for place in (p + image, image - p):
                kernel = np.exp(-((t[:, None] - place) ** 2) / (2 * sigma**2))
                height += kernel @ (y - p) / (len(p) * sigma * math.sqrt(2 * math.pi))
        return float(np.trapezoid(np.abs(height), t))

    low, high = 1e-3, 1.0
    for _ in range(16):
        middle = (low + high) / 2
        low, high = (middle, high) if integral(middle) > middle else (low, middle)
    return low


@pytest.mark.slow
@given(forecasts)
@settings(max_examples=15, deadline=None)
def test_the_grid_changes_the_smooth_ece_by_less_than_half_a_step(forecast: Forecast) -> None:
    p, y = forecast
    error = smooth_ece(p, y)
    if error > 8 * STEP:
        assert error == pytest.approx(by_definition(p, y), abs=STEP / 2)


@pytest.mark.parametrize("n", [200, 5000, 100_000])
@pytest.mark.parametrize("world", [perfect, overconfident])
def test_it_agrees_with_relplot_within_one_thousandth(n: int, world: object) -> None:
    """relplot halves its bandwidth 10 times and integrates over 200 points or few more: its own resolution is 0.001."""
    assert callable(world)
    p, y = world(n, n)
    assert smooth_ece(p, y) == pytest.approx(relplot.smECE(p, y.astype(float)), abs=0.001)


@pytest.mark.parametrize(("gap", "expected"), [(0.3, 0.3), (0.05, 0.05)])
def test_a_gap_that_is_the_same_everywhere_is_the_smooth_ece(gap: float, expected: float) -> None:
    rng = np.random.default_rng(0)
    p = rng.uniform(gap, 1, 200_000)
    assert smooth_ece(p, rng.random(200_000) < p - gap) == pytest.approx(expected, abs=0.004)


@given(forecasts)
def test_it_is_between_the_overall_gap_and_the_mean_error_of_single_samples(forecast: Forecast) -> None:
    p, y = forecast
    assert abs((y - p).mean()) - 1e-4 <= smooth_ece(p, y) <= np.abs(y - p).mean() + 1e-4


@given(forecasts)
def test_the_other_event_has_the_same_smooth_ece(forecast: Forecast) -> None:
    p, y = forecast
    assert smooth_ece(1 - p, ~y) == pytest.approx(smooth_ece(p, y), abs=1e-5)


def test_probabilities_0_and_1_that_come_true_have_error_0() -> None:
    assert smooth_ece([0, 1, 1, 0], [False, True, True, False]) == 0
    assert smooth_ece_noise_floor([0, 1, 1, 0]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("n", [60, 1000, 30_000])
@pytest.mark.parametrize("shape", [(1.2, 2.5), (0.3, 0.6)])
def test_the_noise_floor_is_the_mean_of_a_perfect_forecaster(n: int, shape: tuple[float, float]) -> None:
    rng = np.random.default_rng(n)
    p = rng.beta(*shape, n)
    simulated = np.mean([smooth_ece(p, rng.random(n) < p) for _ in range(150)])
    assert smooth_ece_noise_floor(p) == pytest.approx(simulated, rel=0.09)


def test_the_same_seed_gives_the_same_noise_floor_and_another_seed_another() -> None:
    p, _ = perfect(200, 0)
    assert smooth_ece_noise_floor(p, 20) == smooth_ece_noise_floor(p, 20)
    assert smooth_ece_noise_floor(p, 20) != smooth_ece_noise_floor(p, 20, seed=1)


def test_a_miscalibrated_forecaster_is_above_the_noise_floor_and_a_perfect_one_is_near_it() -> None:
    off, calibrated = overconfident(3000, 0), perfect(3000, 0)
    assert smooth_ece(*off) > 2.5 * smooth_ece_noise_floor(off[0])
    assert 0.5 < smooth_ece(*calibrated) / smooth_ece_noise_floor(calibrated[0]) < 1.5


def test_a_million_samples_take_less_than_half_a_second() -> None:
    p, y = perfect(1_000_000, 0)
    began = time.process_time()
    smooth_ece(p, y)
    assert time.process_time() - began < 0.5

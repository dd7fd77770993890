from __future__ import annotations

import numpy as np
import pytest
import relplot  # type: ignore[import-untyped]
from forecasts import overconfident, perfect

from assay.calibration.metrics.smooth import smooth_ece, smooth_ece_noise_floor


@pytest.mark.parametrize("n", [200, pytest.param(100_000, marks=pytest.mark.slow)])
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


def test_a_miscalibrated_forecaster_is_above_the_noise_floor_and_a_perfect_one_is_near_it() -> None:
    off, calibrated = overconfident(3000, 0), perfect(3000, 0)
    assert smooth_ece(*off) > 2.5 * smooth_ece_noise_floor(off[0])
    assert 0.5 < smooth_ece(*calibrated) / smooth_ece_noise_floor(calibrated[0]) < 1.5

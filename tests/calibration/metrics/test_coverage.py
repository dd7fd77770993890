from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.calibration.arrays import Floats
from assay.calibration.metrics.bins import ece
from assay.calibration.metrics.intervals import intervals

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
sys.path.append(str(BENCHMARKS))

from intervals import DIFFERENCES, METRICS, World, expected  # noqa: E402


def true_of(world: World) -> Floats:
    return world.true(world.quantiles())


@pytest.mark.slow
@pytest.mark.parametrize("world", [World(-0.4, 0, 0, 1.8), World(-3.0, 0, 40_000, 1.3)], ids=["independent", "projects"])
def test_the_truth_of_a_world_is_what_a_very_large_draw_of_it_comes_to(world: World) -> None:
    z, y, group = replace(world, n=400_000).draw(np.random.default_rng(0))
    for says, names in ((world.says, METRICS), (world.rival_says, DIFFERENCES)):
        p = says(z)
        true = expected(says(world.quantiles()), true_of(world))
        found = intervals(p, y, group, resamples=100)
        for name in names:
            interval = getattr(found, name)
            assert true[name] == pytest.approx(interval.value, abs=max(0.001, interval.high - interval.low)), name
    assert expected(world.says(world.quantiles()), true_of(world))["ece"] == pytest.approx(ece(world.says(z), y), abs=0.003)

from __future__ import annotations

import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from assay.calibration.arrays import Floats
from assay.calibration.metrics.bins import ece
from assay.calibration.metrics.intervals import Interval, intervals

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
sys.path.append(str(BENCHMARKS))

from intervals import DIFFERENCES, METRICS, PLANNED, Share, World, covered, expected  # noqa: E402


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


def test_a_calibrated_forecaster_is_calibrated_over_all_projects_and_the_rival_has_less_skill() -> None:
    world = World(-0.4, 0, 30)
    true = true_of(world)
    calibrated, rival = expected(world.says(world.quantiles()), true), expected(world.rival_says(world.quantiles()), true)
    assert calibrated["calibration_error"] == pytest.approx(0, abs=1e-9)
    assert [calibrated[name] > rival[name] for name in DIFFERENCES] == [False, True, False, True]
    assert expected(replace(world, temper=1.3).says(world.quantiles()), true)["calibration_error"] == pytest.approx(0.043, abs=0.001)


def test_the_projects_of_a_world_are_of_unequal_size_and_each_has_a_sample() -> None:
    _, _, group = World(-0.4, 1500, 15).draw(np.random.default_rng(1))
    sizes = np.bincount(group)
    assert len(sizes) == 15
    assert sizes.min() >= 1
    assert sizes.max() > 2 * sizes.min()


def test_what_has_no_interval_is_neither_covered_nor_missed() -> None:
    assert covered(0.5, Interval(0.4, 0.3, 0.5)) == 1
    assert covered(0.5, (0.51, 0.6)) == 0
    assert math.isnan(covered(0.5, None))
    share = Share.among([1, 0, math.nan, 1, 1])
    assert (share.value, share.of) == (0.75, 4)
    assert Share.among([math.nan]).shown(0.93, 0.97) == "–"
    assert Share(0.8, 0.77, 0.82, 1000).shown(0.93, 0.97) == "**80.0** (77.0–82.0)"
    assert Share(0.95, 0.93, 0.96, 1000).shown(0.93, 0.97) == "95.0 (93.0–96.0)"


@pytest.mark.slow
def test_the_benchmark_prints_its_tables() -> None:
    command = [sys.executable, str(BENCHMARKS / "intervals.py"), "--worlds", "2"]
    lines = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout.splitlines()
    assert lines[0] == "2 worlds a row, seed 0."
    assert sum(line.startswith("| 42 % | 164 | – |") for line in lines) == 3 + 3 + 1
    assert sum(line.startswith(("| 42 % |", "| 8 % |")) for line in lines) == 2 * 7 * (3 + 3 + 1) + 2 * len(PLANNED)
    assert sum(line.startswith("| 30 | 1000 |") for line in lines) == 3

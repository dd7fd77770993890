from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.calibration.arrays import sigmoid
from assay.calibration.metrics.scores import auc, skill

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "replication.py"
sys.path.append(str(SCRIPT.parent))

from replication import World  # noqa: E402


@pytest.mark.parametrize("base_rate", [0.33, 0.72])
@pytest.mark.parametrize("value", [0.05, 0.3])
def test_a_world_has_the_base_rate_skill_and_width_that_it_says(base_rate: float, value: float) -> None:
    world = World.of(base_rate, value)
    rng = np.random.default_rng(0)
    q = sigmoid(rng.normal(world.centre, world.spread, 400_000))
    y = rng.random(len(q)) < q
    assert y.mean() == pytest.approx(base_rate, abs=0.003)
    assert skill(q, y) == pytest.approx(value, abs=0.006)
    assert auc(q, y) == pytest.approx(world.auc(), abs=0.003)
    assert world.half_width(800, 1000) == pytest.approx(1.96 * world.skill_deviation() / np.sqrt(800), rel=0.12)


@pytest.mark.slow
def test_a_folder_without_the_data_is_refused_in_a_line_that_names_what_is_missing(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, SCRIPT, "--data", tmp_path], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"{tmp_path / 'cruxeval' / 'cruxeval.jsonl'} is missing" in ran.stderr
    assert "Traceback" not in ran.stderr

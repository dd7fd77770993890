"""A whole run of a study on a real Ray cluster: two nodes of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from ray_cluster import local_cluster
from source_distribution import make_sdist
from study_runs import files_of

from assay.inference.opening import ModelChoice
from assay.offline_eval.calibration.study import Options, run_study
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.run import Run

pytestmark = pytest.mark.slow
pytest.importorskip("ray", reason="Ray is not installed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with local_cluster(cpus=2, nodes=2) as address:
        yield address


def run_in(folder: Path, pool: Pool) -> Run:
    """A run of the calibration study, with the embedded model."""
    project = make_sdist(folder / "cache", functions=40)
    return run_study(Options(folder / "run", choice=ModelChoice(), projects=[project], per_project=40, pool=pool, cache=folder / "cache"))


def test_a_run_on_a_cluster_has_the_files_of_one_on_this_machine(cluster: str, tmp_path: Path) -> None:
    assert files_of(run_in(tmp_path / "there", Pool(3, cluster)).folder) == files_of(run_in(tmp_path / "here", Pool(2)).folder)

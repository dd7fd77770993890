"""Whole runs of studies on a real Ray cluster of this machine, of which a worker or the driver is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from pool_work import Place, Places
from ray_cluster import PATHS, local_cluster
from source_distribution import make_sdist
from study_runs import files_of

from assay.inference.opening import ModelChoice
from assay.offline_eval.calibration.study import Options, run_study
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.run import Run
from assay.offline_eval.study import Work, conduct

from .test_study import ANSWERS, QUESTION, Study

pytestmark = pytest.mark.slow
pytest.importorskip("ray", reason="Ray is not installed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with local_cluster() as address:
        yield address


def places(folder: Path, pool: Pool, pause_s: float = 0.0) -> Run:
    """A run whose workers log what they are asked."""
    run = Run.begin(folder / "run", QUESTION)
    start = Places(folder / "asked", frozenset(), pause_s)
    conduct(Study(), run, [lambda: Work(ANSWERS, [Place(f"p{i:03}") for i in range(60)], start, pool, 60)], as_json=False)
    return run


def lines(folder: Path, pool: Pool) -> Run:
    """A run of the calibration study, with the embedded model."""
    project = make_sdist(folder / "cache", functions=40)
    return run_study(Options(folder / "run", choice=ModelChoice(), projects=[project], per_project=40, pool=pool, cache=folder / "cache"))


def begun(call: str, folder: Path) -> subprocess.Popen[bytes]:
    """A driver in a process of its own that has written its first answers."""
    program = (
        "from pathlib import Path, PosixPath\n"
        "from assay.offline_eval.pool.pool import Pool\n"
        "from tests.offline_eval.test_on_ray import lines, places\n"
        f"{call}\n"
    )
    root = str(Path(__file__).parents[2])
    driver = subprocess.Popen([sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": f"{PATHS}{os.pathsep}{root}"})
    answers, until = folder / "run" / "answers.jsonl", time.monotonic() + 120
    while not (answers.exists() and answers.stat().st_size) and driver.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    assert driver.poll() is None, "it is still at work"
    return driver


def test_a_run_on_a_cluster_has_the_files_of_one_on_this_machine(cluster: str, tmp_path: Path) -> None:
    assert files_of(lines(tmp_path / "there", Pool(2, cluster)).folder) == files_of(lines(tmp_path / "here", Pool(2)).folder)


def test_after_the_driver_is_killed_the_same_command_does_nothing_finished_twice(cluster: str, tmp_path: Path) -> None:
    driver = begun(f"places({tmp_path!r}, Pool(2, {cluster!r}), 0.1)", tmp_path)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    finished = [answer["id"] for answer in Run(tmp_path / "run").records(ANSWERS).read()]
    assert 0 < len(finished) < 60
    run = places(tmp_path, Pool(2, cluster))
    asked = Counter((tmp_path / "asked").read_text().split())
    assert all(asked[name] == 1 for name in finished)
    (tmp_path / "here").mkdir()
    assert files_of(run.folder) == files_of(places(tmp_path / "here", Pool(1)).folder)

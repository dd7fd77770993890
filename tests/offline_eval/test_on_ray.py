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

from assay.inference.opening import ModelChoice
from assay.offline_eval.calibration.draw import ANSWERS as DRAWN
from assay.offline_eval.calibration.study import Asked, run_study
from assay.offline_eval.pool.choice import Pool
from assay.offline_eval.run import TIMINGS, Run
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
    return run_study(Asked(folder / "run", ModelChoice(), projects=[project], per_project=40, pool=pool, cache=folder / "cache"))


def files_of(run: Run) -> dict[str, bytes]:
    return {
        str(path.relative_to(run.folder)): path.read_bytes() for path in run.folder.rglob("*") if path.is_file() and path.name != TIMINGS
    }


def begun(call: str, folder: Path) -> subprocess.Popen[bytes]:
    """A driver in a process of its own that has written its first answers."""
    program = (
        "from pathlib import Path, PosixPath\n"
        "from assay.offline_eval.pool.choice import Pool\n"
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
    assert files_of(lines(tmp_path / "there", Pool(2, cluster))) == files_of(lines(tmp_path / "here", Pool(2)))


def test_a_worker_that_is_killed_loses_nothing_and_nothing_is_done_twice(cluster: str, tmp_path: Path) -> None:
    driver = begun(f"places({tmp_path!r}, Pool(2, {cluster!r}), 0.1)", tmp_path)
    os.kill(int(next(tmp_path.glob("worker-*")).name.removeprefix("worker-")), signal.SIGKILL)
    assert driver.wait(120) == 0
    assert len(list(tmp_path.glob("worker-*"))) == 3, "the killed one was replaced"
    asked = Counter((tmp_path / "asked").read_text().split())
    assert len(asked) == 60
    assert sum(asked.values()) <= 61, "but for what the killed one was at"
    (tmp_path / "here").mkdir()
    assert files_of(Run(tmp_path / "run")) == files_of(places(tmp_path / "here", Pool(1)))


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
    assert files_of(run) == files_of(places(tmp_path / "here", Pool(1)))


def test_the_calibration_study_is_the_same_after_a_worker_is_killed(cluster: str, tmp_path: Path) -> None:
    driver = begun(f"lines({tmp_path!r}, Pool(2, {cluster!r}))", tmp_path)
    os.kill(_actors()[0], signal.SIGKILL)
    assert driver.wait(240) == 0
    run = lines(tmp_path, Pool(2, cluster))
    assert run.lost(DRAWN) == set()
    assert files_of(run) == files_of(lines(tmp_path / "here", Pool(2)))


def _actors() -> list[int]:
    """The processes of this machine that are an actor of ours."""
    commands = Path("/proc").glob("[0-9]*/cmdline")
    return [int(path.parent.name) for path in commands if path.exists() and path.read_bytes().startswith(b"ray::_Actor")]

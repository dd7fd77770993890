"""On a real Ray cluster of this machine, begun for these tests."""

from __future__ import annotations

import colorsys
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from pool_work import CannotStart, Imports, Squares
from ray_cluster import PATHS, local_cluster

from assay.offline_eval.pool.interface import PoolError
from assay.offline_eval.pool.ray import run

pytestmark = pytest.mark.slow
pytest.importorskip("ray", reason="Ray is not installed")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    with local_cluster() as address:
        yield address


def test_an_actor_imports_nothing_of_the_current_folder(cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "colorsys.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write('!')\n")
    monkeypatch.chdir(project)
    assert [each.answer for each in run(Imports("colorsys"), range(1), cluster, workers=1)] == [str(Path(colorsys.__file__))]
    assert not (tmp_path / "imported").exists()


def test_an_actor_that_dies_or_hangs_is_replaced_and_only_what_kills_every_actor_or_raises_is_lost(cluster: str, tmp_path: Path) -> None:
    start = Squares(tmp_path, dies_once=frozenset({3}), dies_always=frozenset({2}), raises=frozenset({4}), hangs_once=frozenset({1}))
    found = {each.item: each for each in run(start, range(6), cluster, workers=2, max_item_s=20)}
    assert {n: each.answer for n, each in found.items() if not each.lost} == {n: n * n for n in (0, 1, 3, 5)}
    assert {n for n, each in found.items() if each.lost} == {2, 4}
    assert found[2].lost.startswith("its worker died (3 times)")
    assert found[4].lost == "ValueError: 4 is not liked"


def test_a_driver_that_is_killed_leaves_the_cluster_to_the_next(cluster: str, tmp_path: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from pool_work import Squares; from assay.offline_eval.pool.ray import run\n"
        f"start = Squares(Path({str(tmp_path)!r}), pause_s=0.2)\n"
        f"for each in run(start, range(1000), {cluster!r}, workers=2): print(each.item, flush=True)\n"
    )
    driver = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": PATHS},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert driver.stdout is not None
    for _ in range(5):
        assert driver.stdout.readline().strip()
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    driver.stdout.close()
    (tmp_path / "next").mkdir()
    found = {each.item: each.answer for each in run(Squares(tmp_path / "next"), range(6), cluster, workers=2)}
    assert found == {n: n * n for n in range(6)}


def test_a_work_function_that_cannot_be_made_and_a_cluster_that_is_not_there_end_the_run(cluster: str) -> None:
    with pytest.raises(PoolError, match="there is no model"):
        list(run(CannotStart(), range(2), cluster, workers=1))
    with pytest.raises(PoolError, match=r"no Ray cluster at 127\.0\.0\.1:1"):
        list(run(CannotStart(), range(2), "127.0.0.1:1", workers=1))

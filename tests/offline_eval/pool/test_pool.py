from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from pool_work import CannotStart, DiesAtStart, Lingers, Squares

from assay.offline_eval.pool.interface import PoolError
from assay.offline_eval.pool.pool import run


def workers_of(folder: Path) -> list[int]:
    return [int(path.name.removeprefix("worker-")) for path in folder.glob("worker-*")]


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return not Path(f"/proc/{pid}/stat").exists() or Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


def all_end(pids: list[int], within_s: float = 10) -> bool:
    until = time.monotonic() + within_s
    while any(map(is_alive, pids)):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


def test_every_item_is_answered_and_the_workers_end(tmp_path: Path) -> None:
    found = {each.item: each.answer for each in run(Squares(tmp_path), range(20), 2)}
    assert found == {n: n * n for n in range(20)}
    assert len(workers_of(tmp_path)) == 2
    assert all_end(workers_of(tmp_path))


def test_the_item_of_a_worker_that_is_killed_is_tried_again_and_one_that_kills_every_worker_is_lost(tmp_path: Path) -> None:
    start = Squares(tmp_path, dies_once=frozenset({3}), dies_always=frozenset({2}))
    found = {each.item: each for each in run(start, range(5), 2)}
    assert [n for n in found if found[n].answer != n * n] == [2]
    assert found[2].lost == "its worker died: killed by SIGKILL (out of memory?) (3 times)"
    assert len(list(tmp_path.glob("2-*"))) == 3


def test_a_worker_imports_nothing_of_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tmp_path / "project"
    project.mkdir()
    for name in ("multiprocessing", "runpy", "json"):
        (project / f"{name}.py").write_text(f"open({str(tmp_path / 'imported')!r}, 'a').write({name!r})\n")
    monkeypatch.chdir(project)
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    assert [each.answer for each in run(Squares(tmp_path), range(2), 1)] == [0, 1]
    assert not (tmp_path / "imported").exists()
    assert "PYTHONSAFEPATH" not in os.environ


def test_an_exception_is_the_items_and_names_its_place(tmp_path: Path) -> None:
    found = {each.item: each for each in run(Squares(tmp_path, raises=frozenset({1})), range(3), 1)}
    assert found[1].lost.startswith("ValueError: 1 is not liked (")
    assert "pool_work.py:" in found[1].lost
    assert (len(workers_of(tmp_path)), len(list(tmp_path.glob("1-*")))) == (1, 1)
    assert (found[0].answer, found[2].answer) == (0, 4)


@pytest.mark.slow
def test_a_worker_that_hangs_is_killed_and_its_item_tried_again(tmp_path: Path) -> None:
    found = {each.item: each.answer for each in run(Squares(tmp_path, hangs_once=frozenset({1})), range(4), 2, max_item_s=2)}
    assert found == {n: n * n for n in range(4)}
    assert all_end(workers_of(tmp_path))


@pytest.mark.parametrize(("start", "said"), [(CannotStart(), "there is no model"), (DiesAtStart(), "exit code 3")])
def test_workers_that_cannot_start_end_the_run_with_the_reason(start: CannotStart | DiesAtStart, said: str) -> None:
    with pytest.raises(PoolError, match=said):
        list(run(start, range(5), 2))


@pytest.mark.skipif(sys.platform != "linux", reason="a parent's death is told by Linux alone")
def test_workers_end_when_their_parent_is_killed(tmp_path: Path) -> None:
    with parent_of_two(tmp_path, Squares(tmp_path, pause_s=30)) as parent:
        pids = workers_of(tmp_path)
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        assert all_end(pids)


def test_who_presses_ctrl_c_again_leaves_no_worker_alive(tmp_path: Path) -> None:
    with parent_of_two(tmp_path, Lingers(tmp_path, pause_s=30)) as parent:
        pids = workers_of(tmp_path)
        parent.send_signal(signal.SIGINT)
        time.sleep(0.5)
        parent.send_signal(signal.SIGINT)
        parent.wait(20)
        assert all_end(pids)


@contextmanager
def parent_of_two(folder: Path, start: Squares) -> Iterator[subprocess.Popen[bytes]]:
    """A process with two workers that are at work."""
    program = (
        f"from pathlib import Path, PosixPath; from pool_work import *; from assay.offline_eval.pool.pool import run\n"
        f"if __name__ == '__main__': list(run({start!r}, range(4), 2))\n"
    )
    (folder / "parent.py").write_text(program)
    paths = os.pathsep.join([str(Path(__file__).parents[2]), str(Path(__file__).parents[3] / ".typing")])
    command = [sys.executable, str(folder / "parent.py")]
    with subprocess.Popen(command, env={**os.environ, "PYTHONPATH": paths}, stderr=subprocess.DEVNULL) as parent:
        until = time.monotonic() + 60
        while len(list(folder.glob("?-0"))) < 2 and time.monotonic() < until:
            time.sleep(0.05)
        try:
            assert len(workers_of(folder)) == 2
            yield parent
        finally:
            for pid in [parent.pid, *workers_of(folder)]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.server.outcomes import Ending, Outcome, Spent
from assay.server.request_log import RequestLog, percentile

from .test_outcomes import BARE, shown

WRITER = """
import sys
from dataclasses import replace
from pathlib import Path
from tests.server.test_outcomes import BARE
from assay.server.request_log import RequestLog
log = RequestLog(Path(sys.argv[1]))
for n in range(300):
    log.add(replace(BARE, id=f"{sys.argv[2]}{n:011}"))
log.close()
"""

# The disk fills up in the middle of a line, then there is room again.
FULL = """
import resource, sys, threading
from dataclasses import replace
from pathlib import Path
from assay.server.request_log import RequestLog
from tests.server.test_outcomes import BARE
hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
path = Path(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
told = threading.Event()
log = RequestLog(path, on_trouble=lambda _: told.set())
for n in range(9):
    log.add(replace(BARE, id=f"{n:012}"))
assert told.wait(10)
resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
for n in range(9, 12):
    log.add(replace(BARE, id=f"{n:012}"))
log.close()
print(log.summary()["log"]["lost"])
"""


def lines_of(path: Path) -> list[str]:
    return [json.loads(line)["id"] for line in path.read_text().splitlines()]


def run(script: str, *arguments: str) -> subprocess.Popen[str]:
    root = Path(__file__).parents[2]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(root), str(root / ".typing"), str(root / "tests")))}
    return subprocess.Popen([sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, text=True, env=environment, cwd=root)


def test_every_outcome_becomes_a_line_in_order_in_a_file_that_is_the_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "new" / "requests.jsonl"
    log = RequestLog(path)
    for n in range(500):
        log.add(replace(BARE, id=f"{n:012}"))
    log.close()
    log.close()
    assert lines_of(path) == [f"{n:012}" for n in range(500)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_is_there_is_kept_and_a_file_that_is_moved_away_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    for number, old in enumerate(("a", "b")):
        log = RequestLog(path)
        log.add(replace(BARE, id=old))
        log.close()
        assert lines_of(path) == ["a", "b"][: number + 1]
    path.rename(tmp_path / "requests.1")
    log = RequestLog(path)
    log.add(replace(BARE, id="c"))
    log.close()
    assert lines_of(path) == ["c"]


def test_several_processes_append_whole_lines_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    writers = [run(WRITER, str(path), name) for name in "xyz"]
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    found = lines_of(path)
    assert sorted(found) == sorted(f"{name}{n:011}" for name in "xyz" for n in range(300))
    assert [one for one in found if one.startswith("y")] == [f"y{n:011}" for n in range(300)]


def test_a_path_that_cannot_be_written_is_told_once_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    told: list[str] = []
    log = RequestLog(tmp_path / "file" / "requests.jsonl", on_trouble=told.append)
    for _ in range(5):
        log.add(BARE)
    log.close()
    log.add(BARE)
    assert len(told) == 1
    assert "can't be logged" in told[0]
    assert "Not a directory" in told[0]
    assert log.summary()["outcomes"]["empty"] == 6
    assert log.summary()["log"] == {"path": str(tmp_path / "file" / "requests.jsonl"), "lost": 6}


def test_lines_go_on_where_the_trouble_ends(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.write_text("in the way")
    told = threading.Event()
    log = RequestLog(folder / "requests.jsonl", on_trouble=lambda _: told.set())
    log.add(replace(BARE, id="lost"))
    assert told.wait(10)
    folder.unlink()
    log.add(replace(BARE, id="kept"))
    log.close()
    assert lines_of(folder / "requests.jsonl") == ["kept"]
    assert log.summary()["log"]["lost"] == 1


def test_a_pipe_that_nobody_reads_does_not_hold_the_log(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    told: list[str] = []
    log = RequestLog(pipe, on_trouble=told.append)
    log.add(BARE)
    log.close(10)
    assert len(told) == 1


def test_a_line_torn_by_a_full_disk_spoils_no_other(tmp_path: Path) -> None:
    path = tmp_path / "requests.jsonl"
    writer = run(FULL, str(path))
    lost = int(writer.communicate(timeout=60)[0])
    assert writer.returncode == 0
    whole, torn = [], []
    for line in path.read_text().splitlines():
        try:
            whole.append(json.loads(line)["id"])
        except ValueError:
            torn.append(line)
    assert len(torn) == 1
    assert whole[-3:] == [f"{n:012}" for n in range(9, 12)]
    assert len(whole) + lost == 12


def test_a_disk_that_hangs_costs_lines_and_no_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.server.request_log._PENDING", 100)
    (tmp_path / "file").write_text("")
    hangs, goes_on = threading.Event(), threading.Event()

    def hang(_: str) -> None:
        hangs.set()
        goes_on.wait(30)

    log = RequestLog(tmp_path / "file" / "requests.jsonl", on_trouble=hang)
    log.add(BARE)
    assert hangs.wait(10)
    for _ in range(250):
        log.add(BARE)
    assert log.summary()["log"]["lost"] == 1 + 150
    goes_on.set()
    log.close()


def test_a_callback_whose_loop_is_closed_does_not_end_the_log(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    def closed(_: str) -> None:
        raise RuntimeError("Event loop is closed")

    log = RequestLog(tmp_path / "file" / "requests.jsonl", on_trouble=closed)
    log.add(BARE)
    log.add(BARE)
    log.close()
    assert log.summary()["log"]["lost"] == 2


def test_without_a_path_there_is_no_file_and_no_thread() -> None:
    before = threading.active_count()
    log = RequestLog()
    log.add(BARE)
    assert threading.active_count() == before
    log.close()
    assert log.summary()["log"] is None


def test_the_summary_counts_all_and_times_what_was_shown_of_the_latest() -> None:
    log = RequestLog(kept=20)
    endings: list[Outcome] = [shown(spent=Spent(float(ms))) for ms in range(1, 101)]
    for outcome in (*endings, replace(BARE, ending=Ending.CANCELLED, spent=Spent(1e6))):
        log.add(outcome)
    summary = log.summary()
    assert summary["outcomes"] == {ending.value: {"produced": 100, "cancelled": 1}.get(ending.value, 0) for ending in Ending}
    assert summary["shown_ms"] == {"n": 19, "p50": 91.0, "p95": 100.0}
    assert RequestLog().summary()["shown_ms"] == {"n": 0, "p50": None, "p95": None}


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_a_percentile_is_the_least_value_that_so_many_do_not_exceed(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
    assert all(sum(value <= lower for value in values) < share * len(values) + 1e-9 for lower in values if lower < found)

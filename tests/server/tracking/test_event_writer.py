from __future__ import annotations

import sqlite3
import stat
import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from synthetic_events import new

from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import EventsDropped, RetentionChecked, ShowingSeen, TextLogged
from assay.server.tracking import event_writer
from assay.server.tracking.event_writer import EventWriter, LogTarget

from ..logged import bytes_of, events_of

DAY_MS = 86_400_000


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.sqlite3"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_writer, "_RETRY_S", 0.02)
    monkeypatch.setattr(event_writer, "_COLLECT_S", 0.01)


def wait_for(path: Path, count: int) -> list[object]:
    """The events of a log, as soon as there are so many."""
    deadline = time.monotonic() + 30
    while len(found := events_of(path) if path.parent.is_dir() else []) < count:
        assert time.monotonic() < deadline, found
        time.sleep(0.01)
    return list(found)


def test_every_event_becomes_a_row_in_order_with_the_server_the_time_and_what_it_is_about(path: Path) -> None:
    before = time.time_ns() // 1_000_000
    writer = EventWriter(LogTarget(path), server="0123456789ab")
    for n in range(500):
        writer.add(RetentionChecked(after_s=n, share=None), f"showing {n}")
    writer.close(60)
    writer.close(60)
    with EventLog(path) as log:
        rows = list(log.rows())
    assert [(row.showing, row.event) for row in rows] == [(f"showing {n}", RetentionChecked(after_s=n, share=None)) for n in range(500)]
    assert {row.server for row in rows} == {"0123456789ab"}
    assert before <= rows[0].time_ms <= rows[-1].time_ms <= time.time_ns() // 1_000_000
    assert (writer.dropped, writer.trouble) == (0, None)


def test_the_users_own_log_is_made_with_its_folder_for_the_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "share" / "assay"))
    writer = EventWriter(LogTarget())
    writer.add(ShowingSeen(by="client"))
    writer.close(60)
    assert writer.path == tmp_path / "share" / "assay" / "events.sqlite3"
    assert stat.S_IMODE(writer.path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(writer.path.stat().st_mode) == 0o600


def test_a_named_folder_is_not_made_and_nothing_is_lost_when_it_is_there(tmp_path: Path, impatient: None) -> None:
    path, told, heard = tmp_path / "mistyped" / "events.sqlite3", list[str](), threading.Event()

    def tell(message: str) -> None:
        told.append(message)
        heard.set()

    writer = EventWriter(LogTarget(path), on_trouble=tell)
    writer.add(ShowingSeen(by="client"))
    assert heard.wait(10)
    assert told == [f"{path}: there is no folder {path.parent}"] == [writer.trouble]
    assert not path.parent.exists()
    writer.add(ShowingSeen(by="inferred"))
    time.sleep(0.1)  # tries again, and does not tell again
    path.parent.mkdir()
    assert wait_for(path, 2) == [ShowingSeen(by="client"), ShowingSeen(by="inferred")]
    writer.close(60)
    assert (len(told), writer.trouble, writer.dropped) == (1, None, 0)


@pytest.mark.slow
def test_code_that_still_waits_when_it_is_not_wanted_any_more_is_let_go(tmp_path: Path) -> None:
    path, heard = tmp_path / "folder" / "log", threading.Event()
    writer = EventWriter(LogTarget(path, text=True), on_trouble=lambda _: heard.set())
    writer.add(TextLogged(what="suggested", text="SECRET"), "a")
    writer.add(ShowingSeen(by="client"), "a")
    assert heard.wait(10)
    writer.use(LogTarget(path))
    path.parent.mkdir()
    assert wait_for(path, 1) == [ShowingSeen(by="client")]
    writer.close(60)
    assert b"SECRET" not in bytes_of(path)


def test_a_log_that_is_removed_begins_anew_and_one_that_is_moved_away_is_whole_where_it_is(path: Path, tmp_path: Path) -> None:
    writer = EventWriter(LogTarget(path))
    writer.add(RetentionChecked(after_s=1, share=None))
    wait_for(path, 1)
    path.unlink()
    writer.add(RetentionChecked(after_s=2, share=None))
    assert wait_for(path, 1) == [RetentionChecked(after_s=2, share=None)]
    (tmp_path / "old").mkdir()
    path.rename(tmp_path / "old" / "log")
    writer.add(RetentionChecked(after_s=3, share=None))
    assert wait_for(path, 1) == [RetentionChecked(after_s=3, share=None)]
    writer.close(60)
    assert events_of(tmp_path / "old" / "log") == [RetentionChecked(after_s=2, share=None)]


def test_while_another_process_holds_the_log_events_wait(path: Path, impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.calibration.log.event_log._BUSY_S", 0.02)
    writer, heard = EventWriter(LogTarget(path), on_trouble=lambda _: heard.set()), threading.Event()
    writer.add(ShowingSeen(by="client"))
    wait_for(path, 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(100):
            writer.add(ShowingSeen(by="inferred"))
        assert heard.wait(10)
        assert "locked" in (writer.trouble or "")
    assert len(wait_for(path, 101)) == 101
    writer.close(60)


def test_events_that_come_too_fast_are_dropped_counted_and_logged(path: Path, monkeypatch: pytest.MonkeyPatch, impatient: None) -> None:
    monkeypatch.setattr(event_writer, "_MAX_WAITING", 100)
    hangs, goes_on = threading.Event(), threading.Event()

    def hang(_: str) -> None:
        hangs.set()
        assert goes_on.wait(30)

    path.mkdir()  # in the way
    writer = EventWriter(LogTarget(path), on_trouble=hang)
    writer.add(RetentionChecked(after_s=0, share=None))
    assert hangs.wait(10)
    for n in range(1, 250):
        writer.add(RetentionChecked(after_s=n, share=None))
    assert writer.dropped == 150
    writer.close(0.1)  # waits no longer than that
    writer.add(RetentionChecked(after_s=250, share=None))
    assert writer.dropped == 151
    path.rmdir()
    goes_on.set()
    assert wait_for(path, 101) == [*(RetentionChecked(after_s=n, share=None) for n in range(100)), EventsDropped(count=151)]


def test_it_prunes_at_its_start_and_again_while_it_runs(path: Path, impatient: None, monkeypatch: pytest.MonkeyPatch) -> None:
    now_ms = time.time_ns() // 1_000_000
    with EventLog(path, create=True) as log:
        log.append([new(EventsDropped(count=age), time_ms=now_ms - age * DAY_MS) for age in (100, 29, 31)])
    monkeypatch.setattr(event_writer, "_PRUNE_S", 0.05)
    writer = EventWriter(LogTarget(path, days=30))
    deadline = time.monotonic() + 30
    for age in (40, 50):
        while (
            EventsDropped(count=100) in (found := events_of(path)) or EventsDropped(count=31) in found or EventsDropped(count=40) in found
        ):
            assert time.monotonic() < deadline
        with EventLog(path) as log:
            log.append([new(EventsDropped(count=age), time_ms=now_ms - age * DAY_MS)])
    while len(events_of(path)) > 1:
        assert time.monotonic() < deadline
    writer.close(60)
    assert events_of(path) == [EventsDropped(count=29)]

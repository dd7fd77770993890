"""What every command of `assay logs` does with a log, and `path`, `prune` and `summary`."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from log_commands import document, run
from synthetic_events import BEGAN_MS, new, request

from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import EventsDropped


@pytest.mark.parametrize(
    "command",
    [("summary",), ("export", "--out", "s"), ("recalibrate",), ("prune",), ("forget", "--all", "--yes")],
    ids=lambda command: command[0],
)
def test_a_log_that_is_none_ends_with_2_and_its_name_and_is_left_alone(
    path: Path, command: tuple[str, ...], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent)
    assert run(*command, "--log", path) == 2
    assert capsys.readouterr().err == f"assay: {path}: there is no log of events\n"
    path.write_text("something else\n" * 100)
    assert run(*command, "--log", path) == 2
    assert capsys.readouterr().err == f"assay: {path}: it is not a log of Assay, and is left alone\n"
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_the_path_is_that_of_the_users_own_log_or_the_one_that_is_named(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("path") == 0
    assert capsys.readouterr().out == f"{home / 'events.sqlite3'}\n"
    assert run("path", "--log", "x") == 0
    assert capsys.readouterr().out == "x\n"


def test_prune_keeps_to_the_days_and_the_size(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EventLog(path, create=True) as log:
        log.append([new(EventsDropped(count=1), time_ms=0)] + [new(request(f"{n}"), time_ms=2**42) for n in range(3000)])
        assert run("prune", "--log", path, "--days", "100") == 0
        assert "1 event deleted" in capsys.readouterr().err
        assert run("prune", "--log", path, "--megabytes", "1") == 0
        assert log.size <= 2**20


def test_a_command_leaves_the_log_to_its_owner(logged: Path) -> None:
    before = os.umask(0)
    try:
        assert run("prune", "--log", logged) == 0
    finally:
        os.umask(before)
    assert logged.stat().st_mode & 0o777 == 0o600


def test_the_summary_says_what_became_of_suggestions_and_what_it_passed_over(logged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(sqlite3.connect(logged, isolation_level=None)) as db:
        db.execute("INSERT INTO events (time_ms, server, kind, body) VALUES (1, 'a', 'invented', '{}')")
        db.execute("INSERT INTO events (time_ms, server, kind, body) VALUES (1, 'a', 'shown', '{')")
    assert run("summary", "--log", logged) == 0
    said = capsys.readouterr()
    assert "suggestions that were seen: 400: 300 accepted, 100 ignored" in said.out
    assert " of 300 that are known\n" in said.out
    assert "skipped 1 event of a kind that this version of Assay does not know" in said.err
    assert "skipped 1 event that can't be read" in said.err
    assert run("summary", "--log", logged, "--json", "--days", "1") == 0
    found = document(capsys)
    assert (found["all"]["showings"], found["all"]["labelled"], found["at_s"]) == (400, 300, 300)
    assert found["reliability"][0]["n"] == 300
    assert found["passed_over"] == {}


def test_the_summary_of_an_empty_log_and_of_old_events(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EventLog(path, create=True) as log:
        assert run("summary", "--log", path) == 0
        log.append([new(EventsDropped(count=3), time_ms=BEGAN_MS)])
    assert run("summary", "--log", path) == 0
    assert "dropped: 3 events" in capsys.readouterr().out
    assert run("summary", "--log", path, "--days", "1", "--json") == 0
    assert document(capsys)["events"] == 0
    assert run("summary", "--log", path, "--days", 10**30, "--json") == 0  # before the first time that SQLite knows
    assert document(capsys)["events"] > 0

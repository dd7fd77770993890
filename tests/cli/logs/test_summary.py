"""`assay logs summary`."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from log_commands import document, run
from synthetic_events import BEGAN_MS, new

from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import EventsDropped


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
    assert run("prune", "--log", path, "--days", 10**30) == 0
    assert "0 events deleted" in capsys.readouterr().err

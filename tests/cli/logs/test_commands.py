from __future__ import annotations

import io
import json
import os
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from synthetic_events import BEGAN_MS, life, lives, new, request
from synthetic_samples import MODEL, PROMPT

from assay.calibration.calibrator import load
from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import EventsDropped, ShowingSeen, TextLogged, hash_of
from assay.calibration.registry import Purpose, choose, load_registry
from assay.calibration.samples import read_samples
from assay.cli.main import main
from assay.server.tracking.event_writer import EventWriter, LogTarget

CODE = "SECRET = 1"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "events.sqlite3"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def logged(path: Path) -> Path:
    """400 showings, of which 300 have a label, as the real writer leaves them."""
    writer = EventWriter(LogTarget(path))
    for each in lives(400):
        for showing, event in each:
            writer.add(event, showing)
    writer.close(60)
    return path


def run(*arguments: str | Path) -> int:
    return main(["logs", *map(str, arguments)])


def document(capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_what_the_log_says_becomes_a_calibrator_and_the_alarm_watches_it(
    logged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples, calibrator = tmp_path / "samples.jsonl", tmp_path / "kept.json"
    assert run("export", "--log", logged, "--out", samples) == 0
    assert "line of the model 0123456789abcdef, prompt fedcba9876543210: 400 samples, 300 with a label, " in capsys.readouterr().err
    found = read_samples(samples)
    assert [sample.labels["kept"] is None for sample in found] == [n % 4 == 0 for n in range(400)]
    assert main(["calibrate", "fit", str(samples), "--event", "kept", "--out", str(calibrator)]) == 0
    made = load(calibrator)
    assert (made.event, made.task, made.status) == ("kept", "line", "informative")
    assert (made.fitted_on.n, made.fitted_on.grouped_by, made.fitted_on.groups) == (300, "project", 12)
    capsys.readouterr()
    assert main(["calibrate", "drift", str(calibrator), str(samples), "--exit-code"]) == 0
    assert "watched 300 samples for P(kept)" in capsys.readouterr().err


def test_export_takes_another_time_and_only_what_was_asked_for(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EventLog(path, create=True) as log:
        for n, task in enumerate(("line", "line_rest", "line")):
            log.append([new(event, showing) for showing, event in life(f"{n}", kept=True, task=task)])
    assert run("export", "--log", path, "--out", tmp_path / "s", "--json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["kinds"] == [
        {"task": "line", "model": MODEL, "prompt": PROMPT, "samples": 2, "labelled": 2, "positives": 2},
        {"task": "line_rest", "model": MODEL, "prompt": PROMPT, "samples": 1, "labelled": 1, "positives": 1},
    ]
    assert "--task" in said.err
    assert run("export", "--log", path, "--out", tmp_path / "s", "--task", "line", "--model", MODEL, "--at", "600") == 0
    assert [sample.id for sample in read_samples(tmp_path / "s")] == ["0", "2"]
    assert run("export", "--log", path, "--out", tmp_path / "s", "--prompt", "0" * 16) == 0
    assert read_samples(tmp_path / "s") == []
    with pytest.raises(SystemExit, match="2"):
        run("export", "--log", path, "--out", tmp_path / "s", "--at", "301")


def test_samples_are_never_written_over_a_log(logged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = logged.read_bytes()
    assert run("export", "--log", logged, "--out", logged) == 2
    assert "is left alone" in capsys.readouterr().err
    assert logged.read_bytes() == before


def test_recalibrate_writes_where_servers_look_and_says_why_others_are_refused(
    logged: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with EventLog(logged) as log:
        for n in range(30):
            log.append([new(event, showing) for showing, event in life(f"rest {n}", kept=n > 2, task="line_rest")])
        log.append([new(event, showing) for showing, event in life("other", kept=True, model="f" * 16)])
    assert run("recalibrate", "--log", logged, "--dry-run", "--json") == 0
    assert document(capsys)["dry_run"]
    assert not home.exists()
    assert run("recalibrate", "--log", logged, "--json") == 0
    out, told = capsys.readouterr()
    said = json.loads(out)
    assert "line_rest of the model 0123456789abcdef: 30 shown, for 30 it is known whether they were kept (27 were): no calibrator" in told
    assert "where the setting assay.event is kept" in told
    (written,) = said["written"]
    assert (written["task"], written["event"], written["n"], written["status"]) == ("line", "kept", 300, "informative")
    assert written["skill"]["low"] > 0
    reasons = {(each["task"], each["model"]): each["reason"] for each in said["refused"]}
    assert "at least 25 with 5 of each" in reasons["line_rest", MODEL]
    assert "at least two" in reasons["line", "f" * 16]
    assert Path(written["path"]).parent == home / "calibrators"
    assert [file.name for file in (home / "calibrators").iterdir()] == ["kept-line-01234567-fedcba98.json"]
    chosen = choose(load_registry(), Purpose(MODEL, PROMPT, "kept", "line", "python"))
    assert chosen is not None
    assert (chosen.origin, chosen.calibrator.id) == ("user", written["id"])


def test_recalibrate_of_a_log_without_suggestions_writes_nothing_and_says_so(
    path: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    EventLog(path, create=True).close()
    assert run("recalibrate", "--log", path) == 0
    assert "no suggestion that was shown" in capsys.readouterr().err
    with EventLog(path) as log:
        log.append([new(event, showing) for showing, event in life("unmeasured", kept=True, measures={})])
    assert run("recalibrate", "--log", path) == 0
    told = capsys.readouterr().err
    assert "left out: 1 without measures" in told
    assert "all that was shown is left out" in told
    assert not home.exists()


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
    assert capsys.readouterr().err == f"assay: {path}: it is no log of Assay's, and is left alone\n"
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_samples_that_can_not_be_written_end_with_1(logged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert run("export", "--log", logged, "--out", tmp_path / "file" / "s.jsonl") == 1
    assert "can't be read or written" in capsys.readouterr().err


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


@pytest.mark.parametrize("name", ["plain.py", "with space.py", "+page(1)@x.svelte", "ünï.py", "100%.py"])
@pytest.mark.parametrize("unquoted", ["/", "/!$&'()*+,;=:@", None])
def test_all_about_a_document_is_forgotten_by_its_path_however_an_editor_writes_it(
    tmp_path: Path, name: str, unquoted: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from urllib.parse import quote

    path, document = tmp_path / "log", tmp_path / name
    uri = f"file://{document if unquoted is None else quote(str(document), safe=unquoted)}"
    with EventLog(path, create=True) as log:
        log.append([new(event, showing) for showing, event in life("mine", kept=True, document=hash_of(uri))])
        log.append([new(event, showing) for showing, event in life("other", kept=True)])
        monkeypatch.chdir(tmp_path)
        assert run("forget", "--log", path, "--document", f"not {name}", "--yes") == 1
        assert "nothing was deleted: no event" in capsys.readouterr().err
        assert run("forget", "--log", path, "--document", name, "--yes") == 0
        assert {row.showing for row in log.rows()} == {None, "other"}
        assert run("forget", "--log", path, "--document", "file:///project/a.py", "--yes") == 0
        assert list(log.rows()) == []


def test_what_is_forgotten_is_gone_from_the_file_and_only_after_yes(
    path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with EventLog(path, create=True) as log:
        log.append([new(TextLogged(what="suggested", text=CODE), "a"), new(ShowingSeen(by="client"), "a", 2 * BEGAN_MS)])

    def answers(answer: str) -> int:
        monkeypatch.setattr("sys.stdin", Terminal(answer))
        return run("forget", "--log", path, "--text")

    assert answers("") == answers("no\n") == 1
    assert "Delete all code from " in capsys.readouterr().err
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    assert run("forget", "--log", path, "--text") == 1  # nobody to ask
    assert "--yes" in capsys.readouterr().err
    assert CODE.encode() in path.read_bytes()
    assert answers("y\n") == 0
    assert CODE.encode() not in path.read_bytes()
    assert run("forget", "--log", path, "--before", datetime.fromtimestamp(BEGAN_MS / 500).isoformat(), "--yes") == 0
    with EventLog(path) as log:
        assert [row.event for row in log.rows()] == [ShowingSeen(by="client")]
        assert run("forget", "--log", path, "--all", "--yes") == 0
        assert list(log.rows()) == []


def test_what_a_reader_kept_from_going_goes_when_it_is_forgotten_again(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("assay.calibration.log.event_log._BUSY_S", 0.2)
    with EventLog(path, create=True) as log:  # a server that runs
        log.append([new(event, name) for name, event in life("a", kept=True, document=hash_of("file:///a.py"))])
        log.append([new(TextLogged(what="suggested", text=CODE), "a")])
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM events").fetchone()
            assert run("forget", "--log", path, "--document", "file:///a.py", "--yes") == 1
            assert "then run this again" in capsys.readouterr().err
        assert run("forget", "--log", path, "--document", "file:///a.py", "--yes") == 1
        assert "nothing was deleted" in capsys.readouterr().err
        assert not any(CODE.encode() in file.read_bytes() for file in path.parent.iterdir())


def test_forget_wants_to_be_told_what(path: Path) -> None:
    for wrong in ((), ("--all", "--text"), ("--before", "yesterday")):
        with pytest.raises(SystemExit, match="2"):
            run("forget", "--log", path, *wrong)


def test_a_command_leaves_the_log_to_its_owner(logged: Path) -> None:
    before = os.umask(0)
    try:
        assert run("prune", "--log", logged) == 0
    finally:
        os.umask(before)
    assert logged.stat().st_mode & 0o777 == 0o600

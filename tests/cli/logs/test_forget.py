"""`assay logs forget`."""

from __future__ import annotations

import io
import sqlite3
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from log_commands import run
from synthetic_events import BEGAN_MS, life, new

from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import ShowingSeen, TextLogged, hash_of

CODE = "SECRET = 1"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


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

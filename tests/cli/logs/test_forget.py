"""`assay logs forget`."""

from __future__ import annotations

import io
import re
import sqlite3
import unicodedata
from contextlib import closing
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

import pytest
from log_commands import run
from synthetic_events import BEGAN_MS, life, new

from assay.calibration.log.event_log import EventLog
from assay.calibration.log.events import ShowingSeen, TextLogged, hash_of
from assay.cli.logs.forget import uris_of

CODE = "SECRET = 1"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("name", ["+page(1)@x.svelte", "ünï 100%.py"])
@pytest.mark.parametrize("unquoted", ["/", "/!$&'()*+,;=:@", None])
def test_all_about_a_document_is_forgotten_by_its_path_however_an_editor_writes_it(
    tmp_path: Path, name: str, unquoted: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
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


EDITORS = ("file://{quoted}", "file://{raw}", "file://{small}")


@pytest.mark.parametrize("by_link", [False, True])
@pytest.mark.parametrize("editor", EDITORS)
def test_a_document_is_forgotten_by_any_spelling(tmp_path: Path, editor: str, by_link: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "real" / "größe [1].py").touch()
    opened = tmp_path / ("link" if by_link else "real") / "größe [1].py"
    quoted = quote(str(opened))
    logged = editor.format(quoted=quoted, raw=opened, small=re.sub("%..", lambda found: found[0].lower(), quoted))
    monkeypatch.chdir(opened.parent)
    monkeypatch.setenv("PWD", str(opened.parent))  # as a shell has it
    spellings = [
        str(opened), f"{opened}/", f" {opened} ", f"{opened}:12:5", "größe [1].py", "./größe [1].py", "../real/../link/größe [1].py",
        opened.as_uri(), f"file:{quoted}", f"file://localhost{quoted}", f"FILE://{quoted}#L3", f"file://{opened.parent}/./größe%20[1].py",
        unicodedata.normalize("NFD", str(opened)),
    ]  # fmt: skip
    if not by_link:
        spellings += [str(tmp_path / "link" / "größe [1].py")]
    else:
        spellings.remove("../real/../link/größe [1].py")
    for spelling in spellings:
        assert logged in uris_of(spelling), spelling
    assert logged not in uris_of("größe.py") | uris_of(str(opened.parent)) | uris_of("file:///größe [1].py")


@pytest.mark.parametrize("logged", ["file:///c%3A/a%20b.py", "file:///C:/a%20b.py", "file:///c:/a b.py"])
def test_a_drive_of_windows_is_forgotten_in_either_case_and_quoted_or_not(logged: str) -> None:
    for spelling in ("C:\\a b.py", "c:/a b.py", "C:/x/../a b.py", "file:///C:/a%20b.py", "file:///c%3a/a%20b.py"):
        assert logged in uris_of(spelling), spelling


def test_a_place_in_a_file_of_the_folder_is_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for place in ("main.py:12", "./main.py:12:3"):
        assert (tmp_path / "main.py").as_uri() in uris_of(place)


def test_an_address_of_no_file_is_a_mistake_of_usage(capsys: pytest.CaptureFixture[str], path: Path) -> None:
    with EventLog(path, create=True):
        pass
    assert run("forget", "--log", path, "--document", "file:///a%00b", "--yes") == 2
    assert "no file has a null character" in capsys.readouterr().err


def test_what_is_no_file_is_forgotten_by_its_address() -> None:
    assert "untitled:Untitled-1" in uris_of("untitled:Untitled-1")
    assert "vscode-notebook-cell:/a%20b.ipynb" in uris_of("vscode-notebook-cell:/a b.ipynb")
    assert "file:///a%FF%20b.py" in uris_of("file:///a\udcff b.py")


def test_forgotten_is_gone_from_the_file_after_yes(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_forgetting_again_removes_what_readers_kept(
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

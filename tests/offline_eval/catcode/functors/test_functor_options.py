"""What a run of translations can't be asked for: each is said in a line that tells what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import main

from .functor_server import written


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "translate"], "--set translate needs programs with tests: --data names files of HumanEval"),
        (["--set", "translate", "--data", "nowhere"], "nowhere: can't be read: No such file"),
        (["--set", "translate", "--data", "notes.txt"], "notes.txt, line 1: a record is a JSON object"),
        (["--set", "explain", "--data", "x", "--to", "python"], "--to does nothing for --set explain, but for --set translate"),
        (["--set", "explain", "--data", "x", "--votes", "3"], "--votes does nothing for --set explain"),
        (["--set", "translate", "--data", "x", "--steps", "describe"], "--set translate has no step describe (there are sources, write"),
        (["--set", "translate", "--data", "x", "--recorded", "x", "--draws", "2"], "with --recorded no model is asked: leave --draws"),
        (["--set", "translate", "--data", "x", "--recorded", "nowhere"], "nowhere: can't be read: No such file"),
        (["--language", "java"], "--language does nothing for --set lines"),
    ],
)
def test_options_that_do_nothing_or_lack_something_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("mine", encoding="utf-8")
    assert main(["eval", "catcode", "--out", "run", *options]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert (said.err.count("\n"), said.out) == (1, "")
    assert not Path("run").exists()


def test_a_dry_run_asks_nobody_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = [str(path) for path in written(tmp_path, 2)]
    command = ["eval", "catcode", "--set", "translate", "--language", "python", "--to", "javascript", "--data", *data]
    assert main([*command, "--out", str(tmp_path / "run"), "--model", "http://127.0.0.1:1", "--dry-run"]) == 0
    said = capsys.readouterr().err
    assert "programs     at most 2 of 2 problems" in said
    assert "Translate from Python to JavaScript." in said
    assert not (tmp_path / "run").exists()

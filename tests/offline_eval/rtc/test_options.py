"""What a run of round trips can't be asked for: each is said in a line that tells what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import main


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--forward", "0"], "'0' is not a whole number of at least 1"),
        (["--steps", "judge"], "no such step: judge (there are describe, rebuild, labels)"),
        (["--projects", "flask"], "no such project in the list: flask. It has: "),
        (["--python", "nowhere"], "nowhere"),
        (["--model", "nowhere.gguf"], "nowhere.gguf: no such model file"),
        (["--out", "notes.txt"], "notes.txt is not a folder"),
        (["--out", "notes.txt", "--dry-run"], "notes.txt is not a folder"),
        (["--python", "nowhere", "--dry-run"], "nowhere"),
        (["--ray", "127.0.0.1:1", "--dry-run"], "127.0.0.1:1"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("notes.txt").write_text("mine", encoding="utf-8")
    try:
        code = main(["eval", "rtc", "--out", "run", *options])
    except SystemExit as ended:
        code = int(str(ended.code))
    said = capsys.readouterr()
    assert code in (1, 2)
    assert message in said.err
    assert "Traceback" not in said.err


def test_a_dry_run_says_what_would_be_asked_and_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert main(["eval", "rtc", "--out", "run", "--projects", "toolz", "--per-project", "2", "--dry-run"]) == 0
    said = capsys.readouterr().err
    assert "calls        6 descriptions, " in said
    assert list(tmp_path.iterdir()) == []

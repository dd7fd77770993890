"""What every command of `assay logs` does with a log."""

from __future__ import annotations

from pathlib import Path

import pytest
from log_commands import run


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

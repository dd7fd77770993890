"""What a run can't be asked for: each is said in a line that tells what to do."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from tiny_gguf import write_tiny_gguf

from assay.cli.main import main


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "nowhere"], "no such set: nowhere"),
        (["--projects", "flask"], "no such project in the list: flask. It has: arrow"),
        (["--tasks", "line_middle"], "no such task: line_middle (there are line, line_rest)"),
        (["--steps", "execute"], "--set lines has no step execute"),
        (["--temperature", "0"], "'0' is not a number above 0"),
        (["--temperature", "nan"], "'nan' is not a number above 0"),
        (["--draws", "0"], "'0' is not a whole number of at least 1"),
        (["--python", "nowhere"], "nowhere: no such program"),
        (["--set", ".", "--repairs", "5"], "--repairs does nothing without --data"),
        (["--set", "cruxeval", "--data", "FILE", "--repairs", "5"], "--repairs does nothing for cruxeval"),
        (["--model", "TINY", "--steps", "repair"], "was not trained to mend lines, so the step repair does nothing: leave it out"),
    ],
)
def test_what_can_not_be_asked_for_is_refused_in_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    if "TINY" in options:
        options[options.index("TINY")] = str(write_tiny_gguf(tmp_path / "tiny.gguf"))
    with suppress(SystemExit):
        assert main(["eval", "counterfeit", "--out", "RUN", *options])
    assert message in capsys.readouterr().err
    assert not (tmp_path / "RUN").exists()


def test_a_run_of_another_study_is_not_gone_on_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "RUN").mkdir()
    (tmp_path / "RUN" / "run.toml").write_text(
        'schema = "assay/run/3"\nstudy = "calibration"\nmodel = "m"\nmodel_name = "m"\nprompt = "p"\nseed = 0\n'
    )
    assert main(["eval", "counterfeit", "--out", str(tmp_path / "RUN")]) != 0
    assert "holds a run that asked something else (study: calibration -> counterfeit" in capsys.readouterr().err


def test_a_dry_run_says_what_would_be_asked_and_does_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--projects", "toolz", "--per-project", "3", "--draws", "4", "--dry-run"]
    assert main(["eval", "counterfeit", "--out", str(tmp_path / "RUN"), *options]) == 0
    said = capsys.readouterr().err
    assert "places       at most 3, with line, line_rest at each" in said
    assert "draw         the shown suggestion and 4 draws at each gap: at most 30 generations" in said
    assert not (tmp_path / "RUN").exists()

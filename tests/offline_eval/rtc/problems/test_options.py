"""What a run of round trips on problems can't be asked for: each is said in a line that tells what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import main


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "humaneval"], "--set humaneval needs one file as --data: HumanEval.jsonl.gz"),
        (["--set", "humaneval", "--data", "nowhere"], "nowhere is missing. Assay brings no set with it"),
        (["--set", "humaneval", "--data", "notes.txt"], "notes.txt, line 1: no JSON"),
        (
            ["--set", "humaneval", "--data", "x", "--projects", "attrs"],
            "--projects does nothing for --set humaneval, but for --set regions: leave it out",
        ),
        (["--set", "edits", "--data", "x", "--cache", "x"], "--cache does nothing for --set edits, but for --set regions: leave it out"),
        (["--data", "x"], "--data does nothing for --set regions, but for --set humaneval, --set edits"),
        (["--recorded", "nowhere"], "nowhere: can't be read: No such file"),
        (["--recorded", "notes.txt"], "notes.txt:1: not JSON"),
        (["--recorded", "x", "--set", "humaneval"], "recorded round trips are a set of their own: leave --set out"),
        (["--recorded", "x", "--forward", "3"], "--forward does nothing for recorded round trips"),
        (["--recorded", "x", "--model", "notes.txt"], "with --recorded no model is asked: leave --model and its options out"),
    ],
)
def test_options_that_do_nothing_or_lack_something_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("mine", encoding="utf-8")
    assert main(["eval", "rtc", "--out", "run", *options]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("assay: ")
    assert message in said.err
    assert (said.err.count("\n"), said.out) == (1, "")
    assert not Path("run").exists()


def test_more_than_two_runs_are_compared_only_where_a_study_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from assay.offline_eval.run import SCHEMA, Run

    monkeypatch.chdir(tmp_path)
    question = {"schema": SCHEMA, "model": "m", "model_name": "", "prompt": "p", "seed": 0}
    for number, study in enumerate(("calibration", "calibration", "calibration", "rtc_problems")):
        Run.begin(tmp_path / str(number), {**question, "study": study, "set": "projects"})
    assert main(["eval", "report", "0", "1", "2"]) == 2
    assert "of the study calibration two runs are compared, not 3" in capsys.readouterr().err
    assert main(["eval", "report", "3", "1"]) == 2
    assert "runs of calibration and rtc_problems ask different things: name runs of one study" in capsys.readouterr().err

"""What a run can't be asked for: each is said in a line that tells what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import main


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "humaneval"], "--set humaneval needs --data: HumanEval.jsonl.gz or HumanEvalPlus.jsonl.gz, of the project openai/"),
        (["--set", "humaneval", "--data", "nowhere"], "nowhere is missing. Assay brings no set with it"),
        (["--set", "humaneval", "--data", "notes.txt"], "notes.txt, line 1: no JSON"),
        (["--set", "quixbugs", "--data", "notes.txt"], "python_programs is missing"),
        (
            ["--set", "humaneval", "--data", "x", "--arms", "docstring"],
            "--arms does nothing for a set of problems, but for --set",
        ),
        (["--set", "humaneval", "--data", "x", "--per-project", "3"], "--per-project does nothing for a set of problems"),
        (["--set", "humaneval", "--data", "x", "--python", "x"], "--python does nothing for a set of problems, but for --set suites"),
        (["--python", "x"], "--python does nothing for --set projects, but for --set suites, --set bugs: leave it out"),
        (
            ["--set", "bugs", "--tasks", "line"],
            "--tasks does nothing for --set bugs, but for --set projects, --set suites, --set packages, --code",
        ),
        (["--set", "bugs", "--data", "x"], "--data is of a set of problems: name one with --set"),
        (["--set", "bugs", "--recorded", "x"], "--recorded is of a set of problems: name one with --set"),
        (["--set", "bugs", "--projects", "flask"], "no such project in the list: flask. It has: arrow"),
        (["--code", ".", "--set", "suites"], "--code is of your own folders, instead of a set: leave --set, --data and --recorded out"),
        (["--code", "nowhere"], "nowhere is not a folder; --code takes the folder of each project"),
        (["--code", ".", "--projects", "attrs"], "--projects does nothing for --code, but for --set projects"),
        (["--code", ".", "--arms", "no_docstring"], "the arm no_docstring takes the docstrings of Python away"),
        (["--set", "packages", "--steps", "labels"], "--set packages has no step labels"),
        (["--set", "packages", "--projects", "left-pad"], "no such package in the list: left-pad. It has: @react-native-firebase/app"),
        (["--languages", "go"], "--languages does nothing for --set projects, but for --set packages, --code: leave it out"),
        (["--data", "x"], "--data is of a set of problems: name one with --set"),
        (["--recorded", "x"], "--recorded is of a set of problems: name one with --set"),
        (["--set", "suites", "--recorded", "x"], "--recorded is of a set of problems: name one with --set"),
        (["--steps", "labels"], "--set projects has no step labels"),
        (["--set", "defects4j", "--data", "x", "--steps", "labels"], "--set defects4j has no step labels"),
        (["--set", "cruxeval", "--data", "x"], "--set cruxeval is for recorded answers: name their files with --recorded"),
        (["--set", "cruxeval", "--recorded", "x"], "--set cruxeval needs --data: data/cruxeval.jsonl"),
        (["--set", "answers", "--recorded", "x"], "x: can't be read: No such file"),
        (["--set", "answers", "--recorded", "notes.txt"], "notes.txt:1: not JSON"),
        (
            ["--set", "answers", "--recorded", "x", "--model", "TINY"],
            "with --recorded no model is asked: leave --model",
        ),
        (["--set", "answers", "--recorded", "x", "--workers", "2"], "--workers does nothing for recorded answers with labels"),
        (["--set", "mbpp", "--data", "x", "--recorded", "x", "--reflective"], "--reflective does nothing for recorded programs"),
        (["--set", "mbpp", "--data", "x", "--recorded", "x", "--memory", "off"], "--memory does nothing for recorded programs"),
        (["--set", "quixbugs", "--data", "x", "--recorded", "x"], "recorded answers to quixbugs are not run: leave --data out"),
    ],
)
def test_options_that_do_nothing_or_lack_something_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("mine", encoding="utf-8")
    assert main(["eval", "calibration", "--out", "run", *options]) == 2
    said = capsys.readouterr()
    assert said.err.startswith("assay: ")
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--ray", "127.0.0.1:1"], "127.0.0.1:1"),
        (["--out", "/dev/null/run"], "/dev/null is not a folder"),
        (["--set", "suites", "--python", "/nowhere/python"], "/nowhere/python"),
    ],
)
def test_a_dry_run_refuses_what_the_run_could_not_use(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: list[str], said: str
) -> None:
    assert main(["eval", "calibration", "--out", str(tmp_path / "run"), *given, "--dry-run"]) != 0
    told = capsys.readouterr()
    assert said in told.err
    assert not told.out

"""What a run can't be asked for: each is said in a line that tells what to do; and what a dry run says of what can."""

from __future__ import annotations

import argparse
from importlib import import_module
from pathlib import Path

import pytest
from tiny_gguf import write_tiny_gguf

from assay import offline_eval
from assay.cli.main import main
from assay.offline_eval.command import STUDIES, commands, study_of
from assay.offline_eval.errors import StudyError
from assay.offline_eval.run import SCHEMA, Run
from assay.offline_eval.sets.projects import Project

from .catcode.functors.functor_server import written


def test_every_folder_of_a_study_is_registered_and_stands_on_the_command_line() -> None:
    folders = {path.parent.name for path in Path(str(offline_eval.__file__)).parent.glob("*/command.py")}
    assert {module.partition(".")[0] for module in STUDIES.values()} == folders
    found = [command for group in ("eval", "calibrate") for command in commands(group)]
    assert {(command.group, command.name) for command in found} == {
        ("eval", "all"),
        ("eval", "calibration"),
        ("eval", "catcode"),
        ("eval", "counterfeit"),
        ("eval", "repairs"),
        ("eval", "rtc"),
        ("calibrate", "model"),
        ("calibrate", "repo"),
    }
    for command in found:
        parser = argparse.ArgumentParser()
        command.add_arguments(parser)
        assert "--out" in parser.format_help()


def test_a_run_finds_its_study_by_the_name_that_it_was_begun_with(tmp_path: Path) -> None:
    for name, module in STUDIES.items():
        question = {"schema": SCHEMA, "study": name, "model": "m", "model_name": "", "prompt": "p", "seed": 0}
        study = study_of(Run.begin(tmp_path / name, question))
        module, _, named = module.partition(":")
        assert study is getattr(import_module(f"assay.offline_eval.{module}"), named or "STUDY")
        assert study.name == name


# What all studies share is refused for one of them.
_CALIBRATION = [
    (["--out", "notes.txt"], "notes.txt is not a folder"),
    (["--out", "/dev/null/run", "--dry-run"], "/dev/null is not a folder"),
    (["--ray", "127.0.0.1:1", "--dry-run"], "127.0.0.1:1"),
    (["--set", "bugs", "--projects", "flask"], "no such project in the list: flask. It has: arrow"),
    (["--set", "suites", "--python", "/nowhere/python", "--dry-run"], "/nowhere/python"),
    (["--set", "humaneval"], "--set humaneval needs --data: HumanEval.jsonl.gz or HumanEvalPlus.jsonl.gz, of the project openai/"),
    (["--set", "humaneval", "--data", "nowhere"], "nowhere is missing. Assay brings no set with it"),
    (["--set", "humaneval", "--data", "x", "--python", "x"], "--python does nothing for a set of problems, but for --set suites"),
    (["--set", "bugs", "--data", "x"], "--data is of a set of problems: name one with --set"),
    (["--steps", "labels"], "--set projects has no step labels"),
    (["--code", ".", "--set", "suites"], "--code is of your own folders, instead of a set: leave --set out"),
    (["--code", "nowhere"], "nowhere is not a folder; --code takes the folder of each project"),
    (["--code", ".", "--arms", "no_docstring"], "the arm no_docstring takes the docstrings of Python away"),
]

_CATCODE = [
    (["--of", "truth,lies"], "no such code: lies (there are truth, suggestion)"),
    (["--per-project", "0"], "'0' is not a whole number of at least 1"),
    (["--set", "translate"], "--set translate needs programs with tests: --data names files of HumanEval"),
    (["--set", "translate", "--data", "notes.txt"], "notes.txt, line 1: a record is a JSON object"),
    (["--set", "explain", "--data", "x", "--to", "python"], "--to does nothing for --set explain, but for --set translate"),
    (["--task", "line_rest"], "--task does nothing for --set lines"),
]

_COUNTERFEIT = [
    (["--set", "nowhere"], "no such set: nowhere"),
    (["--tasks", "line_middle"], "line_middle is for --code alone"),
    (["--temperature", "nan"], "'nan' is not a number above 0"),
    (["--set", ".", "--repairs", "5"], "--repairs does nothing without --data"),
    (["--set", "cruxeval", "--data", "FILE", "--repairs", "5"], "--repairs does nothing for cruxeval"),
    (["--model", "TINY", "--steps", "repair"], "was not trained to mend lines, so the step repair does nothing: leave it out"),
]

_REPAIRS = [
    (["--model", "nowhere.gguf"], "nowhere.gguf: no such model file"),
    (["--set", "quixbugs"], "--set quixbugs needs --data"),
    (["--set", "quixbugs", "--data", "x", "--per-project", "3"], "--per-project does nothing for --set quixbugs"),
]

_RTC = [
    (["--set", "humaneval"], "--set humaneval needs one file as --data: HumanEval.jsonl.gz"),
    (["--set", "humaneval", "--data", "nowhere"], "nowhere is missing. Assay brings no set with it"),
    (["--set", "humaneval", "--data", "notes.txt"], "notes.txt, line 1: no JSON"),
    (["--recorded", "notes.txt"], "notes.txt:1: not JSON"),
    (["--recorded", "x", "--set", "humaneval"], "recorded round trips are a set of their own: leave --set out"),
]

_REFUSED = [
    *(("calibration", *case) for case in _CALIBRATION),
    *(("catcode", *case) for case in _CATCODE),
    *(("counterfeit", *case) for case in _COUNTERFEIT),
    *(("repairs", *case) for case in _REPAIRS),
    *(("rtc", *case) for case in _RTC),
]


@pytest.mark.parametrize(("study", "options", "message"), _REFUSED)
def test_what_does_nothing_or_lacks_something_is_refused_in_a_line_that_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], study: str, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("notes.txt").write_text("mine", encoding="utf-8")
    options = [str(write_tiny_gguf(tmp_path / "tiny.gguf")) if option == "TINY" else option for option in options]
    try:
        code = main(["eval", study, "--out", "run", *options])
    except SystemExit as ended:
        code = int(str(ended.code))
    said = capsys.readouterr()
    assert code in (1, 2)
    *usage, last = said.err.splitlines()
    assert message in last
    assert last.startswith("assay")
    assert not usage or usage[0].startswith("usage:")
    assert not said.out
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            "catcode --projects toolz --per-project 2 --of suggestion",
            ["generations  at most 4", "new tokens   at most 256", "scored texts at most 22", "tests (this Python): build code runs"],
        ),
        (
            "catcode --set translate --language python --model http://127.0.0.1:1 --data PAIR",
            ["programs     at most 2", "2 programs of 2 problems", "Translate from Python to JavaScript."],
        ),
        (
            "counterfeit --projects toolz --per-project 3 --draws 4",
            [
                "places       at most 3",
                "tasks        line, line_rest",
                "draws        at most 30",
            ],
        ),
        (
            "rtc --projects toolz --per-project 2",
            ["descriptions 6", "pip makes an environment for each project's tests (this Python): build code runs"],
        ),
    ],
)
def test_a_dry_run_says_what_would_be_asked_and_makes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, said: list[str]
) -> None:
    (empty := tmp_path / "empty").mkdir()
    monkeypatch.chdir(empty)
    monkeypatch.setenv("XDG_CACHE_HOME", str(empty / "cache"))
    asked = [part for word in command.split() for part in (map(str, written(tmp_path, 2)) if word == "PAIR" else (word,))]
    assert main(["eval", *asked, "--out", "run", "--dry-run"]) == 0
    told = capsys.readouterr().err
    assert all(line in told for line in said)
    assert list(empty.iterdir()) == []


def test_runs_are_gone_on_with_and_compared_only_where_they_ask_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    question = {"schema": SCHEMA, "model": "m", "model_name": "", "prompt": "p", "seed": 0}
    for number, study in enumerate(("calibration", "calibration", "calibration", "rtc_problems")):
        Run.begin(tmp_path / str(number), {**question, "study": study, "set": "projects"})
    assert main(["eval", "report", "0", "1", "2"]) == 2
    assert "of the study calibration two runs are compared, not 3" in capsys.readouterr().err
    assert main(["eval", "report", "3", "1"]) == 2
    assert "runs of calibration and rtc_problems ask different things: name runs of one study" in capsys.readouterr().err
    assert main(["eval", "counterfeit", "--out", "0"]) != 0
    assert "holds a run that asked something else (model: m -> " in capsys.readouterr().err


def test_a_plan_that_must_fetch_code_says_so_before(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = []

    def fetching(project: Project, *_: object) -> None:
        said.append(capsys.readouterr().err)
        raise StudyError(f"{project.name} is fetched")

    monkeypatch.setattr("assay.offline_eval.sets.code.places_from", fetching)
    command = ["eval", "calibration", "--out", str(tmp_path / "run"), "--cache", str(tmp_path / "cache"), "--dry-run"]
    assert main([*command, "--projects", "attrs,click"]) == 1
    first = f"this plan counts the lines of the code itself, so first 2 projects must be fetched by pip into {tmp_path / 'cache'}"
    assert said[0].splitlines()[0] == first

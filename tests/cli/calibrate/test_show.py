from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from house.running import assay_here
from synthetic_samples import MODEL, PROMPT, world

from assay.calibration.calibrator import Calibrator, save
from assay.calibration.fitting.fit import fit
from assay.calibration.metrics.intervals import Interval
from assay.calibration.trust import remember
from assay.calibration.validation import table
from assay.calibration.validation.figures import figure
from assay.calibration.validation.words import MEANINGS
from assay.cli.calibrate.show import Question, show

QUESTION = Question(MODEL, {"line": PROMPT}, "exact_match", "python", "")


@pytest.fixture(scope="module")
def made() -> Calibrator:
    return fit(world(300)[0], "exact_match", resamples=50).calibrator


@pytest.fixture
def project(made: Calibrator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one calibrator of its own; the user has none."""
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "data"))
    save(made, tmp_path / "project" / ".assay" / "calibrators" / "own.json")
    remember(tmp_path / "project", trusted=True)
    return tmp_path / "project"


def test_without_a_question_the_calibrators_are_listed_with_what_they_are_worth(project: Path, made: Calibrator) -> None:
    shown = show(project)
    listed, users = shown.text.split("\nuser: ")
    assert listed.split("\n")[:2] == [f"project: {project / '.assay' / 'calibrators'}", f"  own.json  {made.id}  line"]
    assert f"because: {made.reason}" in listed
    assert users.split("\n")[0].endswith(": no calibrators")
    assert "chosen" not in shown.text
    assert shown.document.keys() == {"folders", "calibrators", "skipped"}
    assert shown.document["calibrators"][0]["evidence"]["n"] == 300


def test_the_chosen_one_is_said_with_the_reason_and_what_was_passed_over(project: Path, made: Calibrator) -> None:
    save(replace(made, task="block"), project / ".assay" / "calibrators" / "block.json")
    shown = show(project, QUESTION)
    assert f"line: project own.json ({made.fitted_on.date[:10]}, n = 300) matches and is {made.status}: {made.reason}" in shown.text
    assert "n = 300): it is for the task block, not line" in shown.text
    (choice,) = shown.document["choices"]
    assert (choice["task"], choice["chosen"]["id"]) == ("line", made.id)
    assert shown.document["asked"]["model"] == MODEL


def test_another_model_borrows_and_has_none_in_another_language_and_the_reason_is_said(project: Path) -> None:
    shown = show(project, replace(QUESTION, model="f" * 16))
    assert "line: shipped exact_match-line-any.json (" in shown.text
    assert "; borrowed from 5 models; " in shown.text
    assert shown.document["choices"][0]["chosen"]["status"] == "borrowed"
    shown = show(project, replace(QUESTION, model="f" * 16, language="ruby"))
    assert "line: no calibrator is for this model (ffffffffffffffff), only for " in shown.text or "not for Ruby" in shown.text
    assert shown.document["choices"][0]["chosen"] is None


def test_the_answer_is_on_stdout_and_the_project_is_that_of_the_current_folder(project: Path, made: Calibrator) -> None:
    (project / "src").mkdir()
    ran = assay_here("calibrate", "show", cwd=project / "src")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert made.id in ran.stdout
    document = json.loads(assay_here("calibrate", "show", "--json", "--project", project).stdout)
    assert document["calibrators"][0]["id"] == made.id


def test_why_explains_every_task_for_the_model_that_is_asked_about(project: Path, tiny_gguf: Path) -> None:
    ran = assay_here("calibrate", "show", "--why", "--model", tiny_gguf, cwd=project)
    assert (ran.returncode, ran.stderr) == (0, "")
    for task in ("line", "line_rest", "line_middle"):
        assert f"\n{task}: shipped exact_match-{task}-any.json" in ran.stdout
    assert "\nblock: no calibrator for this model, language and event is for the task block" in ran.stdout
    one = json.loads(assay_here("calibrate", "show", "--why", "--task", "block", "--model", tiny_gguf, "--json", cwd=project).stdout)
    assert [choice["task"] for choice in one["choices"]] == ["block"]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--project", "nowhere"], "nowhere is not a folder"),
        (["--task", "line"], "only go with --why"),
    ],
)
def test_what_can_not_be_answered_is_refused(project: Path, arguments: list[str], reason: str) -> None:
    ran = assay_here("calibrate", "show", *arguments, cwd=project)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert reason in ran.stderr


def test_what_studies_say_of_a_calibrator_is_one_line_and_what_is_refuted_a_sentence(project: Path, made: Calibrator) -> None:
    file = project / ".assay" / "calibrators" / "own.json"
    assert "\n    not validated\n" in show(project).text
    assert show(project).document["calibrators"][0]["validation"] is None
    found = [figure(id, Interval(value, value - 0.1, value + 0.1), 300, 12, "project", "> 0") for id, value in (("K1", 0.2), ("K2", -0.3))]
    rows = table.rows_of(found, "calibration", "run", "0" * 64)
    table.save(replace(table.empty(made), figures=rows), table.path_of(made, file))
    shown = show(project)
    line, sentence = "validated: 1 of 4 hold, 1 refuted, 2 not run", MEANINGS["K2"].refuted
    assert f"\n    {line}\n      refuted: {sentence}\n" in shown.text
    validation = shown.document["calibrators"][0]["validation"]
    figures = {each["id"]: each["reading"] for each in validation.pop("figures")}
    assert validation == {"summary": line, "refuted": [sentence], "failures": "", "badges": {}}
    assert figures == {"K1": "holds", "K2": "refuted", "F2": "not run", "M1": "not run"}
    assert "\n    shows no number: The calibration study refutes K2, calibration error: -0.300 (-0.400 to -0.200)" in shown.text
    assert shown.document["calibrators"][0]["status"] == "refuted"

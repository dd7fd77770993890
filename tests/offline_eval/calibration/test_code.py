"""The study on folders of code in several languages, from the run to a calibrator."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.calibration.samples import read_samples
from assay.cli.main import main
from assay.inference.opening import ModelChoice
from assay.offline_eval.asked_line import ANSWERS
from assay.offline_eval.calibration.study import Options, run_study
from assay.offline_eval.run import Run
from assay.offline_eval.sets.code import folders_at
from assay.suggestion.languages import language_of

from ..sets.test_code import JAVA, project

pytestmark = pytest.mark.slow


def asked(folder: Path, model: Path, *names: str) -> Options:
    places = [folder / name for name in names]
    return Options(folder / "run", choice=ModelChoice(str(model)), set="code", projects=folders_at(places), tasks=("line", "line_middle"))


def test_each_sample_has_the_language_of_its_file_and_the_folder_as_its_project(tmp_path: Path, tiny_gguf: Path) -> None:
    for name in ("shop", "bank"):
        project(tmp_path / name)
    run = run_study(asked(tmp_path, tiny_gguf, "shop", "bank"))
    answers = run.records(ANSWERS).read()
    assert {(one["project"], one.get("language", "python")) for one in answers} == {
        (name, language) for name in ("shop", "bank") for language in ("java", "javascript", "python")
    }
    assert {one["file"] for one in answers if one["project"] == "shop"} == {"shop/src/total.js", "shop/src/A.java", "shop/tool.py"}
    samples = read_samples([run.folder / "samples" / "line.jsonl"])
    assert samples
    assert all(one.language == language_of(one.file) and one.labels["exact_match"] is not None for one in samples)
    assert [name.split(" ")[0] for name in run.question()["projects"]] == ["shop", "bank"]


def test_the_command_takes_folders_and_languages(tmp_path: Path, tiny_gguf: Path) -> None:
    project(tmp_path / "shop")
    command = ["eval", "calibration", "--model", str(tiny_gguf), "--code", str(tmp_path / "shop"), "--out", str(tmp_path / "run")]
    assert main([*command, "--languages", "javascript", "--tasks", "line"]) == 0
    (answer,) = Run.opened(tmp_path / "run").records(ANSWERS).read()
    assert answer["language"] == "javascript"


def test_lines_of_an_older_release_are_not_drawn(tmp_path: Path, tiny_gguf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project(tmp_path / "shop")
    old = tmp_path / "old" / "shop" / "src" / "A.java"
    command = ["eval", "calibration", "--model", str(tiny_gguf), "--code", str(tmp_path / "shop"), "--older", str(tmp_path / "old")]
    assert main([*command, "--out", str(tmp_path / "none")]) == 2
    assert f"{tmp_path / 'old' / 'shop'} is not a folder: --older needs one for each project" in capsys.readouterr().err
    old.parent.mkdir(parents=True)
    old.write_text(JAVA, encoding="utf-8")
    assert main([*command, "--out", str(tmp_path / "run")]) == 0
    run = Run.opened(tmp_path / "run")
    assert {answer.get("language", "python") for answer in run.records(ANSWERS).read()} == {"javascript", "python"}
    old.write_text(JAVA.replace("found", "sum"), encoding="utf-8")
    assert main([*command, "--out", str(tmp_path / "run")]) == 2
    assert "asked something else" in capsys.readouterr().err
    project(old.parents[1])
    assert main([*command, "--out", str(tmp_path / "none")]) == 1
    assert f"and must stand nowhere in {tmp_path / 'old'}" in capsys.readouterr().err

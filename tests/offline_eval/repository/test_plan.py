"""What is wrong with `assay calibrate repo` as it was given, seen before anything is run."""

from __future__ import annotations

import os
import re
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.cli.main import main

pytest.importorskip("libcst", reason="libcst is not installed")

pytestmark = pytest.mark.usefixtures("isolated")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "sums.py").touch()
    return tmp_path / "shop"


def command(project: Path, *more: str) -> list[str]:
    return ["calibrate", "repo", str(project), "--python", sys.executable, "--out", str(project.parent / "run"), *more]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "out", "refused"),
    [
        (".", "../run", False),
        (".", "run", True),
        ("../link", "{parent}/link/run", True),
        ("../link", "../run", False),
        (".", "{parent}/link/run", True),
    ],
)
def test_a_run_is_kept_outside_of_the_project_however_both_are_named(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, given: str, out: str, refused: bool
) -> None:
    monkeypatch.chdir(project)
    (project.parent / "link").symlink_to(project)
    asked = ["calibrate", "repo", given, "--python", sys.executable, "--out", out.format(parent=project.parent), "--dry-run"]
    assert main(asked) == (2 if refused else 0)
    assert ("inside the project" in capsys.readouterr().err) == refused


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the cache is named otherwise")
def test_a_cache_inside_the_project_is_refused(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(project / ".cache"))
    assert main(command(project, "--dry-run")) == 2
    assert "let XDG_CACHE_HOME name a folder elsewhere" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the cache is named otherwise")
@pytest.mark.parametrize("cache", ["/proc/nope", "{file}/cache"])
def test_a_cache_that_cannot_be_made_is_named_with_how_to_choose_another(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", cache.format(file=project / "shop.py"))
    (project / "shop.py").touch()
    assert main(command(project)) == 2
    said = capsys.readouterr().err
    assert "the cache" in said
    assert "let XDG_CACHE_HOME name a folder elsewhere" in said


def test_a_project_whose_path_is_not_utf_8_is_refused_at_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = project.rename(project.with_name(os.fsdecode(b"shop-\xff")))
    assert main(command(odd, "--dry-run")) == 2
    assert "is not UTF-8" in capsys.readouterr().err


def test_an_environment_that_is_there_is_not_said_to_be_made(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def installs_nothing(command: Sequence[str], *_: object, **__: object) -> None:
        if "venv" in command:
            Path(command[-1]).mkdir()

    monkeypatch.setattr("assay.analysis.oracle.environment._do", installs_nothing)
    asked = ["calibrate", "repo", str(project), "--make-environment"]
    assert main(asked) == 1
    assert "making an environment with what the tests need" in capsys.readouterr().err
    assert main(asked) == 1
    said = capsys.readouterr().err
    assert "using the environment of an earlier run" in said
    assert "making an environment" not in said


def test_a_dry_run_refuses_a_python_without_pytest_as_the_run_would(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    venv.create(project.parent / "bare", with_pip=False)
    python = str(project.parent / "bare" / "bin" / "python")
    assert main(["calibrate", "repo", str(project), "--python", python, "--dry-run"]) == 1
    assert "has no pytest" in capsys.readouterr().err


@pytest.mark.slow
def test_a_dry_run_names_the_runs_folder_and_whether_it_goes_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["calibrate", "repo", str(project), "--python", sys.executable, "--samples", "1", "--dry-run"]
    assert main(asked) == 0
    said = capsys.readouterr().err
    assert "places       1 place, with one worker" in said
    assert f"(pytest {pytest.__version__})" in said
    found = re.search(r"samples and a report in (\S+/repositories/shop-[0-9a-f]{12}) \(a new run\)", said)
    assert found, said
    Path(found[1]).mkdir(parents=True)
    # the question is that of no run with this seed
    (Path(found[1]) / "run.toml").write_text(
        'schema = "assay/run/3"\nstudy = "repository"\nmodel = "m"\nmodel_name = ""\nprompt = "p"\nseed = 7\n'
    )
    assert main(asked) == 2
    assert "seed: 7 -> 0" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_wrong_with_the_command_is_told_before_a_test_has_run(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.offline_eval.repository.study.Oracle", None)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "empty").mkdir()
    given = ["calibrate", "repo", str(project)]
    assert main([*given, "--out", str(tmp_path / "full")]) == 2
    assert "is not empty and not a run" in capsys.readouterr().err
    (tmp_path / "begun").mkdir()
    (tmp_path / "begun" / ".run.toml.0123456789ab").touch()  # as a killed start leaves it
    assert main([*given, "--out", str(tmp_path / "begun"), "--model", str(tmp_path / "none.gguf")]) == 2
    assert "none.gguf" in capsys.readouterr().err
    assert main([*given, "--out", str(tmp_path / "full" / "file" / "run")]) == 2
    assert "is not a folder" in capsys.readouterr().err
    assert main([*given, "--model", str(tmp_path / "none.gguf")]) == 2
    assert "none.gguf" in capsys.readouterr().err
    assert main([*given, "--shift", "16"]) == 2
    assert "--shift" in capsys.readouterr().err
    assert main(["calibrate", "repo", str(tmp_path / "empty")]) == 2
    assert "holds no Python file" in capsys.readouterr().err
    for linked in (".assay", ".assay/calibrators"):
        (project / linked).parent.mkdir(exist_ok=True)
        (project / linked).symlink_to(tmp_path / "empty")
        assert main([*given, "--dry-run"]) == 2
        assert f"{project / linked} is a symbolic link" in capsys.readouterr().err
        (project / linked).unlink()
    (project / ".assay").rmdir()
    (project / ".assay").touch()
    assert main([*given, "--dry-run"]) == 2
    assert "calibrators are written there" in capsys.readouterr().err

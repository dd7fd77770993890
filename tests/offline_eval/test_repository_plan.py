"""What is wrong with `assay calibrate repo` as it was given, seen before anything is run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.analysis.sandbox.isolation import NoIsolation, available
from assay.cli import main

pytest.importorskip("libcst", reason="libcst is not installed")


@pytest.fixture(scope="module", autouse=True)
def isolation() -> None:
    try:
        available()
    except NoIsolation as error:
        pytest.skip(f"nothing isolates programs here: {error}")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "sums.py").touch()
    return tmp_path / "shop"


def command(project: Path, *more: str) -> list[str]:
    return ["calibrate", "repo", str(project), "--python", sys.executable, "--out", str(project.parent / "run"), *more]


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

"""A run on own code: asked, resumed, killed, fitted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from house.running import assay

from assay.calibration.calibrator import load
from assay.calibration.project_folder import PROJECT_FOLDER
from assay.inference.opening import ModelChoice
from assay.offline_eval.errors import UsageError
from assay.offline_eval.own_code.study import ANSWERS, Options, folders_of, run_study
from assay.offline_eval.run import Run

FUNCTION = 'def f{n}(items):\n    """Sum."""\n    total = {n}\n    for item in items:\n        total += item\n    return total\n\n\n'


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of six files; caches and calibrators are kept beside it."""
    for name in ("cache", "data"):
        monkeypatch.setenv({"cache": "XDG_CACHE_HOME", "data": "ASSAY_DATA_HOME"}[name], str(tmp_path / name))
    folder = tmp_path / "shop"
    folder.mkdir()
    for number in range(6):
        (folder / f"file{number}.py").write_text("".join(FUNCTION.format(n=10 * number + n) for n in range(3)))
    return folder


def document(shown: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(shown)
    return found


@pytest.mark.slow
def test_the_same_command_goes_on_and_asks_nothing_twice(
    shop: Path, tiny_gguf: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = Options(ModelChoice(str(tiny_gguf)), (shop,), samples=4, minutes=None, memory="off", as_json=True)
    run_study(options)
    first = document(capsys.readouterr().out)
    assert first["schema"] == "assay/model-numbers/1"
    run = Run(Path(first["run"]))
    before = run.records(ANSWERS).path.read_bytes()
    run_study(Options(ModelChoice(str(tiny_gguf)), (shop,), samples=9, minutes=None, memory="off", as_json=True))
    second = document(capsys.readouterr().out)
    assert second["run"] == first["run"]
    assert sum(second["places"].values()) == 9
    # The shop's own, then public code in turn.
    assert second["places"] == {"unknown": 6, "public": 3}
    assert set(before.splitlines()) <= set(run.records(ANSWERS).path.read_bytes().splitlines())
    assert {record["language"] for record in run.records(ANSWERS).read()} == {"python"}
    # Nine wrong lines of a tiny model already move the map for any model, which is said to be borrowed.
    assert "; some borrowed" in second["said"]
    assert {load(path).status for path in (tmp_path / "data" / "calibrators").glob("*.json")} == {"borrowed"}


@pytest.mark.slow
def test_one_project_has_its_own_run_without_public_code_and_its_calibrators_in_its_folder(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for number in range(6, 20):
        (shop / f"file{number}.py").write_text("".join(FUNCTION.format(n=10 * number + n) for n in range(3)))
    run_study(Options(ModelChoice(), (shop,), shop, samples=60, minutes=None, tasks=("line",), memory="off", as_json=True))
    found = document(capsys.readouterr().out)
    assert found["project"] == str(shop)
    assert found["places"] == {"unknown": 60}
    files = [one["file"] for one in found["calibrators"] if one["file"]]
    assert files
    assert all(Path(file).parent == shop / PROJECT_FOLDER for file in files)


def test_a_folder_without_code_is_no_error(tmp_path: Path, tiny_gguf: Path, shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    run_study(Options(ModelChoice(str(tiny_gguf)), (tmp_path / "empty",), tmp_path / "empty", samples=3, memory="off"))
    said = capsys.readouterr().err
    assert "there is no function of 4 lines in this code" in said
    assert "nothing was asked, so nothing changed" in said


def test_what_can_not_be_asked_about_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert folders_of([], only_current=False) == []
    with pytest.raises(UsageError, match="no project's folder"):
        folders_of([], only_current=True)
    with pytest.raises(UsageError, match="is your home folder, or has it"):
        folders_of([tmp_path], only_current=False)
    with pytest.raises(UsageError, match="one folder"):
        folders_of([tmp_path / "a", tmp_path / "b"], only_current=True)
    refused = assay("calibrate", "model", "nowhere", cwd=tmp_path)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "nowhere is not a folder" in refused.stderr


@pytest.mark.slow
def test_the_embedded_model_keeps_its_shipped_calibrators_after_a_short_look(shop: Path) -> None:
    asked = assay("calibrate", "model", "--minutes", "0.2", cwd=shop)
    assert asked.returncode == 0, asked.stderr
    assert "assay-embedded have a number for line, line_rest, line_middle" in asked.stderr
    assert not list((shop.parent / "data").rglob("*.json"))

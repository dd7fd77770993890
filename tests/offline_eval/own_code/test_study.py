"""A run on own code: asked, resumed, killed, fitted."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
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


@pytest.mark.slow
def test_too_few_of_a_project_write_nothing(shop: Path, tiny_gguf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run_study(Options(ModelChoice(str(tiny_gguf)), (shop,), shop, samples=1, minutes=None, memory="off", as_json=True))
    found = document(capsys.readouterr().out)
    assert [one["file"] for one in found["calibrators"]] == [None, None, None]
    assert not (shop / PROJECT_FOLDER).exists()


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
def test_who_is_killed_goes_on_where_it_was(shop: Path, tiny_gguf: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / ".typing")}
    command = [sys.executable, "-m", "assay", "calibrate", "model", "--model", str(tiny_gguf), "--memory", "off"]
    with subprocess.Popen(command, cwd=shop, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        while not (records := list((shop.parent / "cache").rglob("answers.jsonl"))) or not records[0].read_bytes().count(b"\n"):
            assert process.poll() is None
        process.send_signal(signal.SIGKILL)
    kept = {json.loads(line)["id"] for line in records[0].read_bytes().splitlines(keepends=True) if line.endswith(b"\n")}
    ended = assay("calibrate", "model", "--model", tiny_gguf, "--memory", "off", "--minutes", "0.05", "--json", cwd=shop)
    assert ended.returncode == 0, ended.stderr
    assert kept <= {json.loads(line)["id"] for line in records[0].read_bytes().splitlines()}


@pytest.mark.slow
def test_the_embedded_model_keeps_its_shipped_calibrators_after_a_short_look(shop: Path) -> None:
    asked = assay("calibrate", "model", "--minutes", "0.2", cwd=shop)
    assert asked.returncode == 0, asked.stderr
    assert "assay-embedded have a number for line, line_rest, line_middle" in asked.stderr
    assert not list((shop.parent / "data").rglob("*.json"))


def test_at_the_top_of_the_disk_only_the_named_folders_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (inner := tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path.anchor)
    assert folders_of([inner], only_current=False) == [inner.resolve()]

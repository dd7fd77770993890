"""`assay calibrate report`: what it writes and says, and its exit codes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from msgspec import structs
from synthetic_samples import sample, world

from assay.calibration.calibrator import load, save
from assay.calibration.fitting.fit import Fit, fit
from assay.calibration.samples import write_samples
from assay.cli.main import main


def report(*arguments: str | Path) -> int:
    return main(["calibrate", "report", *map(str, arguments)])


@pytest.fixture(scope="module")
def fitted() -> Fit:
    return fit(world(500, between=0.3)[0], "exact_match", ("total_logprob",), kind="platt", resamples=100)


@pytest.fixture
def folder(fitted: Fit, tmp_path: Path) -> Path:
    """A folder with a calibrator in c.json."""
    save(fitted.calibrator, tmp_path / "c.json")
    return tmp_path


def test_a_report_replaces_a_link_that_stands_in_its_place_and_leaves_the_target_alone(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "mine").write_text("mine")
    (folder / "out" / "report.md").symlink_to(folder / "mine")
    assert report(folder / "c.json", "--out", folder / "out") == 0
    assert (folder / "mine").read_text() == "mine"
    assert not (folder / "out" / "report.md").is_symlink()


def test_the_default_report_folder_is_no_link(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "elsewhere").mkdir()
    (folder / "project").mkdir()
    (folder / "project" / "report").symlink_to(folder / "elsewhere")
    monkeypatch.chdir(folder / "project")
    assert report(folder / "c.json") == 2
    assert "report is a symbolic link" in capsys.readouterr().err
    assert list((folder / "elsewhere").iterdir()) == []
    assert report(folder / "c.json", "--out", folder / "project" / "report") == 0


def test_a_report_on_a_calibrator_file_needs_no_samples(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(folder / "c.json", "--out", folder / "out", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)["reports"]
    assert found["id"] == load(folder / "c.json").id
    assert found["after"] is found["before"] is found["by_project"] is None
    assert found["pictures"] == ["reliability-exact_match.svg"]
    text = (folder / "out" / "report.md").read_text()
    for wanted in ("skill score against the base rate", "](reliability-exact_match.svg)", "Bins of equal mass", "Guards"):
        assert wanted in text
    assert "before" not in text


@pytest.mark.slow
def test_a_report_is_on_what_is_named_or_on_every_event_with_labels(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    both = [structs.replace(s, labels={**s.labels, "kept": s.seed % 3 == 0}) for s in world(100)[0]]
    write_samples(folder / "s.jsonl", both)
    monkeypatch.chdir(folder)
    assert report("s.jsonl", "--out", "of both", "--map", "platt") == 0
    text = (folder / "of both" / "report.md").read_text()
    assert ["## exact match, line" in text, "## kept, line" in text, "passes tests" in text] == [True, True, False]
    capsys.readouterr()
    options = ("--features", "total_logprob, length", "--event", "kept", "--map", "platt", "--json")
    assert report("s.jsonl", *options) == 0
    said = capsys.readouterr()
    (found,) = json.loads(said.out)["reports"]
    assert (found["calibrator"]["event"], found["calibrator"]["features"]) == ("kept", ["total_logprob", "length"])
    assert "written: report/report.html" in said.err
    for arguments, reason in (
        (["c.json", "--features", "length"], "c.json is a calibrator and has its event, features and map"),
        (["s.jsonl", "--features", "beauty"], "unknown measure beauty, known are total_logprob"),
        (["s.jsonl", "--event", "tests_pass"], "0 of 100 samples have a label for tests_pass"),
    ):
        assert report(*arguments) == 2
        assert reason in capsys.readouterr().err


def test_a_report_without_labels_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_samples(tmp_path / "s.jsonl", [sample(1, label=None)])
    assert report(tmp_path / "s.jsonl", "--out", tmp_path / "out") == 2
    assert "none of the 1 samples has a label" in capsys.readouterr().err


def test_without_matplotlib_all_but_the_pictures_is_written_and_it_is_said_what_adds_them(folder: Path) -> None:
    run = "import sys; sys.modules['matplotlib'] = None; from assay.cli.main import main; sys.exit(main(sys.argv[1:]))"
    out = folder / "out"
    command = [sys.executable, "-c", run, "calibrate", "report", str(folder / "c.json"), "--out", str(out)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr.count("-m pip install matplotlib, and the same command adds them") == 1
    assert {file.name for file in out.iterdir()} == {"report.md", "report.html", "report.json"}
    assert json.loads((out / "report.json").read_text())["reports"][0]["pictures"] == []
    for file in ("report.md", "report.html"):
        assert ".svg" not in (out / file).read_text()

"""`assay logs export`."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from log_commands import run
from synthetic_events import life, new
from synthetic_samples import MODEL, PROMPT

from assay.calibration.calibrator import load
from assay.calibration.log.event_log import EventLog
from assay.calibration.samples import read_samples
from assay.cli.main import main


def test_the_log_becomes_a_calibrator_and_the_alarm_watches_it(logged: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    samples, calibrator = tmp_path / "samples.jsonl", tmp_path / "kept.json"
    assert run("export", "--log", logged, "--out", samples) == 0
    assert "line of the model 0123456789abcdef, prompt fedcba9876543210: 400 samples, 300 with a label, " in capsys.readouterr().err
    found = read_samples(samples)
    assert [sample.labels["kept"] is None for sample in found] == [n % 4 == 0 for n in range(400)]
    assert main(["calibrate", "fit", str(samples), "--event", "kept", "--out", str(calibrator)]) == 0
    made = load(calibrator)
    assert (made.event, made.task, made.status) == ("kept", "line", "informative")
    assert (made.fitted_on.n, made.fitted_on.grouped_by, made.fitted_on.groups) == (300, "project", 12)
    capsys.readouterr()
    assert main(["calibrate", "drift", str(calibrator), str(samples), "--exit-code"]) == 0
    assert "watched 300 samples for P(kept)" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="asks for POSIX's rights")
def test_only_the_owner_can_read_what_was_exported_also_over_a_file_that_all_could_read(logged: Path, tmp_path: Path) -> None:
    for samples in (tmp_path / "new.jsonl", tmp_path / "old.jsonl"):
        if samples.name == "old.jsonl":
            samples.touch(0o644)
        assert run("export", "--log", logged, "--out", samples) == 0
        assert samples.stat().st_mode & 0o777 == 0o600


def test_export_takes_another_time_and_only_what_was_asked_for(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with EventLog(path, create=True) as log:
        for n, task in enumerate(("line", "line_rest", "line")):
            log.append([new(event, showing) for showing, event in life(f"{n}", kept=True, task=task)])
    assert run("export", "--log", path, "--out", tmp_path / "s", "--json") == 0
    said = capsys.readouterr()
    assert json.loads(said.out)["kinds"] == [
        {"task": "line", "model": MODEL, "prompt": PROMPT, "samples": 2, "labelled": 2, "positives": 2},
        {"task": "line_rest", "model": MODEL, "prompt": PROMPT, "samples": 1, "labelled": 1, "positives": 1},
    ]
    assert "--task" in said.err
    assert run("export", "--log", path, "--out", tmp_path / "s", "--task", "line", "--model", MODEL, "--at", "600") == 0
    assert [sample.id for sample in read_samples(tmp_path / "s")] == ["0", "2"]
    assert run("export", "--log", path, "--out", tmp_path / "s", "--prompt", "0" * 16) == 0
    assert read_samples(tmp_path / "s") == []
    with pytest.raises(SystemExit, match="2"):
        run("export", "--log", path, "--out", tmp_path / "s", "--at", "301")


def test_samples_are_never_written_over_a_log(logged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = logged.read_bytes()
    assert run("export", "--log", logged, "--out", logged) == 2
    assert "is left alone" in capsys.readouterr().err
    assert logged.read_bytes() == before

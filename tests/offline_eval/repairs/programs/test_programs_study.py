"""Repairs of a program of QuixBugs: the published bug and tests, a real sandbox, and the embedded model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from needs import DATA, needs_data

from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.calibration.samples import read_samples
from assay.cli.main import main
from assay.offline_eval.repairs.programs.study import STUDY
from assay.offline_eval.run import Run


@pytest.mark.slow
@needs_data("quixbugs")
def test_a_program_is_repaired_judged_and_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        best_level()
    except NoIsolation as error:
        pytest.skip(f"nothing isolates programs here: {error}")
    folder = tmp_path / "run"
    command = ["eval", "repairs", "--set", "quixbugs", "--data", str(DATA / "quixbugs"), "--out", str(folder), "--limit", "1", "--json"]
    assert main(command) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["samples"] == [str(folder / "samples" / "repair.jsonl")]
    records = {step.name: Run.opened(folder).records(step).read() for step in STUDY.steps}
    (proposed,) = records["proposed"]
    judged = {each["id"]: each["tests_pass"] for each in records["labels"]}
    assert {each["text_id"] for each in proposed["candidates"] if not each["exact"]} == judged.keys()
    samples = read_samples(folder / "samples" / "repair.jsonl")
    assert 1 <= len(samples) <= 8
    assert {sample.task for sample in samples} == {"repair"}
    assert [sample.rank for sample in samples] == sorted(sample.rank for sample in samples)
    # the same command does nothing again
    before = (folder / "proposed.jsonl").read_bytes()
    assert main(command) == 0
    assert (folder / "proposed.jsonl").read_bytes() == before

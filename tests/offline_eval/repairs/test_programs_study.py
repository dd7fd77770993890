"""Repairs of a program of QuixBugs: the published bug and tests, a real sandbox, and the embedded model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from needs import DATA, needs_data
from study_runs import isolation_here

from assay.calibration.samples import read_samples
from assay.cli.main import main
from assay.offline_eval.repairs.candidates import best
from assay.offline_eval.repairs.programs import STUDY
from assay.offline_eval.run import Run


@pytest.mark.slow
@needs_data("quixbugs")
def test_a_program_is_repaired_judged_and_told_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    isolation_here()
    folder = tmp_path / "run"
    command = ["eval", "repairs", "--set", "quixbugs", "--data", str(DATA / "quixbugs"), "--out", str(folder), "--limit", "1", "--json"]
    assert main(command) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["samples"] == [str(folder / "samples" / "repair.jsonl")]
    records = {step.name: Run.opened(folder).records(step).read() for step in STUDY.steps}
    (proposed,) = records["proposed"]
    judged = {each["id"]: each["tests_pass"] for each in records["labels"]}
    assert {each["text_id"] for each in best(proposed["candidates"]) if not each["exact"]} == judged.keys()
    samples = read_samples(folder / "samples" / "repair.jsonl")
    assert 1 <= len(samples) <= 8
    assert {sample.task for sample in samples} == {"repair"}
    assert [sample.rank for sample in samples] == sorted(sample.rank for sample in samples)
    # the same command does nothing again
    before = (folder / "proposed.jsonl").read_bytes()
    assert main(command) == 0
    assert (folder / "proposed.jsonl").read_bytes() == before


PATCH = """--- a/src/Range.java
+++ b/src/Range.java
@@ -10,5 +10,5 @@
     int size(int low, int high) {
         int length = high - low;
-        if (length < 0) {
+        if (length <= 0) {
             return 0;
         }
"""


@pytest.mark.slow
def test_bugs_without_tests_are_judged_by_exact_match_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    patches = tmp_path / "framework" / "projects" / "Lang" / "patches"
    patches.mkdir(parents=True)
    (patches / "1.src.patch").write_text(PATCH)
    folder = tmp_path / "run"
    assert main(["eval", "repairs", "--set", "defects4j", "--data", str(tmp_path), "--out", str(folder)]) == 0
    assert "The first proposal is the text before the bug for" in capsys.readouterr().err
    samples = read_samples(folder / "samples" / "repair.jsonl")
    assert {sample.labels["tests_pass"] for sample in samples} == {None}
    assert {sample.language for sample in samples} == {"java"}
    assert None not in {sample.labels["exact_match"] for sample in samples}

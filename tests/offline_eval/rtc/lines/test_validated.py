"""R1 to R6 on the page of a run, and in the validation table of a calibrator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from round_trip_worlds import world

from assay.calibration.calibrator import load, save
from assay.calibration.fitting.fit import fit
from assay.calibration.samples import write_samples
from assay.calibration.validation import table
from assay.cli.main import main
from assay.offline_eval.rtc.lines.validated import figures_of
from assay.offline_eval.run import SCHEMA

INPUTS = world(0, telling=2).inputs()
FACTS: list[Any] = [msgspec.to_builtins(place) for place in INPUTS.facts.values()]


@pytest.mark.slow
def test_without_a_calibrator_of_the_model_the_figures_are_beside_one_that_is_fitted_to_the_samples() -> None:
    question = {"model": "0" * 16, "prompt": "0" * 16}
    found = {each.id.split(":")[1].split(",")[0].strip(): each for each in figures_of(question, INPUTS.plain, FACTS)}
    assert found["R2"].reading == "holds"
    assert "beside a calibrator that is fitted to these samples" in found["R2"].note
    assert all(each.id.startswith("line, exact match: R") for each in found.values()), "no sample has a label for tests_pass"


def test_of_fewer_than_five_projects_no_figure_is_told() -> None:
    few = [sample for sample in INPUTS.plain if sample.project in ("p0", "p1")]
    assert list(figures_of({"model": "0" * 16, "prompt": "0" * 16}, few, FACTS)) == []


@pytest.fixture
def run(tmp_path: Path) -> Path:
    question = {"schema": SCHEMA, "study": "rtc", "model": "m", "model_name": "m", "prompt": "p", "seed": 0}
    save(fit(INPUTS.plain, "exact_match", resamples=2).calibrator, tmp_path / "c.json")
    write_samples(tmp_path / "run" / "samples" / "line.jsonl", INPUTS.plain)
    (tmp_path / "run" / "run.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in question.items()))
    (tmp_path / "run" / "facts.jsonl").write_text("".join(f"{json.dumps(fact)}\n" for fact in FACTS))
    return tmp_path / "run"


@pytest.mark.slow
def test_a_run_brings_its_figures_to_the_validation_table(run: Path) -> None:
    path = run.parent / "c.json"
    assert main(["calibrate", "validate", str(path), str(run)]) == 0
    rows = {row.id: row for row in table.load(table.path_of(load(path), path)).figures}
    assert {row.study for row in rows.values()} == {"rtc"}
    assert (rows["R2"].reading, rows["R5"].reading, rows["R2.agreement"].reading) == ("holds", "holds", "not run")


def test_damaged_facts_are_refused_with_what_to_do(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "facts.jsonl").write_text('{"id": "a", "project": 3}\n')
    assert main(["calibrate", "validate", str(run.parent / "c.json"), str(run)]) == 2
    said = capsys.readouterr().err
    assert f"{run / 'facts.jsonl'}:1: not the facts of a" in said
    assert "assay eval report" in said

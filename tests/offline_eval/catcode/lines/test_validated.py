"""M1 to M7 on the page of a run, and in the validation table of a calibrator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.calibration.calibrator import load, save
from assay.calibration.fitting.fit import fit
from assay.calibration.samples import write_samples
from assay.calibration.validation import table
from assay.cli.main import main
from assay.offline_eval.catcode.lines.page import figures_of
from assay.offline_eval.run import SCHEMA

from .catcode_facts_of_worlds import world

FACTS, SAMPLES = world(3.0)
QUESTION = {"model": "0" * 16, "prompt": "0" * 16}


def test_without_a_calibrator_of_the_model_the_figures_are_of_one_that_is_fitted_to_the_samples() -> None:
    found = list(figures_of(QUESTION, SAMPLES, FACTS))
    named = {each.id.split(",")[1].strip(): each for each in found}
    assert named["passes tests: M3"].reading == "holds"
    assert named["exact match: M3"].reading == "reported"
    assert all("of a calibrator that is fitted to this run's suggestions" in each.note for each in found if each.reading != "not run")


def test_of_fewer_than_five_projects_no_figure_is_told() -> None:
    few = [sample for sample in SAMPLES if sample.project in ("p0", "p1")]
    assert list(figures_of(QUESTION, few, FACTS)) == []


@pytest.fixture
def run(tmp_path: Path) -> Path:
    question = {"schema": SCHEMA, "study": "catcode", "model": "m", "model_name": "m", "prompt": "p", "seed": 0}
    save(fit(SAMPLES, "tests_pass", ("total_logprob",), resamples=2).calibrator, tmp_path / "c.json")
    write_samples(tmp_path / "run" / "samples" / "line.jsonl", SAMPLES)
    (tmp_path / "run" / "run.toml").write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in question.items()))
    (tmp_path / "run" / "facts.jsonl").write_text("".join(f"{json.dumps(fact)}\n" for fact in FACTS))
    return tmp_path / "run"


def test_a_run_brings_its_figures_to_the_validation_table(run: Path) -> None:
    path = run.parent / "c.json"
    assert main(["calibrate", "validate", str(path), str(run)]) == 0
    rows = {row.id: row for row in table.load(table.path_of(load(path), path)).figures}
    assert {row.study for row in rows.values()} == {"catcode"}
    assert (rows["M1"].reading, rows["M3"].reading) == ("holds", "holds")
    assert "M7.context_unused_statement" in rows


def test_damaged_facts_are_refused_with_what_to_do(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (run / "facts.jsonl").write_text('{"id": "a", "project": 3}\n')
    assert main(["calibrate", "validate", str(run.parent / "c.json"), str(run)]) == 2
    said = capsys.readouterr().err
    assert f"{run / 'facts.jsonl'}:1: not the facts of a" in said
    assert "assay eval report" in said

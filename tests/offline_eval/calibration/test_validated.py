from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs
from synthetic_study import studied

from assay.calibration.calibrator import Calibrator, load
from assay.calibration.samples import Sample
from assay.offline_eval.calibration.validated import figures_of
from assay.offline_eval.errors import StudyError
from assay.offline_eval.paper_tables.columns import Setting

SHIPPED = Path(__file__).parents[3] / "calibration" / "shipped"


def of_calibrator(calibrator: Calibrator, arm: str = "docstring") -> list[Sample]:
    made = calibrator.fitted_on
    measures = {name: sum(ends) / 2 for name, ends in zip(calibrator.features, calibrator.ranges, strict=True)}
    return [
        structs.replace(sample, model=made.model, prompt=made.prompt, measures=sample.measures | measures)
        for sample in studied(200, bonus=0.5 * (arm == "no_suffix"))
    ]


def test_the_calibrators_of_the_model_get_their_figures_and_other_models_have_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path))
    calibrator = load(SHIPPED / "exact_match-line.json")
    samples = {Setting("line", arm): of_calibrator(calibrator, arm) for arm in ("docstring", "no_suffix")}
    question = {"model": calibrator.fitted_on.model, "prompt": calibrator.fitted_on.prompt}
    found = {figure.id.split(",")[1].strip(): figure for figure in figures_of(question, samples) if "exact match" in figure.id}
    assert {"exact match: K1", "exact match: K7.no_suffix"} <= found.keys()
    assert found["exact match: K1"].n == 200
    assert list(figures_of(question | {"model": "0" * 16}, samples)) == []

    first, *others = samples[Setting("line")]
    impossible = structs.replace(first, measures=first.measures | {"total_logprob": 5.0})
    with pytest.raises(StudyError, match="samples of the task line: total_logprob holds a positive log-probability"):
        list(figures_of(question, {Setting("line"): [impossible, *others]}))


def test_a_calibrator_of_first_choices_is_judged_on_no_further_alternatives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path))
    calibrator = load(SHIPPED / "exact_match-line.json")
    first = [structs.replace(sample, alternatives=2) for sample in of_calibrator(calibrator)]
    further = [structs.replace(sample, id=f"{sample.id}:2", rank=2, labels={"exact_match": False}) for sample in first]
    question = {"model": calibrator.fitted_on.model, "prompt": calibrator.fitted_on.prompt}
    found, alone = (list(figures_of(question, {Setting("line"): samples})) for samples in (first + further, first))
    assert found == alone

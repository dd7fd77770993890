from __future__ import annotations

from pathlib import Path

import pytest
from msgspec import structs
from synthetic_study import studied

from assay.calibration.calibrator import save
from assay.calibration.fitting.fit import fit
from assay.calibration.held_out import folds_path, save_folds
from assay.calibration.metrics.bins import wilson
from assay.calibration.samples import Sample
from assay.offline_eval.calibration.report import figures_of, rate
from assay.offline_eval.errors import StudyError
from assay.offline_eval.paper_tables.forecasts import Setting


def sample(project: str, exact: bool) -> Sample:
    return Sample("x", "0" * 16, "0" * 16, "line", "python", project, "f.py", 0, {}, {"exact_match": exact}, "0" * 64)


def test_with_few_projects_the_interval_of_a_rate_is_of_samples_and_with_more_of_projects() -> None:
    samples = [sample("p", True), sample("p", False), sample("q", True)]
    row = rate(samples)
    assert (row["n"], row["projects"]) == (3, 2)
    assert row["value"] == pytest.approx(2 / 3)
    assert row["low"] <= wilson(2, 3)[0]
    assert wilson(2, 3)[1] <= row["high"]
    # five projects that are all alike in themselves: the interval is of projects, wider than of their samples
    many = [structs.replace(samples[0], project=f"p{i % 5}", labels={"exact_match": i % 5 < 2}) for i in range(500)]
    low, high = rate(many)["low"], rate(many)["high"]
    assert high - low > 3 * (wilson(200, 500)[1] - wilson(200, 500)[0])
    choices = [structs.replace(sample(f"p{i}", exact=False), rank=rank) for i in range(5) for rank in (1, 2, 3)]
    assert rate(choices)["n"] == 5, "of first choices alone"
    assert rate([]) == {"n": 0, "projects": 0, "value": None, "low": None, "high": None}


LINE = Setting("line")


@pytest.fixture
def fitted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Sample]:
    """Samples that a calibrator of the user's was fitted to, which has folds."""
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path))
    samples = studied(400, reflective=False)
    found = fit(samples, "exact_match", ("total_logprob",), kind="platt")
    path = tmp_path / "calibrators" / "line.json"
    save(found.calibrator, path)
    save_folds(found.kept_folds(), folds_path(found.calibrator, path))
    return samples


def question(samples: list[Sample], **changed: str) -> dict[str, str]:
    return {"model": samples[0].model, "prompt": samples[0].prompt, **changed}


def test_the_calibrators_of_the_model_get_their_figures_and_other_models_have_none(fitted: list[Sample]) -> None:
    samples = {LINE: fitted, Setting("line", "no_suffix"): studied(400, bonus=0.5, reflective=False)}
    found = {figure.id.split(",")[1].strip(): figure for figure in figures_of(question(fitted), samples)}
    assert {"exact match: K1", "exact match: K7.no_suffix"} <= found.keys()
    assert (found["exact match: K1"].n, found["exact match: K1"].reading) == (400, "reported")
    assert list(figures_of(question(fitted, model="0" * 16), samples)) == []
    first_choices = [structs.replace(sample, alternatives=2) for sample in fitted]
    further = [structs.replace(sample, id=f"{sample.id}:2", rank=2, labels={"exact_match": False}) for sample in first_choices]
    judged, alone = (list(figures_of(question(fitted), {LINE: each})) for each in (first_choices + further, first_choices))
    assert judged == alone, "no calibrator of first choices is judged on further alternatives"

    first, *others = fitted
    impossible = structs.replace(first, measures=first.measures | {"total_logprob": 5.0})
    with pytest.raises(StudyError, match="samples of the task line: total_logprob holds a positive log-probability"):
        list(figures_of(question(fitted), {LINE: [impossible, *others]}))


def test_a_calibrator_without_folds_is_not_judged_on_projects_that_it_may_have_seen(
    fitted: list[Sample], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folds in (tmp_path / "calibrators" / "folds").iterdir():
        folds.unlink()
    assert list(figures_of(question(fitted), {LINE: studied(300, seed=4, reflective=False)})) == []
    assert "line.json is not validated: it has no folds" in capsys.readouterr().err

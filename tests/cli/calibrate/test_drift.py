"""`assay calibrate drift`: what it says, and its exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from synthetic_samples import sample, world

from assay.calibration.calibrator import save
from assay.calibration.fitting.fit import fit
from assay.calibration.samples import Sample, write_samples
from assay.cli.main import main


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """c.json, and the samples same.jsonl, of the world that it was fitted to, and lower.jsonl, where less happens."""
    folder = tmp_path_factory.mktemp("drift")
    fitted, _ = world(1500)
    save(fit(fitted, "exact_match", resamples=100).calibrator, folder / "c.json")
    write_samples(folder / "fitted.jsonl", fitted)
    for name, intercept in (("same", 0.5), ("lower", -0.7)):
        made, _ = world(700, intercept=intercept, seed=7)
        write_samples(folder / f"{name}.jsonl", [replace(each, id=f"{name}{each.id}") for each in made])
    return folder


def drift(folder: Path, *arguments: str) -> int:
    return main(["calibrate", "drift", str(folder / "c.json"), *arguments])


Said = Callable[[], tuple[dict[str, object], str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    def read() -> tuple[dict[str, object], str]:
        out, err = capsys.readouterr()
        return json.loads(out) if out else {}, err

    return read


def test_the_command_raises_no_alarm_where_the_calibrator_holds(files: Path, said: Said) -> None:
    assert drift(files, str(files / "same.jsonl"), "--json", "--exit-code") == 0
    document, text = said()
    assert document["alarm"] is None
    assert document["n"] + sum(document["without_number"].values()) == 700  # type: ignore[operator, attr-defined]
    assert "no alarm" in text


def test_the_command_says_where_the_drift_began_and_what_to_do(files: Path, said: Said) -> None:
    paths = [str(files / "same.jsonl"), str(files / "lower.jsonl")]
    assert drift(files, *paths, "--json") == 0
    document, text = said()
    found = document["alarm"]
    assert isinstance(found, dict)
    assert found["direction"] == "too_high"
    assert str(found["raised_id"]).startswith("lowers")
    assert 650 < found["since"] < 750
    assert found["low"] < 1.2 < found["high"]
    assert found["rate"] < found["mean_probability"] - 0.1
    assert found["refit"] == f"assay calibrate fit {paths[0]} {paths[1]} --event exact_match --features total_logprob --out FILE"
    assert f"ALARM at sample {found['raised']}, {found['raised_id']}" in text
    assert str(found["refit"]) in text


def test_an_alarm_is_a_result_and_ends_with_1_only_if_that_is_asked_for(files: Path, said: Said) -> None:
    lower = str(files / "lower.jsonl")
    assert (drift(files, lower), drift(files, lower, "--exit-code")) == (0, 1)
    assert drift(files, lower, "--exit-code", "--tolerance", "2") == 0


def test_projects_that_differ_are_no_drift(tmp_path: Path, said: Said) -> None:
    fitted, _ = world(3000, between=0.8)
    calibrator = fit(fitted, "exact_match", resamples=100).calibrator
    save(calibrator, tmp_path / "c.json")
    write_samples(tmp_path / "s.jsonl", fitted)
    assert drift(tmp_path, str(tmp_path / "s.jsonl"), "--json") == 0
    assert said()[0]["tolerance"] == 2 * calibrator.between_group_sd > 0.5


def test_samples_without_a_label_or_a_number_are_counted(files: Path, tmp_path: Path, said: Said) -> None:
    samples = [sample(0), sample(1, label=None), sample(2, length=3.0), sample(3, min_logprob=-1.0)]
    write_samples(tmp_path / "s.jsonl", samples)
    assert drift(files, str(tmp_path / "s.jsonl"), "--json") == 0
    document, text = said()
    assert (document["n"], document["without_label"], document["without_number"]) == (1, 1, {"missing": 2})
    assert "left out: 1 without a label, 2 that get no probability, the first is s2: total_logprob is not known" in text


def test_the_samples_that_it_was_fitted_on_are_recognised(files: Path, said: Said) -> None:
    assert drift(files, str(files / "fitted.jsonl"), "--json") == 0
    document, text = said()
    assert document["fitted_on_these"] is True
    assert "fitted on these very samples" in text


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"model": "f" * 16}, "not ffffffffffffffff as in the sample 's0'"),
        ({"language": "java"}, "is for the language python, not java"),
        ({"rank": 2, "alternatives": 4}, "is for the number of alternatives 1, not 4"),
        ({"measures": {"length": 3.0}}, "the first is s0: total_logprob is not known"),
    ],
)
def test_samples_of_something_else_are_refused(files: Path, tmp_path: Path, said: Said, changed: dict[str, object], reason: str) -> None:
    made: Sample = replace(sample(0), **changed)
    write_samples(tmp_path / "s.jsonl", [made])
    assert drift(files, str(tmp_path / "s.jsonl"), "--json") == 2
    document, text = said()
    assert document == {}
    assert reason in text


def test_wrong_usage_ends_with_2(files: Path, said: Said) -> None:
    assert drift(files, str(files / "same.jsonl"), "--alpha", "2") == 2
    assert "alpha must be between 0 and 1, not 2.0" in said()[1]

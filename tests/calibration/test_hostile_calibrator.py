"""A calibrator's file may come from anybody: whatever number stands in it, it is refused with the field and the reason, or does no harm."""

from __future__ import annotations

import copy
import json
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from synthetic_samples import world

from assay.calibration.calibrator import Calibrator, CalibratorError, as_json, load, save
from assay.calibration.confidence import confidence
from assay.calibration.fitting.fit import fit
from assay.calibration.maps.registry import MAPS
from assay.calibration.monitoring.drift import alarm, start, tolerance_of, watch
from assay.calibration.registry import Choice, Entry, Purpose, choose, explain_choice, registry_of
from assay.calibration.report.report import summary
from assay.cli.calibrate.show import show
from assay.server.confidence.confidence_report import evidence_json, tasks_json

Path_ = tuple[str | int, ...]
NUMBERS = (0, 1, -1, 0.5, -0.5, 2, 1e-320, 1e308, -1e308, 10**400, -(10**400), 2**63)


@pytest.fixture(scope="module", params=["platt", "venn_abers"])
def calibrator(request: pytest.FixtureRequest) -> Calibrator:
    assert request.param in MAPS
    return fit(world(300)[0], "exact_match", kind=request.param, resamples=50).calibrator


def numbers_in(document: Any, at: Path_ = ()) -> Iterator[Path_]:
    """The places of all numbers, but of long lists only those of the first two items."""
    if isinstance(document, dict | list):
        items = document.items() if isinstance(document, dict) else list(enumerate(document))[:2]
        for key, inner in items:
            yield from numbers_in(inner, (*at, key))
    elif isinstance(document, int | float) and not isinstance(document, bool):
        yield at


def changed(document: Any, at: Path_, value: Any) -> Any:
    made = copy.deepcopy(document)
    inner = made
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = value
    return made


def use(path: Path) -> None:
    """What the server and the commands do with a calibrator."""
    calibrator = load(path)
    entry = Entry("user", path, calibrator)
    registry = registry_of([entry, entry], ())
    made = calibrator.fitted_on
    purpose = Purpose(made.model, made.prompt, calibrator.event, calibrator.task, "python")
    choose(registry, purpose)
    explain_choice(registry, purpose)
    said = [confidence(calibrator, {"total_logprob": value}).probability for value in (-0.1, -3.0, -50.0)]
    assert all(p is None or 0 < p < 1 for p in said)
    json.dumps([evidence_json([calibrator]), tasks_json({"line": Choice(entry, "", ())})], allow_nan=False)
    summary(calibrator)
    state = start(tolerance=tolerance_of(calibrator))
    alarm(watch(state, [0.4, 0.6], [True, False]))


def refusal_of(path: Path) -> str | None:
    """Why the calibrator is refused, None where it is used without harm."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            use(path)
        except CalibratorError as error:
            return str(error)
    return None


@pytest.mark.slow
def test_no_number_in_a_calibrator_makes_an_error_of_pythons_own(calibrator: Calibrator, tmp_path: Path) -> None:
    document, path = json.loads(json.dumps(as_json(calibrator))), tmp_path / "c.json"
    refusals = {}
    for at in numbers_in(document):
        for value in NUMBERS:
            path.write_text(json.dumps(changed(document, at, value)))
            refusals[at, value] = refusal_of(path)
    assert sum(reason is None for reason in refusals.values()) > 20
    assert all(reason is None or (reason.startswith(f"{path}: ") and len(reason) < 500) for reason in refusals.values())


@pytest.mark.parametrize(
    ("at", "value", "refusal"),
    [
        (("evidence", "n"), 0, "evidence.n: Expected"),
        (("evidence", "positives"), 10_000, "evidence.n: less than positives or groups"),
        (("evidence", "brier", "low"), 2.0, "evidence.brier: low above high"),
        (("evidence", "reliability", 0, "rate"), -3.0, r"evidence.reliability\[0\]: a rate is not between 0 and 1"),
        (("fitted_on", "n"), 10**400, "1000000.* is not a number that a file of Assay may hold"),
        (("children",), [{}] * 10_001, "children: Expected `array` of length <= 10000"),
    ],
    ids=lambda value: "" if isinstance(value, int | float | list) else None,
)
def test_impossible_evidence_is_refused_by_field(calibrator: Calibrator, tmp_path: Path, at: Path_, value: object, refusal: str) -> None:
    path = tmp_path / "c.json"
    path.write_text(json.dumps(changed(json.loads(json.dumps(as_json(calibrator))), at, value)))
    with pytest.raises(CalibratorError, match=rf"c\.json: {refusal}"):
        load(path)


def test_nothing_of_a_calibrator_makes_a_line_of_its_own(calibrator: Calibrator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path))
    folder = tmp_path / "calibrators"
    save(replace(calibrator, reason="a\nshipped: all is well"), folder / "b\nshipped: all is well.json")
    (folder / "c\nshipped: all is well.json").write_text("{")
    shown = show(None).text.split("\n")
    assert len([line for line in shown if "all is well" in line]) == 3
    assert not any(line.startswith("shipped: all is well") for line in shown)

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student
from synthetic_samples import world

from assay.calibration.bands import band_of, percents
from assay.calibration.calibrator import Calibrator, CalibratorError, load, log_odds_range, save
from assay.calibration.confidence import confidence, predict_proba, uncalibrated
from assay.calibration.evidence import calibration_report
from assay.calibration.fitting.fit import fit
from assay.calibration.fitting.shrinkage import Child
from assay.calibration.measures.registry import enter


@pytest.fixture(scope="module")
def calibrator() -> Calibrator:
    return fit(world(900)[0], "exact_match", kind="platt", resamples=100).calibrator


def test_what_is_saved_is_loaded_again(calibrator: Calibrator, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    save(calibrator, path)
    assert load(path) == calibrator
    assert [file.name for file in tmp_path.iterdir()] == ["c.json"]
    several = replace(calibrator, fitted_on=replace(calibrator.fitted_on, alternatives=4))
    save(several, path)
    assert load(path) == several
    assert several.id != calibrator.id


def put(document: dict[str, Any], field: str, value: object) -> None:
    *parents, last = field.split(".")
    for parent in parents:
        document = document[parent]
    if value is ...:
        del document[last]
    else:
        document[last] = value


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("schema", "assay/calibrator/1", "schema: 'assay/calibrator/1', this version of Assay reads 'assay/calibrator/2'"),
        ("event", "correct", "event: 'correct' is none of"),
        ("colour", 1, "colour: unknown field"),
        ("features", [], "features: needs at least one"),
        ("features", ["magic"], "features: unknown measure"),
        ("ranges", [[2, 1]], "ranges: low above high"),
        ("ranges", [[-2, 0.5]], "ranges: total_logprob holds a positive log-probability"),
        ("map.kind", "forest", "map: kind is none of base_rate, platt, .*venn_abers"),
        ("map.colour", 1, "map: colour: unknown field"),
        ("map.intercept", "1", "map: intercept: Expected `float`, got `str`"),
        ("map.intercept", 1e300, "map: a parameter is larger than 1e.12"),
        ("map.slopes", [1.0, 2.0], "map.slopes: 2 for 1 features"),
        ("map.covariance", [[1.0, 0.0], [0.0, -1.0]], "map.covariance: has a negative variance"),
        ("map.covariance", [[1.0, 0.0], [0.5, 1.0]], "map.covariance: not symmetric"),
        ("levels", ["user", "language"], "levels: not of language, project, user in this order"),
        ("fitted_on.model", "gpt", "fitted_on.model: Expected 16 lower-case hex digits"),
        ("fitted_on.n", 3, "fitted_on.n: less than positives or groups"),
        ("features", ["agreement"], "fitted_on.alternatives: 1, and first choices alone have no agreement"),
        ("fitted_on.date", "yesterday", "fitted_on.date: not an ISO 8601"),
        ("status", "fine", "status: Invalid enum value 'fine'"),
    ],
)
def test_a_damaged_file_is_refused_with_the_reason(calibrator: Calibrator, tmp_path: Path, field: str, value: object, reason: str) -> None:
    path = tmp_path / "c.json"
    save(calibrator, path)
    document = json.loads(path.read_text())
    put(document, field, value)
    path.write_text(json.dumps(document))
    with pytest.raises(CalibratorError, match=reason) as refused:
        load(path)
    assert str(refused.value).startswith(str(path))


@pytest.mark.parametrize("content", [b"{", b"[]", b"\xff", b"[" * 100_000])
def test_what_is_no_calibrator_at_all_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "c.json").write_bytes(content)
    with pytest.raises(CalibratorError, match=r"c.json"):
        load(tmp_path / "c.json")


def test_the_range_is_the_documented_formula(calibrator: Calibrator) -> None:
    model = replace(calibrator.map, intercept=0.2, slopes=(0.5,), covariance=((0.04, -0.01), (-0.01, 0.02)))
    value, low, high = log_odds_range(replace(calibrator, map=model, between_group_sd=0.3), (2.0,))
    assert value == pytest.approx(1.2)
    half = student.ppf(0.975, 12 - 2) * (0.04 - 0.04 + 4 * 0.02 + 0.09) ** 0.5
    assert (low, high) == pytest.approx((1.2 - half, 1.2 + half), rel=1e-3)


def test_only_a_project_that_has_a_map_of_its_own_has_no_spread_between_projects(calibrator: Calibrator) -> None:
    parameters = (calibrator.map.intercept, calibrator.map.slopes, calibrator.map.covariance)
    children = tuple(Child(path, 9, 5, *parameters) for path in (("python",), ("python", "p0")))
    tree = replace(calibrator, between_group_sd=2.0, levels=("language", "project"), children=children)
    width = {
        name: high - low
        for name, groups in {
            "nobody's": {},
            "language": {"language": "python"},
            "another": {"language": "python", "project": "p9"},
            "own": {"language": "python", "project": "p0"},
        }.items()
        for _, low, high in [log_odds_range(tree, (0.0,), groups)]  # type: ignore[arg-type]
    }
    assert width["own"] < 0.5 * width["another"] == 0.5 * width["language"] == 0.5 * width["nobody's"]


def test_a_confidence_is_the_map_of_the_measure(calibrator: Calibrator) -> None:
    found = confidence(calibrator, {"total_logprob": -1.0, "token_count": 3.0})
    z = calibrator.map.intercept + calibrator.map.slopes[0] * float(enter("total_logprob", -1.0))
    assert found.status == "informative"
    assert found.probability == pytest.approx(1 / (1 + 2.718281828459045**-z))
    assert found.low < found.probability < found.high
    assert (found.event, found.calibrator, found.band) == ("exact_match", calibrator.id, band_of(found.probability).word)
    assert found.text == f"{found.look.shape} {found.look.word} {percents(found.low, found.high)} exact match"


@given(st.floats(0, 1), st.floats(-1e3, 1e3), st.floats(0, 1e3))
def test_a_probability_is_never_certain_and_lies_in_its_range(calibrator: Calibrator, where: float, intercept: float, sd: float) -> None:
    extreme = replace(calibrator, map=replace(calibrator.map, intercept=intercept), between_group_sd=sd)
    (low, high), bound = calibrator.ranges[0], 1 / 902
    found = confidence(extreme, {"total_logprob": min(max(low + where * (high - low), low), high)})
    assert bound <= found.low <= found.probability <= found.high <= 1 - bound


def with_length(calibrator: Calibrator) -> Calibrator:
    covariance = ((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))
    return replace(
        calibrator,
        features=("total_logprob", "length"),
        ranges=(*calibrator.ranges, (1.0, 9.0)),
        map=replace(calibrator.map, slopes=(1.0, 0.1), covariance=covariance),
    )


def test_without_skill_or_without_a_calibrator_there_is_no_number(calibrator: Calibrator) -> None:
    found = confidence(replace(calibrator, status="uninformative"), {"total_logprob": -1.0})
    assert (found.status, found.probability, found.low, found.high, found.band) == ("uninformative", None, None, None, "no evidence")
    found = uncalibrated("exact_match")
    assert (found.status, found.probability, found.calibrator, found.text) == ("uncalibrated", None, None, "○ no evidence")


@pytest.mark.parametrize(
    ("measures", "status", "reason"),
    [
        ({"total_logprob": -1.0, "length": 1e6}, "outside", "length is 1e[+]06, the calibrator has seen 1 to 9"),
        ({"total_logprob": -1e6, "length": 1e6}, "outside", "length is 1e[+]06, the calibrator has seen"),
        ({"length": 3.0}, "missing", "total_logprob is not known"),
    ],
)
def test_where_a_measure_is_missing_or_speaks_neither_for_nor_against_and_is_out_of_range_there_is_no_number_and_it_says_why(
    calibrator: Calibrator, measures: dict[str, float], status: str, reason: str
) -> None:
    calibrator = with_length(calibrator)
    found = confidence(calibrator, measures)
    assert (found.status, found.probability, found.calibrator) == (status, None, calibrator.id)
    assert re.match(reason, found.reason)


@pytest.mark.parametrize(("slope", "worst"), [(1.0, {"total_logprob": -1e6}), (-1.0, {"total_logprob": -1e6, "min_logprob": -0.5})])
def test_what_is_less_sure_than_all_seen_has_the_lowest_number(calibrator: Calibrator, slope: float, worst: dict[str, float]) -> None:
    # By a second measure that says the same the slope of the first may come out reversed.
    both = replace(
        calibrator,
        features=("total_logprob", "min_logprob"),
        ranges=(*calibrator.ranges, (-20.0, -0.01)),
        map=replace(calibrator.map, slopes=(slope, 2.0), covariance=((0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.0, 0.0, 0.1))),
    )
    found = confidence(both, {"min_logprob": -0.5} | worst)
    assert (found.status, found.probability, found.low, found.band) == ("informative", both.bound, both.bound, "unlikely")
    assert found.high >= both.bound


@given(st.floats(-1e6, 0.0), st.floats(0.0, 1e3))
def test_surer_never_means_less_likely_within_the_range_and_beyond_it(calibrator: Calibrator, measure: float, more: float) -> None:
    less, surer = (confidence(calibrator, {"total_logprob": value}).probability for value in (measure, min(0.0, measure + more)))
    assert less <= surer


@given(st.floats(0, 1), st.floats(0, 1))
def test_the_shown_range_holds_the_range(a: float, b: float) -> None:
    low, high = (int(part) for part in percents(min(a, b), max(a, b)).removesuffix(" %").split("-"))
    assert low <= 100 * min(a, b) + 1e-8
    assert high >= 100 * max(a, b) - 1e-8


def test_predictions_are_the_numbers_of_the_editor_and_nan_where_there_is_none(calibrator: Calibrator) -> None:
    first, second = world(900)[0][:2]
    predicted = predict_proba(calibrator, [first, msgspec.structs.replace(second, measures={})])
    assert predicted[0].tolist() == pytest.approx([1 - (shown := confidence(calibrator, first.measures).probability or 0), shown])
    assert np.isnan(predicted[1]).all()


def test_a_report_takes_any_names_as_groups_and_any_certainty() -> None:
    p, y = [0.0, 1.0, 0.5, 0.25] * 10, [True, True, False, False] * 10
    found = calibration_report(p, y, [f"g{n // 4}" for n in range(40)])
    assert (found.n, found.groups, found.positives) == (40, 10, 20)
    assert found.brier.value == pytest.approx((1 + 0 + 0.25 + 0.0625) / 4)
    assert "20 of 40 happened (50.0%), 10 groups" in str(found)
    assert calibration_report(p, y).groups == 40
    with pytest.raises(ValueError, match="3 groups for 40 probabilities"):
        calibration_report(p, y, [1, 2, 3])

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from msgspec import structs
from synthetic_samples import world

from assay.calibration.arrays import Floats
from assay.calibration.evidence import Evidence, evidence_of
from assay.calibration.fitting.fit import fit
from assay.calibration.guards import Guard, guards_of, status_of
from assay.calibration.maps.platt import PlattMap
from assay.calibration.maps.registry import Map
from assay.calibration.maps.temperature import TemperatureMap
from assay.calibration.metrics.intervals import Interval

RNG = np.random.default_rng(0)
P = RNG.uniform(0.05, 0.95, 400)
Y = RNG.random(400) < P
EVIDENCE = evidence_of(P, Y, np.arange(400) % 20, resamples=20)


def platt(slope: float) -> PlattMap:
    return PlattMap("platt", 0.0, (slope,), ((1.0, 0.0), (0.0, 1.0)), 0.0)


WELL = platt(1.0)


def guards(
    fitted: Map = WELL, p: Floats = P, evidence: Evidence = EVIDENCE, measure: str = "total_logprob", y: object = Y
) -> tuple[Guard, ...]:
    return guards_of([measure], [(-9.0, 0.0)], np.zeros((len(y), 1)), np.asarray(y, dtype=np.bool_), fitted, p, evidence, len(y))


def failed(found: tuple[Guard, ...]) -> list[str]:
    return [guard.name for guard in found if not guard.passed]


def test_where_all_is_well_every_guard_lets_pass() -> None:
    assert failed(guards()) == []
    assert status_of(guards())[0] == "informative"


@pytest.mark.parametrize(("low", "status"), [(0.0, "uninformative"), (0.001, "informative")])
def test_a_skill_score_whose_interval_includes_0_is_no_skill_however_high_it_is(low: float, status: str) -> None:
    found = guards(evidence=replace(EVIDENCE, skill=Interval(0.3, low, 0.6)))
    assert status_of(found)[0] == status


@pytest.mark.parametrize(("width", "status"), [(0.021, "informative"), (0.019, "uninformative")])
def test_probabilities_that_collapse_are_not_shown_also_where_a_few_are_elsewhere(width: float, status: str) -> None:
    bulk = 0.3 + width * (np.arange(400) % 2)
    bulk[:15] = 0.99
    assert status_of(guards(p=bulk))[0] == status


@pytest.mark.parametrize(
    ("fitted", "measure", "passes"),
    [
        (platt(0.5), "total_logprob", True),
        (platt(-0.5), "total_logprob", False),
        (platt(0.5), "mean_entropy", False),
        (platt(-0.5), "length", True),
        (TemperatureMap("temperature", -1.0, 0.1), "total_logprob", False),
    ],
)
def test_a_slope_must_point_the_way_that_its_measure_speaks(fitted: Map, measure: str, passes: bool) -> None:
    found = guards(fitted, measure=measure)
    assert failed(found) == ([] if passes else ["slope"])


def test_too_few_goes_before_what_else_is_wrong() -> None:
    y = np.arange(400) < 4
    found = guards(platt(-1.0), np.full(400, 0.01), y=y)
    assert failed(found) == ["too_few", "slope", "spread"]
    assert status_of(found)[0] == "insufficient"


def test_of_several_measures_that_say_the_same_the_first_may_have_a_negative_slope_and_the_map_is_still_right() -> None:
    samples = []
    for i, s in enumerate(world(1500, seed=3)[0]):
        total = s.measures["total_logprob"]
        noise = float(np.random.default_rng(i).normal(0, 0.3))
        samples.append(structs.replace(s, measures={"total_logprob": min(total + noise * abs(total), -1e-9), "min_logprob": total}))
    found = fit(samples, "exact_match", ["total_logprob", "min_logprob"], kind="platt", resamples=50).calibrator
    slope = next(guard for guard in found.guards if guard.name == "slope")
    assert slope.passed
    assert found.status == "informative"

"""A number that a study contradicts is taken away, unless the user wants to see it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from synthetic_samples import world

from assay.calibration.calibrator import Calibrator
from assay.calibration.confidence import confidence
from assay.calibration.effective_status import confidence_of, effective_status
from assay.calibration.fitting.fit import fit
from assay.calibration.metrics.intervals import Interval
from assay.calibration.registry import Entry
from assay.calibration.validation.figures import Figure, figure, not_run
from assay.calibration.validation.fresh import primary_of
from assay.calibration.validation.table import empty, rows_of
from assay.calibration.validation.words import MEANINGS

HOLDS, REFUTED, UNDECIDED = Interval(0.2, 0.1, 0.3), Interval(-0.2, -0.3, -0.1), Interval(0.1, -0.1, 0.3)


@pytest.fixture(scope="module")
def calibrator() -> Calibrator:
    return fit(world(900)[0], "exact_match", kind="platt", resamples=50).calibrator


def above_0(id: str, interval: Interval) -> Figure:
    return figure(id, interval, 400, 20, "project", "> 0")


def validated(calibrator: Calibrator, *figures: Figure, study: str = "calibration") -> Entry:
    table = replace(empty(calibrator), figures=rows_of(figures, study, "run", "0" * 64))
    return Entry("shipped", Path("c.json"), calibrator, table)


def measures(calibrator: Calibrator) -> dict[str, float]:
    return {name: (low + high) / 2 for name, (low, high) in zip(calibrator.features, calibrator.ranges, strict=True)}


@pytest.mark.parametrize("id", primary_of("exact_match"))
def test_a_primary_figure_that_is_refuted_takes_the_number_away(calibrator: Calibrator, id: str) -> None:
    entry = validated(calibrator, above_0(id, REFUTED), study="counterfeit")
    found = confidence_of(entry, measures(calibrator))
    assert (found.status, found.probability, found.low, found.high) == ("refuted", None, None, None)
    assert (found.text, found.calibrator) == ("○ no evidence", calibrator.id)
    assert found.reason == effective_status(entry).reason
    assert f"The counterfeit study refutes {id}, " in found.reason
    assert "-0.200 (-0.300 to -0.100), and the claim is > 0." in found.reason
    assert id not in MEANINGS or found.reason.endswith(MEANINGS[id].refuted)


def test_who_wants_to_see_such_a_number_sees_it(calibrator: Calibrator) -> None:
    entry = validated(calibrator, above_0("K1", REFUTED))
    wanted = confidence(calibrator, measures(calibrator))
    assert wanted.probability is not None
    assert confidence_of(entry, measures(calibrator), show_refuted=True) == wanted
    assert effective_status(entry, show_refuted=True).has_numbers


def test_what_is_not_refuted_and_what_is_not_primary_takes_no_number_away(calibrator: Calibrator) -> None:
    wanted = confidence(calibrator, measures(calibrator))
    for figures in (
        (),
        [above_0(id, HOLDS) for id in primary_of("exact_match")],
        [above_0(id, UNDECIDED) for id in primary_of("exact_match")],
        [not_run(id, "> 0", "no samples") for id in primary_of("exact_match")],
        [above_0(id, REFUTED) for id in ("K3", "K6", "K7.no_suffix", "F1", "F3.counterfeit", "M2", "M3", "R2")],
    ):
        assert confidence_of(validated(calibrator, *figures), measures(calibrator)) == wanted
    assert confidence_of(Entry("user", Path("c.json"), calibrator), measures(calibrator)) == wanted


def test_of_several_that_are_refuted_each_is_said_in_the_order_of_the_primary_ones(calibrator: Calibrator) -> None:
    reason = effective_status(validated(calibrator, above_0("M1", REFUTED), above_0("K2", REFUTED), above_0("K1", HOLDS))).reason
    assert 0 <= reason.index("refutes K2") < reason.index("refutes M1")
    assert "K1" not in reason


def test_a_calibrator_without_numbers_keeps_its_own_reason(calibrator: Calibrator) -> None:
    without = replace(calibrator, status="uninformative", reason="no skill is shown")
    effective = effective_status(validated(without, above_0("K1", REFUTED)))
    assert (effective.status, effective.reason) == ("uninformative", "no skill is shown")

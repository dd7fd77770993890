"""Round trips as measures of a suggestion."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.measures.registry import MEASURES, enter
from assay.calibration.measures.round_trip import NAMES, log_mean, measures_of_round_trips

logprobs = st.lists(st.floats(-2000, 0), min_size=1, max_size=5)


def test_all_are_registered_and_cost_calls_so_that_no_suggestion_of_an_editor_is_asked_for_them() -> None:
    assert {MEASURES[name].kind for name in NAMES} == {"consistency"}
    assert all(MEASURES[name].cost >= 6 for name in NAMES)


@given(st.lists(st.booleans(), min_size=1), logprobs, st.floats(-2000, 0))
def test_every_value_can_enter_a_map(equal: list[bool], described: list[float], uninformed: float) -> None:
    found = measures_of_round_trips(equal, described, uninformed)
    assert tuple(found) == NAMES
    for name, value in found.items():
        assert math.isfinite(float(enter(name, [value])[0]))


def test_more_rebuilds_that_are_the_suggestion_again_are_a_higher_measure_within_0_and_1() -> None:
    values = [measures_of_round_trips([number < k for number in range(3)], [], None)["round_trip"] for k in range(4)]
    assert [math.exp(value) for value in values] == pytest.approx([0.125, 0.375, 0.625, 0.875])


@given(logprobs)
def test_the_mean_of_probabilities_lies_between_them(values: list[float]) -> None:
    assert min(values) - 1e-9 <= log_mean(values) <= max(values) + 1e-9


def test_the_lift_is_what_a_description_adds_in_nats() -> None:
    found = measures_of_round_trips([True], [math.log(0.2), math.log(0.4)], math.log(0.1))
    assert found["round_trip_logprob"] == pytest.approx(math.log(0.3))
    assert found["round_trip_lift"] == pytest.approx(math.log(3))


def test_what_a_model_does_not_tell_is_left_out() -> None:
    assert measures_of_round_trips([True, False], [-1.0, None], -2.0).keys() == {"round_trip"}
    assert measures_of_round_trips([True], [-1.0], None).keys() == {"round_trip", "round_trip_logprob"}
    assert measures_of_round_trips([], [], None) == {}

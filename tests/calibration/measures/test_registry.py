from __future__ import annotations

import math
import re
from dataclasses import replace

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit  # type: ignore[import-untyped]

from assay.calibration.measures.registry import LOGIT_CEILING, MEASURES, enter, enter_one, measures_of, raw_probability, scaled_length
from assay.inference.model import Generation, StopReason, Timings, Token


def logit(logprob: float) -> float:
    return float(enter("total_logprob", logprob))


TIMINGS = Timings(1.0, 1.0, 3, 0)


def generation(*tokens: tuple[float, float, float], text: str = "x = 1") -> Generation:
    made = tuple(Token(i, b"t", logprob, other, entropy) for i, (logprob, other, entropy) in enumerate(tokens))
    return Generation(text, made, StopReason.LINE, TIMINGS)


def test_measures_are_sums_means_and_the_worst_token() -> None:
    found = measures_of(generation((-0.1, -2.5, 0.5), (-1.5, -0.5, 1.5), (-0.2, -3.0, 0.4)))
    assert found == pytest.approx(
        {
            "total_logprob": -1.8,
            "token_count": 3,
            "mean_logprob": -0.6,
            "mean_probability": (math.exp(-0.1) + math.exp(-1.5) + math.exp(-0.2)) / 3,
            "min_logprob": -1.5,
            "lowest_logprob": -0.6,
            "mean_entropy": 0.8,
            "mean_margin": (2.4 - 1.0 + 2.8) / 3,
            "length": 5,
        }
    )
    assert found.keys() | {"parses"} == {measure.name for measure in MEASURES.values() if measure.kind in ("intrinsic", "baseline")}


@pytest.mark.parametrize(("parses", "measured"), [(True, {"parses": 1.0}), (False, {"parses": 0.0}), (None, {})])
def test_whether_a_text_parses_is_a_measure_where_somebody_looked(parses: bool | None, measured: dict[str, float]) -> None:
    found = measures_of(replace(generation((-0.1, -2.5, 0.5)), parses=parses))
    assert {name: value for name, value in found.items() if name == "parses"} == measured


def test_length_counts_characters_and_the_margin_is_left_out_where_there_was_no_other_token() -> None:
    found = measures_of(generation((0.0, -math.inf, 0.0), text="é = 'ß'"))
    assert found["length"] == 7
    assert "mean_margin" not in found


@given(st.one_of(st.floats(-1e4, -1e-300), st.floats(-300, 4).map(lambda e: -(10.0**e))))
def test_logit_is_exact_from_the_smallest_to_the_largest_probability(s: float) -> None:
    with mpmath.workdps(400):
        exact = min(mpmath.mpf(s) - mpmath.log(-mpmath.expm1(mpmath.mpf(s))), mpmath.mpf(LOGIT_CEILING))
        assert abs(mpmath.mpf(logit(s)) - exact) <= 1e-15 * max(1, abs(exact), abs(s))


@pytest.mark.parametrize("s", [0.1, math.nan])
def test_what_is_no_log_probability_is_refused(s: float) -> None:
    with pytest.raises(ValueError, match=r"log-probability|not finite"):
        enter("total_logprob", s)


@pytest.mark.parametrize("name", MEASURES)
@given(value=st.floats(-2000, 2000) | st.sampled_from([0.0, -5e-324, -1e-300, -1e-17, 1.0, 0.5, 1e9, math.inf, math.nan]))
@settings(max_examples=60)
def test_one_value_enters_as_in_an_array_or_is_refused_alike(name: str, value: float) -> None:
    try:
        expected = float(enter(name, value))
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            enter_one(name, value)
    else:
        assert enter_one(name, value) == pytest.approx(expected, rel=1e-14, abs=1e-300)


def test_counts_enter_by_ratio_and_may_be_zero() -> None:
    assert enter("length", [0, math.e - 1]) == pytest.approx([0, 1])
    with pytest.raises(ValueError, match="negative count"):
        enter("token_count", [-1.0])


@given(st.floats(0, 1))
def test_a_stored_probability_enters_as_its_logit(p: float) -> None:
    with mpmath.workdps(400):
        exact = mpmath.log(p) - mpmath.log(1 - mpmath.mpf(p)) if 0 < p < 1 else math.copysign(math.inf, p - 0.5)
        exact = max(min(exact, mpmath.mpf(LOGIT_CEILING)), -mpmath.mpf(LOGIT_CEILING))
        assert abs(float(enter("mean_probability", p)) - exact) <= 1e-14 * max(1, abs(exact))


def test_a_said_percentage_is_never_taken_for_more_than_its_last_digit_says() -> None:
    assert enter("verbalised", [0.0, 0.005, 0.5, 0.8, 1.0]) == pytest.approx([-5.293305, -5.293305, 0, math.log(4), 5.293305])


def test_the_odds_of_true_enter_as_they_are_also_where_their_probability_would_be_0_or_1() -> None:
    assert enter("ask_true_normalised", [-900.0, 0.0, 900.0]).tolist() == [-900.0, 0.0, 900.0]
    assert raw_probability("ask_true_normalised", [-900.0, 0.0, 900.0]) == pytest.approx([0.0, 0.5, 1.0])


@pytest.mark.parametrize("name", ["mean_probability", "verbalised"])
@pytest.mark.parametrize("p", [-0.1, 1.0000001])
def test_what_is_no_probability_is_refused(name: str, p: float) -> None:
    with pytest.raises(ValueError, match="not between 0 and 1"):
        enter(name, p)
    with pytest.raises(ValueError, match="not between 0 and 1"):
        raw_probability(name, p)


@given(st.lists(st.floats(-50, -1e-6), min_size=1, max_size=9))
def test_what_is_a_log_probability_is_taken_for_its_probability(values: list[float]) -> None:
    for name in ("total_logprob", "mean_logprob", "ask_true"):
        assert raw_probability(name, values) == pytest.approx(np.exp(values))
        # the two ways into a calibrator agree: what enters is the logit of what is said raw
        assert expit(enter(name, values)) == pytest.approx(np.exp(values))


def test_length_is_scaled_to_the_shortest_and_the_longest_reference() -> None:
    assert scaled_length([0, 10, 20, 40, 90], 10, 40).tolist() == [0, 0, 1 / 3, 1, 1]
    assert scaled_length([7, 8], 5, 5).tolist() == [0.5, 0.5]
    assert raw_probability("length", [10.0, 40.0, 20.0]) == pytest.approx([0, 1, 1 / 3])
    assert raw_probability("length", []) == pytest.approx([])


def test_what_a_server_does_not_tell_is_left_out_never_made_up() -> None:
    told = Token(1, b"x", -0.5, None, None)
    measures = measures_of(Generation("x", (told,), StopReason.LINE, Timings(0.0, 0.0, 1, 0)))
    assert measures["total_logprob"] == -0.5
    assert not {"mean_margin", "mean_entropy"} & measures.keys()
    silent = Token(-1, b"x", math.nan, None, None)
    assert measures_of(Generation("x", (silent,), StopReason.LINE, Timings(0.0, 0.0, 1, 0))) == {"length": 1.0}

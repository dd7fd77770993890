from __future__ import annotations

import math

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.measures.agreement import SINGLE_DRAW, Drawn, distinct
from assay.calibration.measures.registry import enter_one
from assay.inference.model import Generation, StopReason, Timings, Token


def generation(text: str, *logprobs: float, stopped_by: StopReason = StopReason.LINE) -> Generation:
    return Generation(
        text, tuple(Token(i, b"t", logprob, None, None) for i, logprob in enumerate(logprobs)), stopped_by, Timings(1.0, 1.0, 3, 0)
    )


def test_of_one_text_the_first_is_given_and_all_count() -> None:
    first, other, again = generation("a", math.log(0.3)), generation("b", math.log(0.1)), generation("a", math.log(0.1))
    (one, of_one), (two, of_two) = distinct([first, other, again], 4)
    assert (one, two) == (first, other)
    assert (of_one.rank, of_two.rank, of_one.count) == (1, 2, 4)
    assert of_one.agreement == pytest.approx(math.log(0.8))
    assert of_two.measures == pytest.approx({"agreement": math.log(0.2)})


def test_one_alone_has_no_agreement_whether_it_was_drawn_alone_or_is_left_of_several() -> None:
    made = generation("a", -1.0)
    assert distinct([made], 1) == distinct([made], 4) == [(made, SINGLE_DRAW)]
    assert Drawn(1, 1, None) == SINGLE_DRAW
    assert SINGLE_DRAW.measures == {}
    assert distinct([], 4) == []


@pytest.mark.parametrize(
    "other",
    [
        generation("b", math.nan),
        generation("b"),
        generation("b", -1.0, stopped_by=StopReason.TIME),
        generation("b", -1.0, stopped_by=StopReason.CANCELLED),
    ],
)
def test_where_one_probability_is_not_known_no_share_is(other: Generation) -> None:
    assert [drawn for _, drawn in distinct([generation("a", -1.0), other], 2)] == [Drawn(1, 2), Drawn(2, 2)]


logprobs = st.lists(st.floats(-2000, 0), min_size=1, max_size=5)


@given(st.lists(st.tuples(st.sampled_from("abc"), logprobs), min_size=2, max_size=8))
def test_shares_are_exact_however_small_and_sum_to_one(made: list[tuple[str, list[float]]]) -> None:
    found = distinct([generation(text, *values) for text, values in made], len(made))
    with mpmath.workdps(60):
        sums = {text: mpmath.fsum(mpmath.exp(mpmath.fsum(v)) for t, v in made if t == text) for text, _ in made}
        whole = mpmath.fsum(sums.values())
        for one, drawn in found:
            assert drawn.agreement == pytest.approx(float(mpmath.log(sums[one.text] / whole)), rel=1e-12, abs=1e-12)
            assert drawn.agreement <= 0
            assert math.isfinite(enter_one("agreement", drawn.agreement))
    assert math.fsum(math.exp(drawn.agreement or 0.0) for _, drawn in found) == pytest.approx(1)
    assert [one.text for one, _ in found] == list(dict.fromkeys(text for text, _ in made))

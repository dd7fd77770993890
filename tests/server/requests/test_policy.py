from __future__ import annotations

import math
import uuid
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.bands import band_of
from assay.calibration.confidence import Confidence, NumberStatus, uncalibrated
from assay.server.requests.policy import decide, draw_of

SHARES = st.floats(0, 1)


def sure(probability: float) -> Confidence:
    word = band_of(probability).word
    return Confidence("informative", "exact_match", probability, probability / 2, (1 + probability) / 2, word, "c" * 16, "")


CONFIDENCES = st.one_of(st.just(uncalibrated("exact_match")), st.builds(sure, st.floats(0.001, 0.999)))


@pytest.mark.parametrize(("probability", "shown"), [(0.39, False), (0.4, True), (0.9, True)])
def test_the_dial_shows_from_its_probability_on(probability: float, shown: bool) -> None:
    decision = decide(sure(probability), show_above=0.4, show_uncalibrated=False, explore=0.0, draw=0.5)
    assert (decision.shown, decision.propensity) == (shown, float(shown))
    assert decision.reason == f"its probability, {probability}, is {'at least' if shown else 'below'} 0.4"


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("status", ["uncalibrated", "missing"])
def test_what_has_no_probability_is_shown_where_the_user_wants_such(shown: bool, status: NumberStatus) -> None:
    unknown = replace(uncalibrated("exact_match"), status=status)
    decision = decide(unknown, show_above=0.0, show_uncalibrated=shown, explore=0.0, draw=0.5)
    assert (decision.shown, decision.propensity) == (shown, float(shown))


@pytest.mark.parametrize("invoked", [False, True])
def test_what_is_beyond_all_that_a_calibrator_has_seen_comes_only_when_it_is_invoked(invoked: bool) -> None:
    beyond = replace(uncalibrated("exact_match"), status="outside", reason="length is 900, the calibrator has seen 1 to 122")
    decision = decide(beyond, show_above=0.0, show_uncalibrated=True, explore=0.0, draw=0.5, invoked=invoked)
    assert decision.shown is invoked
    assert invoked or beyond.reason in decision.reason


@given(CONFIDENCES, SHARES, st.floats(0, 1, exclude_max=True))
def test_what_was_asked_for_is_shown_whatever_the_dial_says(confidence: Confidence, show_above: float, draw: float) -> None:
    decision = decide(confidence, show_above=show_above, show_uncalibrated=False, explore=0.0, draw=draw, invoked=True)
    assert (decision.shown, decision.propensity) == (True, 1.0)


@given(CONFIDENCES, SHARES, st.booleans(), st.integers(0, 100))
def test_the_propensity_is_the_share_of_all_draws_that_show_it(confidence: Confidence, show_above: float, bare: bool, percent: int) -> None:
    draws = [(k + 0.5) / 100 for k in range(100)]
    every = [decide(confidence, show_above=show_above, show_uncalibrated=bare, explore=percent / 100, draw=draw) for draw in draws]
    assert len({decision.propensity for decision in every}) == 1
    assert every[0].propensity == pytest.approx(sum(decision.shown for decision in every) / len(every))


@pytest.mark.parametrize(
    "wrong", [{"show_above": 1.1}, {"show_above": math.nan}, {"explore": -0.1}, {"explore": math.nan}, {"draw": 1.0}, {"draw": -0.1}]
)
def test_what_is_no_share_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        decide(sure(0.5), show_uncalibrated=True, **({"show_above": 0.5, "explore": 0.0, "draw": 0.5} | wrong))


def test_a_generation_has_one_draw_and_those_of_many_are_uniform() -> None:
    ids = [uuid.UUID(int=n * 0x9E3779B97F4A7C15).hex[:12] + str(n) for n in range(20_000)]
    draws = [draw_of(one) for one in ids]
    assert draws == [draw_of(one) for one in ids]
    assert all(0 <= draw < 1 for draw in draws)
    counts = [0] * 20
    for draw in draws:
        counts[int(20 * draw)] += 1
    # Σ (n - 1000)² / 1000 is chi-squared with 19 degrees of freedom: above 43.8 once in 1,000 times, and these ids are fixed
    assert sum((count - 1000) ** 2 / 1000 for count in counts) < 43.8

from __future__ import annotations

import time
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.measures.verbalised import PHRASES, probability_in

STATED = {
    "80%": 0.8,
    "80,5 %": 0.805,
    "0": 0.0,
    r"\boxed{80\%}": 0.8,
    "Probability: [0.9]": 0.9,
    "The probability that this completion is correct is 90%.": 0.9,
    "I am 90% confident": 0.9,
    "8/10": 0.8,
    "50/50": 0.5,
    "70-80%": 0.75,
    "On a scale of 0-100: 80%": 0.8,
    "70% of the time": 0.7,
    "It is almost certain that this fits": 0.95,
    "almost certainly not": 0.07,
}
REFUSED = {
    "": "no probability",
    "line 80": "no probability",
    "80% of the tests pass": "no probability",
    "It is not likely": "no probability",
    "Certainly!": "no probability",
    "-20%": "negative",
    "120 %": "more than certain",
    "1": "one percent or certainty",
    "at least 80%": "only a bound",
    "not 100% sure, but 70%": "denied",
    "80% or maybe 20%": "they differ",
    "There is an 80% chance that it is wrong": "speaks of being wrong",
    "unlikely to fail": "speaks of being wrong",
}


@pytest.mark.parametrize(("answer", "probability"), STATED.items())
def test_a_stated_probability_is_read(answer: str, probability: float) -> None:
    assert probability_in(answer) == probability


@pytest.mark.parametrize(("answer", "reason"), REFUSED.items())
def test_what_states_none_or_no_clear_one_is_refused_with_the_reason(answer: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        probability_in(answer)


percentages = st.one_of(st.integers(0, 100).map(Decimal), st.decimals(0, 100, places=1), st.decimals(0, 100, places=2))
IN_PERCENT = [
    "{}%",
    "{} %",
    "{} percent",
    "Probability: {}%",
    "I'd say {} % .",
    "I am {}% sure that it is right",
    "line 12: {}%",
    "**{}%**",
    "{}/100",
]


@given(percentages, st.sampled_from(IN_PERCENT))
def test_every_percentage_is_read_as_it_is_written(percentage: Decimal, template: str) -> None:
    assert probability_in(template.format(percentage)) == float(percentage / 100)


@given(st.integers(0, 10_000), st.sampled_from(["line {}", "{} bugs", "{} lines of code", "version {}", "it has {} tests", "x{}", "{}th"]))
def test_a_count_or_a_place_is_no_probability(number: int, template: str) -> None:
    with pytest.raises(ValueError, match="no probability"):
        probability_in(template.format(number))


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_means_what_people_were_found_to_mean(phrase: str) -> None:
    for answer in (phrase, f"It is {phrase.upper()}.", f"  {phrase}\n"):
        assert probability_in(answer) == PHRASES[phrase]
    assert probability_in(f"{phrase}, 33%") == 0.33


@given(st.one_of(st.text(), st.text("0123456789.,%-/ ()", max_size=40), st.text("0123456789.% abouttoprobability", max_size=40)))
def test_whatever_a_model_writes_there_is_a_probability_or_none(answer: str) -> None:
    try:
        p = probability_in(answer)
    except ValueError:
        return
    assert 0 <= p <= 1


@pytest.mark.parametrize("piece", ["9", "1 to ", "80% ", "(", "probability is ", "very "])
def test_a_long_answer_is_read_in_a_moment(piece: str) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match=r"\w"):
        probability_in("line " + piece * (4000 // len(piece)) + "7 bugs are wrong")
    assert time.process_time() - began < 2

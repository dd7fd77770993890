from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from assay.suggestion.repair.order import by_gain, by_gain_and_size, in_turns


def test_what_gains_more_comes_first_and_what_has_no_gain_last() -> None:
    small, large = {"logprob_gain": 1.0, "edit_size": 1.0}, {"logprob_gain": 9.0, "edit_size": 40.0}
    assert by_gain(large) > by_gain(small) > by_gain({"edit_size": 1.0}) == -math.inf


def test_a_small_edit_may_gain_less() -> None:
    small, large = {"logprob_gain": 1.0, "edit_size": 1.0}, {"logprob_gain": 9.0, "edit_size": 40.0}
    assert by_gain_and_size(small) > by_gain_and_size(large)
    assert by_gain_and_size({"edit_size": 1.0}) == -math.inf


def test_the_best_of_both_come_in_turns() -> None:
    assert list(in_turns("ab", "xyz")) == ["a", "x", "b", "y", "z"]
    assert list(in_turns("", "xyz")) == ["x", "y", "z"]


@given(st.lists(st.integers(0, 9), unique=True), st.lists(st.integers(0, 9), unique=True))
def test_in_turns_each_is_given_once_and_none_falls_behind_its_place_times_two(first: list[int], second: list[int]) -> None:
    given_in_turns = list(in_turns(first, second))
    assert sorted(given_in_turns) == sorted({*first, *second})
    for ranking in (first, second):
        assert all(given_in_turns.index(item) <= 2 * place + 1 for place, item in enumerate(ranking))

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.schedule import MILLION, WARM_UP_STEPS, branch_point, constant_rate, decayed_rate, due, least


def test_the_rate_warms_up_and_stays_and_falls_to_zero_in_a_branch() -> None:
    assert constant_rate(0) == 1 / WARM_UP_STEPS
    assert constant_rate(WARM_UP_STEPS) == constant_rate(10**6) == 1.0
    assert decayed_rate(21, 21, 30) == 1.0
    assert decayed_rate(27, 21, 30) == pytest.approx(1 / 3)
    assert decayed_rate(31, 21, 30) == 0.0


def test_a_file_branches_off_where_70_percent_of_its_tokens_are_seen() -> None:
    assert due(20 * MILLION, [30, 60]) is None
    assert due(21 * MILLION, [30, 60]) == 30
    assert due(42 * MILLION, [60]) == 60
    assert due(10**9, []) is None


@given(st.integers(0, 10**9))
def test_the_smallest_file_that_can_still_be_made_is_due_and_has_a_tenth_of_its_tokens_left(tokens: int) -> None:
    millions = least(tokens)
    assert branch_point(millions) >= 0.9 * MILLION * (millions - 1) * 0.7
    assert tokens <= 0.9 * millions * MILLION
    assert millions == 1 or tokens > 0.9 * (millions - 1) * MILLION

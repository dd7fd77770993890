from __future__ import annotations

from functools import reduce
from typing import Literal, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.server.requests.debounce import Recent, What, after, delay_ms

EVENTS = st.lists(st.tuples(st.sampled_from(get_args(What)), st.floats(0, 2000)), max_size=30)


def waited(recent: Recent, at_s: float = 0.0, first_ms: float | None = None) -> float:
    return delay_ms(recent, at_s, invoked=False, first_ms=first_ms)


def lived(*events: tuple[What, float]) -> Recent:
    return reduce(lambda recent, event: after(recent, *event), events, Recent())


def typed(gap_s: float, count: int = 60) -> Recent:
    return reduce(lambda recent, number: after(recent, "typed", gap_s * number), range(count), Recent())


@given(EVENTS, st.floats(0, 1e6), st.none() | st.floats(0, 1e6))
def test_the_wait_is_5_to_300_ms_whatever_happened(events: list[tuple[What, float]], at_s: float, first_ms: float | None) -> None:
    assert 5 <= waited(lived(*events), at_s, first_ms) <= 300


@given(EVENTS, st.sampled_from([0.0, 75.0, 5000.0, "adaptive"]))
def test_nobody_waits_for_what_was_asked_for(events: list[tuple[What, float]], setting: float | Literal["adaptive"]) -> None:
    assert delay_ms(lived(*events), 1.0, invoked=True, first_ms=900.0, setting=setting) == 0


@given(EVENTS, st.sampled_from([0, 75.0, 5000.0]))
def test_a_wait_that_the_user_set_is_kept(events: list[tuple[What, float]], setting: float) -> None:
    assert delay_ms(lived(*events), 1.0, invoked=False, first_ms=900.0, setting=setting) == setting


def test_rejections_in_a_row_make_the_wait_longer_and_acceptances_shorter() -> None:
    rejected: list[tuple[What, float]] = [("rejected", 0.0)] * 6
    waits = [waited(lived(*rejected[:count])) for count in range(7)]
    assert waits == sorted(set(waits))
    assert waits[0] == 5
    assert waits[3] == pytest.approx(178, abs=1)
    assert waited(lived(*rejected, ("accepted", 0.0), ("accepted", 0.0))) == 5


def test_what_happened_long_ago_matters_no_more() -> None:
    recent = reduce(lambda recent, _: after(recent, "rejected", 0.0), range(6), Recent())
    assert waited(recent, 0) > waited(recent, 300) > waited(recent, 1200)
    assert waited(recent, 6000) < 11


def test_an_answer_that_comes_before_the_next_keystroke_is_asked_for_at_once() -> None:
    assert waited(typed(0.15), first_ms=120.0) == 5
    assert waited(typed(0.15), first_ms=None) == 5


def test_an_answer_that_would_come_too_late_waits_for_the_end_of_a_row_of_keystrokes() -> None:
    assert waited(typed(0.08), first_ms=250.0) == pytest.approx(120, rel=0.02)
    assert waited(typed(0.15), first_ms=250.0) == pytest.approx(225, rel=0.02)
    assert waited(typed(0.35), first_ms=250.0) == 5


def test_pauses_and_an_editor_s_own_changes_are_no_rhythm() -> None:
    assert typed(0.15).interval_ms == pytest.approx(150, rel=0.02)
    assert typed(0.005).interval_ms == typed(5.0).interval_ms == Recent().interval_ms

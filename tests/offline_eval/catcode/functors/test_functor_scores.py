"""Means over places: each data set counts alike, and the intervals are by problem."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.catcode.functors.tables import Answered, Scored, mean_of_places


@dataclass(frozen=True, slots=True)
class One:
    id: str
    group: str
    place: str
    value: float


def items(*places: list[float]) -> list[One]:
    return [One(f"{n}/{i}", f"{n}/{i}", str(n), value) for n, values in enumerate(places) for i, value in enumerate(values)]


@given(places=st.lists(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=6), min_size=1, max_size=4))
def test_every_place_counts_alike_however_many_problems_it_has(places: list[list[float]]) -> None:
    found = mean_of_places(items(*places), lambda item: item.value)
    assert found.value == pytest.approx(sum(sum(values) / len(values) for values in places) / len(places))
    assert found.groups == found.n == sum(map(len, places))
    assert found.found is not None
    assert 0 <= found.found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.found.high <= 1


def test_where_nothing_varies_the_interval_has_a_width() -> None:
    found = mean_of_places(items([1.0] * 4, [1.0] * 4), lambda item: item.value)
    assert found.found is not None
    assert (found.value, found.found.high) == (1.0, 1.0)
    assert 0.4 < found.found.low < 0.8


def scored(*answers: Answered, judged: bool = True) -> Scored:
    return Scored("x", "g", "s", "java", "python", {"named": answers}, {"named": 2}, {"named": 1}, {"named": 0}, judged)


def test_one_unknown_answer_makes_the_share_unknown_and_copies_can_be_left_out() -> None:
    item = scored(Answered("passes", copied=True), Answered("wrong"))
    assert (item.pass_at_1("named"), item.pass_at_1("named", copies=False)) == (0.5, 0.0)
    assert item.pass_at_1("header") is None
    assert scored(Answered("passes"), Answered(None)).pass_at_1("named") is None
    assert scored(Answered("unreadable"), judged=False).pass_at_1("named") is None
    assert scored(Answered("passes", copied=True)).pass_at_1("named", copies=False) is None

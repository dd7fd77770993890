"""Scores of round trips, on records of which each number is known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.rtc.asking import Code
from assay.offline_eval.rtc.labelling import Label, label_id
from assay.offline_eval.rtc.scores import Scored, longer_by, scored, unreadable_of

RIGHT = "return left + right"


def item_of(name: str = "a", code: str = RIGHT, group: str = "") -> Code:
    return Code(name, group or name, "def f(left, right):\n    ", code, "\n", documented="def f(left, right):\n    ")


def rebuilding(arm: str, of: int, text: str | None) -> Any:
    return {"arm": arm, "of": of, "text": text, "said": "", "stopped_by": "end", "exact": text == RIGHT}


def one(descriptions: list[str | None], trips: list[str | None], baseline: list[str | None], labels: dict[str, bool | None]) -> Scored:
    """The scores of an item whose descriptions these are; of each that there is comes one trip."""
    item = item_of()
    there = [number for number, text in enumerate(descriptions) if text is not None]
    made = [rebuilding("description", of, text) for of, text in zip(there, trips, strict=True)]
    made += [rebuilding("baseline", 0, text) for text in baseline]
    described = [{"id": "a", "descriptions": [{"text": text, "said": "", "stopped_by": "end"} for text in descriptions]}]
    known = [Label(id=label_id("a", text), tests_pass=passes, why="") for text, passes in labels.items()]
    (found,) = scored([item], described, [{"id": "a", "rebuilt": made}], known, backward=1)  # type: ignore[list-item, arg-type]
    return found


def test_a_trip_counts_by_its_label_and_the_code_itself_needs_none() -> None:
    found = one(["Add.", "Add both.", "Add up."], [RIGHT, "x", "y"], ["x", "y", "y"], {"x": True, "y": False})
    assert (found.rtc("tests_pass"), found.without("tests_pass"), found.any_of("tests_pass")) == pytest.approx((2 / 3, 1 / 3, 1))
    assert found.lift("tests_pass") == pytest.approx(1 / 3)
    assert found.rtc("exact") == pytest.approx(1 / 3)


def test_a_trip_through_a_copy_is_left_out_where_copies_are() -> None:
    found = one(["Say: return left + right", "Add.", "Add up."], [RIGHT, "y", "y"], ["y"], {"y": False})
    assert (found.copies, found.rtc("tests_pass"), found.rtc("tests_pass", copies=False)) == (1, pytest.approx(1 / 3), 0)
    assert (found.any_of("tests_pass"), found.any_of("tests_pass", copies=False)) == (1, 0)
    only = one(["return left + right"], [RIGHT], ["y"], {"y": False})
    assert only.rtc("tests_pass", copies=False) is None
    assert only.lift("tests_pass", copies=False) is None


def test_what_can_not_be_read_fails_and_is_counted() -> None:
    found = one([None, "Add.", "Add up."], [None, RIGHT], [RIGHT], {})
    assert found.rtc("tests_pass") == pytest.approx(1 / 3)
    assert (found.answers, found.unreadable) == (3 + 3, 2)
    assert unreadable_of([found]).value == pytest.approx(2 / 6)


def test_an_item_with_a_text_without_a_label_is_not_known_rather_than_right() -> None:
    for labels in ({}, {"x": None}):
        found = one(["Add.", "Add up."], [RIGHT, "x"], [RIGHT], labels)
        assert found.rtc("tests_pass") is None
        assert found.rtc("exact") == pytest.approx(1 / 2)


@given(outcomes=st.lists(st.tuples(st.sampled_from([RIGHT, "x", "y", None]), st.sampled_from(["x", "y"])), min_size=1, max_size=6))
def test_shares_are_shares_and_the_lift_is_their_difference(outcomes: list[tuple[str | None, str]]) -> None:
    trips, baseline = ([each[i] for each in outcomes] for i in (0, 1))
    found = one(["Add."] * len(trips), trips, list(baseline), {"x": True, "y": False})
    rtc, without, lift, any_of = (
        found.rtc("tests_pass"), found.without("tests_pass"), found.lift("tests_pass"), found.any_of("tests_pass"),
    )  # fmt: skip
    assert rtc is not None
    assert without is not None
    assert 0 <= rtc <= 1
    assert lift == pytest.approx(rtc - without)
    assert any_of == float(rtc > 0)


def items(count: int, came_back: int) -> list[Scored]:
    """Items of which the first so many come back, and are shorter by 10."""
    made = []
    for number in range(count):
        back = number < came_back
        found = one(["Add."], [RIGHT if back else "y"], ["y"], {"y": False})
        made.append(Scored(str(number), str(number), 20 + 10 * (not back) + number % 2, *_rest(found)))
    return made


def _rest(found: Scored) -> tuple[Any, ...]:
    return found.trips, found.baseline, found.direct, found.descriptions, found.copies, found.answers, found.unreadable


def test_code_that_does_not_come_back_is_longer_here_and_the_interval_says_so() -> None:
    back, not_back, difference = longer_by(items(40, 20), "tests_pass")
    assert (back.value, not_back.value, difference.value) == (20.5, 30.5, 10)
    assert difference.found is not None
    assert difference.found.low > 9
    assert longer_by(items(4, 4), "tests_pass")[2].value is None

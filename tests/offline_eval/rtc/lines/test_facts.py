"""What round trips came to, and the rates that are made of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from assay.offline_eval.calibration.draw import label_id
from assay.offline_eval.rtc.lines.facts import facts_of
from assay.offline_eval.rtc.lines.rates import lengths_of, mean_cell, rates

PLACE, TRUTH = "shop:shop/sums.py:9", "return total + tax"


def answer(inserted: str | None) -> dict[str, Any]:
    exact = inserted == TRUTH
    made = {"id": f"{PLACE}:line", "task": "line", "inserted": inserted, "truth": TRUTH, "labels": {"exact_match": exact}}
    alternative = {**made, "id": f"{PLACE}:line:2", "inserted": "another", "rank": 2}
    return {"id": PLACE, "project": "shop", "file": "shop/sums.py", "function": "f", "line": 9, "generations": [made, alternative]}


def trip(comment: str, *texts: str | None, code: str) -> dict[str, Any]:
    return {
        "comment": comment,
        "logprob": -1.0,
        "rebuilt": [{"text": text or "", "inserted": text, "equal": text == code} for text in texts],
    }


def trips(code: str, *comments: tuple[str, str | None], uninformed: str | None = None) -> dict[str, Any]:
    told = [trip(comment, text, code=code) for comment, text in comments]
    return {label_id(PLACE, "line", code): {"id": "", "trips": told, "uninformed": trip("TODO", uninformed, code=code)}}


def said(**passes: bool | None) -> dict[str, bool | None]:
    return {label_id(PLACE, "line", text): value for text, value in passes.items()}


def test_the_projects_own_line_passes_without_being_run_and_a_hidden_one_fails() -> None:
    rebuilt = trips(TRUTH, ("add the tax", TRUTH), ("total", "wrong"), ("nothing", None), uninformed="unjudged")
    (place,) = facts_of([answer(None)], rebuilt, said(wrong=False), ("truth", "suggestion"))  # type: ignore[list-item]
    assert (place["passes"], place["exact"]) == (False, False)
    assert list(place["codes"]) == ["truth"]
    truth = place["codes"]["truth"]
    assert truth["passes"] is True
    assert [each["passes"] for each in truth["trips"]] == [1, 0, 0]
    assert [each["equal"] for each in truth["trips"]] == [1, 0, 0]
    assert truth["uninformed"]["passes"] is None, "the tests have not judged it"


def test_only_the_first_choice_goes_around() -> None:
    rebuilt = trips("another", ("told", "another"))
    (place,) = facts_of([answer("first")], rebuilt, {}, ("suggestion",))  # type: ignore[list-item]
    assert place["codes"] == {}


def test_a_description_that_recites_the_code_is_a_copy() -> None:
    rebuilt = trips(TRUTH, ("return total + tax", TRUTH), ("sum it up", TRUTH))
    (place,) = facts_of([answer(TRUTH)], rebuilt, {}, ("truth", "suggestion"))  # type: ignore[list-item]
    for code in ("truth", "suggestion"):
        assert [each["copied"] for each in place["codes"][code]["trips"]] == [True, False]


def place_of(project: str, comments: list[tuple[str, str | None]], uninformed: str, inserted: str = "wrong") -> Any:
    rebuilt = trips(TRUTH, *comments, uninformed=uninformed) | trips(inserted, *comments, uninformed=uninformed)
    (found,) = facts_of([answer(inserted)], rebuilt, said(wrong=False, right=True), ("truth", "suggestion"))  # type: ignore[list-item]
    return {**found, "project": project}


def test_lift_is_what_descriptions_add_to_a_comment_that_says_nothing() -> None:
    facts = [
        place_of("a", [("one", "right"), ("two", "wrong")], "wrong"),
        place_of("b", [("one", "wrong"), ("two", "wrong")], "right"),
    ]
    found = rates(facts, "truth", "passes", copies=True)
    assert found.rtc.tolist() == [0.5, 0]
    assert found.best.tolist() == [1, 0]
    assert found.lift.tolist() == [0.5, -1]
    assert found.bare.tolist() == [0, 0]
    assert found.names == ("a", "b")


def test_a_wrong_rebuild_of_a_wrong_suggestion_has_the_same_verdict() -> None:
    facts = [place_of("a", [("one", "right"), ("two", "wrong")], "wrong")]
    assert rates(facts, "suggestion", "same", copies=True).rtc.tolist() == [0.5]
    assert rates(facts, "suggestion", "equal", copies=True).rtc.tolist() == [0.5]
    assert rates(facts, "suggestion", "passes", copies=True).rtc.tolist() == [0.5]


def test_without_copies_only_other_descriptions_count_and_places_without_any_are_left_out() -> None:
    facts = [
        place_of("a", [(TRUTH, "right"), ("two", "wrong")], "wrong"),
        place_of("b", [(TRUTH, "right"), (TRUTH, "right")], "wrong"),
    ]
    assert rates(facts, "truth", "passes", copies=True).rtc.tolist() == [0.5, 1]
    found = rates(facts, "truth", "passes", copies=False)
    assert (found.rtc.tolist(), found.names) == ([0], ("a",))


@pytest.mark.parametrize("copies", [True, False])
def test_places_that_are_not_judged_are_in_no_rate(copies: bool) -> None:
    facts = [place_of("a", [("one", "unjudged")], "wrong")]
    assert len(rates(facts, "truth", "passes", copies=copies).rtc) == 0
    assert len(rates(facts, "truth", "equal", copies=copies).rtc) == 1
    assert len(lengths_of(facts, "truth").made) == 0


def test_a_share_stays_between_0_and_1_and_a_difference_between_minus_1_and_1() -> None:
    groups = np.array([0, 0, 1, 1])
    share = mean_cell("a", np.array([0.0, 0.0, 0.0, 1.0]), groups, percent=True)
    lift = mean_cell("b", np.array([0.0, 0.0, -1.0, 1.0]) - 0.5, groups, percent=True, sign=True)
    assert 0 <= (share.low or 0) < (share.value or 0) < (share.high or 0) <= 1
    assert -1 <= (lift.low or 0) <= (lift.high or 0) <= 1
    assert mean_cell("c", np.array([0.5]), np.array([0])).low is None, "one group has no interval"
    assert mean_cell("d", np.array([]), np.array([], dtype=np.intp)).value is None


def test_the_length_split_compares_codes_by_whether_one_rebuild_passed() -> None:
    facts = [place_of(name, [("one", "right" if number % 2 else "wrong")], "wrong") for number, name in enumerate("aabbcc")]
    for number, each in enumerate(facts):
        each["codes"]["truth"]["text"] = "x" * (10 if number % 2 else 30 + number)
    found = lengths_of(facts, "truth")
    assert found.made.tolist() == [False, True] * 3
    assert found.difference is not None
    assert found.difference.value == pytest.approx(10 - 32)

"""Who repairs what at which rank, and what verification by a part of the tests is worth."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.repairs.candidates import (
    Attempt,
    Candidate,
    answer_of,
    distinct,
    first_verified,
    is_verified,
    mutants,
    of,
    repaired,
    repaired_within,
    sample_id,
    seen_tests,
    tried,
)
from assay.offline_eval.repairs.lines.steps import failure_of
from assay.offline_eval.repairs.tables import (
    Numbers,
    chance_by,
    chance_within,
    fault_of,
    faults_table,
    generations_of,
    verified_samples,
)

BUG = {
    "source": "rule",
    "spectrum": {
        "suspects": [["shop/a.py", 3, 2, 0, 1.0], ["shop/b.py", 3, 2, 0, 1.0], ["shop/a.py", 8, 2, 4, 0.5]],
        "lines": 3, "wrong": [3], "above": 0, "alike": 2,
    },
}  # fmt: skip


@given(st.integers(0, 3), st.integers(1, 5), st.data())
def test_the_chance_is_the_share_of_orders_that_have_a_line_of_the_bug_among_the_first(above: int, alike: int, data: st.DataObject) -> None:
    of, most = data.draw(st.integers(1, alike)), data.draw(st.integers(1, 6))
    orders = list(itertools.permutations(range(alike)))
    hits = sum(any(above + place < most for place, line in enumerate(order) if line < of) for order in orders)
    assert chance_within(above, alike, of, most) == pytest.approx(hits / len(orders))
    assert chance_by([3.0, 2.0], [False, False], 2) == chance_within(0, 0, 1, 5) == 0.0, "a line that was not looked at is never among them"


def test_surprise_tells_lines_apart_that_the_same_tests_run() -> None:
    fault = fault_of("p:a.py:3:rule", "p", "shop/a.py", BUG, [5.0, 1.0, 9.0])
    table = faults_table([fault], "project", Numbers("exact_match", None, {}))
    cells = {cell.id: cell.value for cell in table.cells()}
    assert (cells["F/rule/spectrum/1"], cells["F/rule/model/1"], cells["F/rule/both/1"]) == (0.5, 0.0, 1.0)
    assert (cells["F/rule/model/3"], cells["F/rule/spectrum/3"]) == (1.0, 1.0)


def test_each_suspect_is_a_sample_and_only_the_line_of_the_bug_is_exact() -> None:
    fault = fault_of("p:a.py:3:rule", "p", "shop/a.py", BUG, [5.0, None, 9.0])
    found = list(generations_of(fault))
    assert [one["labels"]["exact_match"] for one in found] == [True, False, False]
    assert {one["task"] for one in found} == {"fault"}
    assert len({one["id"] for one in found}) == 3
    assert found[1]["measures"]["line_surprise"] == 0.0


def candidate(name: str, *sources: str, exact: bool = False, rank: int = 1) -> Candidate:
    return {
        "lines": [0, 1], "text": name, "sources": list(sources or ("line",)), "rules": [], "measures": {"rank": rank, "logprob_gain": 1.0},
        "text_id": name, "exact": exact,
    }  # fmt: skip


def label(*changed: str, passes: bool | None = None, unknown: tuple[str, ...] = ()) -> dict[str, Any]:
    tests = [*({"test": test, "error": "wrong", "why": ""} for test in changed), *({"test": test, "error": None} for test in unknown)]
    told = (None if unknown else not changed) if passes is None else passes
    return {"tests_pass": told, "error": "wrong" if changed else "passed", "changed": tests}


def attempt(*candidates: Candidate, failing: tuple[str, ...] = ("t1",), **labels: dict[str, Any]) -> Attempt:
    return Attempt("p:a.py:3:rule", "p", "rule", "wrong_name", candidates, failing, 5, labels)


def test_a_bug_is_repaired_at_the_rank_of_the_first_right_candidate_and_by_whom() -> None:
    tried = attempt(
        candidate("a"), candidate("b", "rules"), candidate("c", "rules", "line", exact=True), a=label("t1"), b=label(passes=True)
    )  # fmt: skip
    assert [repaired_within(tried, tried.ranked("both"), "tests_pass", most) for most in (1, 2, 3)] == [False, True, True]
    assert [repaired_within(tried, tried.ranked("both"), "exact_match", most) for most in (1, 2, 3)] == [False, False, True]
    assert [each["text_id"] for each in tried.ranked("model")] == ["a", "c"]
    assert [each["text_id"] for each in tried.ranked("rules")] == ["b", "c"]


def test_what_no_test_told_of_is_unknown_and_never_wrong() -> None:
    tried = attempt(candidate("a"), candidate("b"), b=label("t1"))
    assert repaired_within(tried, tried.ranked("both"), "tests_pass", 2) is None
    assert repaired_within(tried, tried.ranked("both"), "exact_match", 2) is False


def test_of_the_tests_that_fail_for_the_bug_half_are_seen_and_one_at_least() -> None:
    for count in (1, 2, 5):
        tried = attempt(failing=tuple(f"t{number}" for number in range(count)))
        seen = seen_tests(tried, 0)
        assert sum(map(seen, tried.failing)) == (count + 1) // 2
    others = [seen_tests(tried, 0)(f"other{number}") for number in range(200)]
    assert 60 < sum(others) < 140


def test_a_candidate_is_verified_by_what_is_seen_though_a_test_that_is_held_back_fails() -> None:
    tried = attempt(candidate("a"), candidate("b"), failing=("t1", "t2"), a=label("t1", "t2"))
    seen = seen_tests(tried, 0)
    (held,) = (test for test in ("t1", "t2") if not seen(test))
    tried = attempt(candidate("a"), candidate("b"), failing=("t1", "t2"), a=label("t1", "t2"), b=label(held))
    assert is_verified(tried, candidate("b"), seen) is True
    assert first_verified(tried, tried.ranked("both"), seen) == 1
    assert tried.is_right(candidate("b"), "tests_pass") is False
    assert is_verified(tried, candidate("c"), seen) is None
    assert is_verified(tried, candidate("right", exact=True), seen) is True


def test_a_tick_is_judged_where_a_test_is_held_back_by_the_repairs_that_have_one() -> None:
    seen = seen_tests(attempt(failing=("t1", "t2")), 0)
    (held,) = (test for test in ("t1", "t2") if not seen(test))
    made = candidate("a"), candidate("b", rank=2), candidate("c", exact=True, rank=3)
    several = attempt(*made, failing=("t1", "t2"), a=label("t1", "t2"), b=label(held))
    samples = [SimpleNamespace(id=sample_id(several.id, each)) for each in made]
    ticked = verified_samples(samples, [several], 0)  # type: ignore[arg-type]
    assert ticked == samples[1:], "what fails the seen test has no ✔; what fails the other one has, and is wrong"
    assert not verified_samples(samples, [attempt(*made, b=label())], 0), "one test alone holds nothing back"  # type: ignore[arg-type]


@given(st.lists(st.sampled_from("abc"), max_size=12))
def test_tests_judge_each_text_once_and_not_the_right_one(names: list[str]) -> None:
    found = [candidate(name, exact=name == "c") for name in names]
    assert [each["text_id"] for each in distinct(found)] == [name for name in dict.fromkeys(names) if name != "c"]
    assert len(of("both", found)) == min(8, len(found))


def test_a_repair_goes_where_its_lines_are_and_without_a_score_is_no_sample() -> None:
    made = candidate("x = 1\ny = 2", rank=2)
    made["lines"], made["measures"] = [1, 2], {"rank": 2}
    assert repaired("a\nb\nc\n", made) == "a\nx = 1\ny = 2\nc\n"
    answer = answer_of("p:a.py:3:rule", {"project": "p"}, {"candidates": [candidate("a"), made]}, {"a": label()})
    assert [(one["id"], one["labels"]["tests_pass"]) for one in answer["generations"]] == [("p:a.py:3:rule:1", True)]


def test_texts_are_tested_in_order_until_one_passes() -> None:
    right = "def least(a, b):\n    return a if a < b else b\n"
    wrong = right.replace("<", ">")
    texts = [(0.0, text) for text in mutants(wrong, 2)]
    record = tried(texts, right, lambda text: (text == right, 3))
    assert (record["passed"], record["exact"], record["tried"]) == (True, True, texts.index((0.0, right)) + 1)
    assert record["tests"] == 3 * record["tried"]
    none = tried(texts, right, lambda _: (None, 1))
    assert (none["passed"], none["tried"], none["gave_up"]) == (False, len(texts), False)


def test_the_best_text_that_is_there_is_next_and_what_comes_too_late_repairs_nothing() -> None:
    order = list[str]()
    texts = [(50.0, "late"), (0.0, "second"), (0.0, "third")]
    record = tried(texts, "late", lambda text: (order.append(text) or text == "late", 1))
    assert (order, record["passed"], record["gave_up"]) == (["second", "third", "late"], True, False)
    late = tried([(61.0, "right")], "right", lambda _: (True, 1))
    assert (late["passed"], late["tests"], late["gave_up"]) == (False, 0, True)


def test_a_model_is_told_of_a_test_that_is_seen() -> None:
    changed: list[Any] = [{"test": f"t{number}", "error": "AssertionError", "why": f"says {number}"} for number in range(6)]
    for seed in range(8):
        bug = Attempt("p:a.py:3:rule", "p", "rule", "wrong_name", (), [test["test"] for test in changed], 6, {})
        failure = failure_of(bug.id, changed, seed)
        assert failure is not None
        assert seen_tests(bug, seed)(failure.test)

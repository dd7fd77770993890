from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.oracle.spectrum import ochiai, suspects

TESTS = {
    "a.py": {1: {"t1", "t2", "t3"}, 2: {"t1"}, 3: {"t1", "t2"}, 4: {"t3"}},
    "b.py": {7: {"t1"}},
}


def test_a_line_that_the_failing_test_alone_runs_comes_before_those_that_others_run_too() -> None:
    found = suspects(TESTS, {"t1"})
    assert [(each.file, each.line) for each in found] == [("a.py", 2), ("b.py", 7), ("a.py", 3), ("a.py", 1)]
    assert [(each.failing, each.passing) for each in found] == [(1, 0), (1, 0), (1, 1), (1, 2)]
    assert [each.ochiai for each in found] == [1.0, 1.0, 1 / math.sqrt(2), 1 / math.sqrt(3)]


def test_lines_that_no_failing_test_runs_are_no_suspects() -> None:
    assert suspects(TESTS, ()) == suspects(TESTS, {"t9"}) == []
    assert ("a.py", 4) not in [(each.file, each.line) for each in suspects(TESTS, {"t1", "t2"})]


def test_other_tests_that_fail_count_neither_way() -> None:
    (first, *_) = suspects(TESTS, {"t2"}, without={"t1", "t2"})
    assert (first.line, first.failing, first.passing) == (3, 1, 0)


@given(st.integers(1, 50), st.integers(0, 50), st.integers(0, 50))
def test_suspicion_is_from_0_to_1_and_falls_with_each_passing_test(failing: int, passing: int, more: int) -> None:
    said = ochiai(failing, passing, failing + more)
    assert 0 < said <= 1
    assert ochiai(failing, passing + 1, failing + more) < said

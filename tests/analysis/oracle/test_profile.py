"""What each test says of a changed text, and that this agrees with the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shop_project import SHOP, changed, isolated, name_of, write

from assay.analysis.oracle.oracle import Oracle
from assay.analysis.oracle.profile import MAX_ENDS, Control, Profile, ProfiledTest, chosen_tests, run_to_the_end, summed_up
from assay.analysis.oracle.report import ObservedTest, ProcessEnd, Report, Way


def errors(profile: Profile) -> dict[str, str | None]:
    return {name_of(test.test): test.error for test in profile.tests}


@pytest.mark.slow
@pytest.mark.parametrize("way", ["process", "whole"])
def test_each_touching_test_is_told_and_none_hides_those_after_it(oracle: Oracle, way: Way) -> None:
    text = changed("unit = 5", "unit = 6 if count > 1 else [][0]")
    profile = oracle.profile("shop.py", text, ways=(way,))
    assert errors(profile) == {"test_price[1]": "crash", "test_price[2]": "wrong", "test_in_a_process_of_its_own": "passed"}
    assert [test.change for test in profile.tests] == ["changed", "changed", "as_before"]
    assert "IndexError" in profile.tests[0].why
    assert (profile.way, profile.share_kept) == (way, 1 / 3)


def test_a_test_in_which_the_process_ends_does_not_hide_those_after_it(oracle: Oracle) -> None:
    text = changed("unit = 5", "unit = 5 if count > 1 else __import__('os')._exit(0)")
    profile = oracle.profile("shop.py", text)
    assert errors(profile) == {"test_price[1]": "crash", "test_price[2]": "passed", "test_in_a_process_of_its_own": "passed"}
    assert profile.tests[0].why == "the process ended in the middle of it"
    assert oracle.verdict("shop.py", text).label is profile.tests_pass is False


def test_tests_that_are_no_longer_collected_are_crashes(oracle: Oracle) -> None:
    profile = oracle.profile("shop.py", changed("START = at_import(1)", "START = at_importt(1)"))
    assert {test.error for test in profile.tests} == {"crash"}
    assert len(profile.tests) == len(oracle.baseline().outcomes)
    assert "NameError" in profile.tests[0].why
    assert (profile.way, profile.share_kept) == ("whole", 0.0)


@pytest.mark.slow
def test_where_more_tests_touch_a_place_the_same_are_run_for_each_text_and_the_rest_decides_nothing(oracle: Oracle) -> None:
    line = SHOP.split("\n").index("    unit = 5") + 1
    texts = [changed("unit = 5", f"unit = {unit}") for unit in ("6", "10 // 2", "None", "(5)")]
    for seed in range(2):
        profiles = [oracle.profile("shop.py", text, range(line, line + 1), most=1, seed=seed) for text in texts]
        (ran,) = {tuple(test.test for test in profile.tests) for profile in profiles}
        assert {name_of(test) for test in ran} < {"test_price[1]", "test_price[2]"}
        assert [profile.left_out for profile in profiles] == [2] * 4
        assert [profile.error for profile in profiles] == ["wrong", None, "crash", None]
        assert [profile.tests_pass for profile in profiles] == [False, None, False, None]
    with pytest.raises(ValueError, match="at least 1"):
        oracle.profile("shop.py", texts[0], most=0)


STATES = """
import pytest

import calc


def check(value):
    assert value == 1


def test_assertion_of_a_helper():
    check(calc.one("helper"))


def test_expects_an_error():
    with pytest.raises(KeyError):
        calc.one("no error")


def test_asserted_by_the_program():
    calc.one("asserted")


def test_asserts_in_a_callback():
    calc.one(check)


def test_in_a_library_that_the_program_calls():
    calc.one("library")


@pytest.fixture
def made():
    return calc.one("fixture")


def test_with_a_fixture(made):
    assert made


def test_skips_itself():
    if calc.one("skip") is None:
        pytest.skip()
"""
CALC = '''import json


def one(what):
    """One.

    >>> one("doctest that fails")
    1
    """
    return found(what)


def found(what):
    if what == "no error":
        raise KeyError(what)
    return 1
'''
CHANGED = """
    if what == "asserted": assert False
    if what == "library": json.loads("")
    if what == "fixture": raise ValueError
    if callable(what): return what(2)
    if what == "doctest that fails": return [][0]
    if what == "skip": return None
    return 2
"""


@pytest.mark.slow
def test_an_error_that_comes_out_of_the_project_is_a_crash_and_what_a_test_itself_says_is_not(tmp_path: Path, python: Path) -> None:
    files = {"calc.py": CALC, "tests/test_calc.py": STATES, "pytest.ini": "[pytest]\naddopts = --doctest-modules\n"}
    text = CALC[: CALC.index('    if what == "no')] + CHANGED
    with Oracle(write(tmp_path, files), python, isolated(), runs=2) as made:
        assert set(made.baseline().outcomes.values()) == {"passed"}
        profile = made.profile("calc.py", text)
    assert errors(profile) == {
        "calc.one": "crash",
        "test_assertion_of_a_helper": "wrong",
        "test_expects_an_error": "wrong",
        "test_asserted_by_the_program": "crash",
        "test_asserts_in_a_callback": "wrong",
        "test_in_a_library_that_the_program_calls": "crash",
        "test_with_a_fixture": "crash",
        "test_skips_itself": "wrong",
    }


@given(st.sets(st.text("abc", min_size=1), min_size=1), st.integers(1, 12), st.integers(0, 5), st.data())
def test_the_choice_keeps_the_order_takes_first_tiers_first_and_does_not_depend_on_the_rest(
    names: set[str], most: int, seed: int, data: st.DataObject
) -> None:
    tests = data.draw(st.permutations(sorted(names)))
    first = data.draw(st.sets(st.sampled_from(tests)))
    chosen = chosen_tests(tests, (first,), most, seed)
    assert len(chosen) == min(most, len(tests))
    assert chosen == [test for test in tests if test in chosen]
    assert len(first.intersection(chosen)) == min(most, len(first))
    inside = [test for test in tests if test in first]
    assert chosen_tests(inside, (first,), most, seed) == [test for test in chosen if test in first]


class Suite:
    """Runs whose process ends in some tests, each time or once."""

    def __init__(self, lethal: set[str], end: ProcessEnd, once: bool = False) -> None:
        self.lethal, self.end, self.once = set(lethal), end, once
        self.runs = self.controls = 0

    def run(self, tests: Sequence[str]) -> tuple[Report, ProcessEnd]:
        self.runs += 1
        report = Report(canaries=["failed"])
        for test in tests:
            if test in self.lethal:
                self.lethal -= {test} if self.once else set()
                report.running = test
                return report, self.end
            report.tests[test] = ObservedTest(test, "passed", 0.0, 0.0)
        report.canaries.append("failed")
        report.ended = True
        return report, ProcessEnd(True)

    def control(self) -> Control:
        self.controls += 1
        return "steady"

    def profile(self, tests: Sequence[str]) -> Profile:
        found, failed = run_to_the_end(tests, dict.fromkeys(tests, "passed"), self.run, self.control)
        return summed_up(found, 0, 0.0, "process", infrastructure=failed)


NAMES = [f"t{i}" for i in range(12)]
KILLED = ProcessEnd(False, "killed", doubtful=True)


@given(st.sets(st.sampled_from(NAMES)))
def test_every_test_up_to_some_endings_of_the_process_is_known(lethal: set[str]) -> None:
    suite = Suite(lethal, ProcessEnd(False, "crashed"))
    profile = suite.profile(NAMES)
    counted = sorted(lethal, key=NAMES.index)[:MAX_ENDS]
    after = NAMES.index(counted[-1]) + 1 if len(lethal) >= MAX_ENDS else len(NAMES)
    assert [test.error for test in profile.tests] == [
        "crash" if name in counted else "passed" if i < after else None for i, name in enumerate(NAMES)
    ]
    assert [test.test for test in profile.tests] == NAMES
    assert (suite.runs <= MAX_ENDS, suite.controls) == (True, 0)


def test_an_end_that_the_machine_may_have_caused_counts_only_if_it_comes_again_after_a_control() -> None:
    for once, error in ((True, "passed"), (False, "crash")):
        suite = Suite({"t3"}, KILLED, once)
        profile = suite.profile(NAMES)
        assert profile.error == error
        assert suite.controls == 1
        assert [test.error for test in profile.tests if test.test != "t3"] == ["passed"] * 11


@pytest.mark.parametrize(("control", "infrastructure"), [("failed", True), ("unsteady", False)])
def test_where_the_control_does_not_hold_the_rest_is_unknown(control: Control, infrastructure: bool) -> None:
    suite = Suite({"t3"}, KILLED)
    suite.control = lambda: control  # type: ignore[method-assign]
    profile = suite.profile(NAMES)
    assert [test.change for test in profile.tests] == ["as_before"] * 3 + ["unknown"] * 9
    assert (profile.error, profile.tests_pass, profile.share_kept, profile.infrastructure) == (None, None, 1.0, infrastructure)


def test_a_change_that_is_known_makes_the_text_wrong_whatever_is_unknown() -> None:
    known = ProfiledTest("a", "changed", "wrong", "failed, was passed")
    profile = summed_up([known, ProfiledTest("b", "unknown", None, "not run")], 0, 0.0, "process", infrastructure=True)
    assert (profile.error, profile.tests_pass, profile.reason) == (None, False, "a: failed, was passed")
    assert summed_up([replace(known, error="crash")], 3, 0.0, "process", infrastructure=False).error == "crash"

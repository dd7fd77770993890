"""Which repairs pass the tests, and what is said of those that do not."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.oracle.comparison import ComparedTest, Comparison
from assay.analysis.oracle.report import TestOutcome
from assay.calibration.confidence import uncalibrated
from assay.suggestion.positions import Position, Range
from assay.suggestion.repair.request import Repair
from assay.suggestion.repair.verified import Verification, is_more_wanted, kept, verification_of, verified, with_lines
from assay.suggestion.suggestion import Suggestion

TEXT = "def f(x):\r\n    return x - 1\r\n"


def repair(text: str, first: int = 1, last: int = 1) -> Repair:
    place = Range(Position(first, 0), Position(last, 99))
    return Repair(Suggestion(text, text, place, "repair", uncalibrated("tests_pass", ""), {}, {}), "", (), (), False)


def repairs(*texts: str) -> tuple[Repair, ...]:
    return tuple(map(repair, texts))


def said(passed: bool | None, mends: Sequence[str] = (), breaks: Sequence[str] = ()) -> Verification:
    return Verification(passed, 1, 0.1, tuple(mends), tuple(breaks))


def of(*outcomes: tuple[TestOutcome | None, TestOutcome | None]) -> Verification:
    return verification_of(Comparison(tuple(ComparedTest(f"t{i}", before, after) for i, (before, after) in enumerate(outcomes)), 0.4))


def test_repairs_are_judged_in_the_whole_text_the_best_first_until_as_many_pass_as_are_wanted() -> None:
    judged = []

    def judge(text: str) -> Verification:
        judged.append(text)
        return said(passed=True)

    found = verified([repairs("    return x", "    return x + 1")], TEXT, judge, most=2)
    assert judged == [TEXT.replace("x - 1", "x"), TEXT.replace("x - 1", "x + 1")]
    assert [each.suggestion.text for each, _ in found.judged] == ["    return x", "    return x + 1"]
    ten = repairs(*(f"    return {number}" for number in range(10)))

    def two_pass(text: str) -> Verification:
        return said(passed="return 6" in text or "return 8" in text)

    found = verified([ten], TEXT, two_pass, most=1)
    assert [each.suggestion.text for each, _ in found.shown(1)] == ["    return 6"]
    assert (len(found.judged), found.refused, len(found.left), found.why) == (7, 6, 3, "")
    found = verified([ten], TEXT, two_pass, most=3)
    assert [each.suggestion.text for each, _ in found.shown(3)] == ["    return 6", "    return 8"]
    assert (len(found.judged), found.left) == (10, ())


def test_tests_run_while_more_repairs_are_found_and_the_best_of_those_is_next() -> None:
    first_judged, order = threading.Event(), list[str]()

    def judge(text: str) -> Verification:
        order.append(text.splitlines()[1])
        first_judged.set()
        return said(passed=True)

    def found() -> Iterator[Sequence[Repair]]:
        yield repairs("a")
        assert first_judged.wait(60), "it is judged before the others are there"
        yield repairs("c", "b", "a")

    told = verified(found(), TEXT, judge, most=3)
    assert order == ["a", "c", "b"]
    assert [each.suggestion.text for each, _ in told.judged] == ["c", "b", "a"]
    assert [each.suggestion.text for each, _ in told.in_order_of(repairs("b", "c", "a")).judged] == ["b", "c", "a"]


def test_whoever_stops_finding_repairs_has_no_more_judged() -> None:
    def found() -> Iterator[Sequence[Repair]]:
        yield repairs("a")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verified(found(), TEXT, lambda _: said(passed=False), most=2)


def test_where_nothing_can_be_told_or_there_is_no_time_no_more_are_judged_than_are_shown() -> None:
    found = verified([repairs(*"abcdef")], TEXT, lambda _: said(None), most=2)
    assert (len(found.judged), len(found.shown(2)), len(found.left), found.why) == (2, 2, 4, "")
    unknown, fails, passes = said(None), said(passed=False), said(passed=True)
    assert is_more_wanted([unknown], 2)
    assert not is_more_wanted([unknown, unknown], 2)
    assert is_more_wanted([unknown, fails], 2)
    assert is_more_wanted([passes, unknown, unknown], 2)
    assert not is_more_wanted([passes, unknown, unknown], 2, passing=1)
    part, whole = of(("failed", "passed"), ("failed", "failed")), of(("failed", "passed"), ("failed", "passed"))
    assert is_more_wanted([part], 1), "one that mends what fails as before"
    assert not is_more_wanted([part, whole], 1)

    def judge(_: str) -> Verification:
        raise AssertionError("nothing is to be run")

    for limits in ({"max_ms": 0.0}, {"cancel": lambda: True}):
        found = verified([repairs(*"abc")], TEXT, judge, most=2, **limits)  # type: ignore[arg-type]
        assert (found.judged, len(found.left)) == ((), 3)
        assert [(verification.passed, verification.tests) for _, verification in found.shown(2)] == [(None, 0)] * 2
        assert found.shown(2)[0][1].why.startswith("not run: ")
    over: list[bool] = []
    found = verified([repairs(*"abcd")], TEXT, lambda _: over.append(True) or said(passed=False), most=2, cancel=lambda: len(over) == 2)
    assert [each.suggestion.text for each, _ in found.shown(8)] == ["c", "d"]


@pytest.mark.parametrize(
    ("outcomes", "passed", "mends", "breaks"),
    [
        ([("passed", "passed"), ("failed", "passed")], True, ("t1",), ()),
        ([("passed", "failed"), ("failed", "passed")], False, ("t1",), ("t0",)),
        ([("passed", "skipped")], False, (), ("t0",)),
        ([("passed", "missing"), ("passed", None)], False, (), ("t0",)),
        ([("failed", "failed"), ("passed", "passed")], False, (), ()),
        ([("failed", None), ("error", "passed"), ("passed", "passed")], True, ("t1",), ()),
        ([("failed", None), ("passed", "passed")], None, (), ()),
        ([("failed", "failed"), ("error", "passed"), ("passed", None)], None, ("t1",), ()),
        ([("missing", "skipped")], None, (), ()),
        ([(None, "passed")], None, (), ()),
        ([], None, (), ()),
    ],
)
def test_a_repair_passes_where_no_test_that_passed_fails_and_one_that_failed_passes(
    outcomes: list[tuple[TestOutcome | None, TestOutcome | None]], passed: bool | None, mends: tuple[str, ...], breaks: tuple[str, ...]
) -> None:
    found = of(*outcomes)
    assert (found.passed, found.mends, found.breaks) == (passed, mends, breaks)
    assert found.passed or found.why or not outcomes
    assert verification_of(Comparison(why="it does not parse: x", unparsed=True)).passed is False
    assert verification_of(Comparison(why="no test touches it")) == Verification(None, 0, 0.0, why="no test touches it")


def test_the_title_says_what_is_mended_and_how_many_tests_fail_as_before() -> None:
    assert of(("passed", "passed"), ("skipped", "skipped")).title == "✔ 1 test passes (0.4 s)"
    assert of(("passed", "failed")).title == "t0 does not pass any more"
    found = of(("failed", "passed"), ("failed", "failed"), ("passed", "passed"), ("error", "missing"))
    assert (found.title, found.failing) == ("✔ mends t0; 2 others fail as before (0.4 s)", ("t1", "t3"))
    assert of(*[("failed", "passed")] * 3, ("failed", "failed")).title == "✔ mends t0, t1 and 1 more; 1 other fails as before (0.4 s)"


def test_what_leaves_fewest_tests_failing_is_shown_first_and_what_breaks_one_is_not() -> None:
    part, breaks, unknown, right = repair("a"), repair("b"), repair("c"), repair("d")
    mends_one = of(("failed", "passed"), ("failed", "failed"))
    found = [(part, mends_one), (breaks, said(False, ["t"], ["u"])), (unknown, said(None)), (repair("e"), said(passed=False))]
    assert [each for each, _ in kept(found)] == [part, unknown]
    assert [each for each, _ in kept([*found, (right, said(passed=True))])] == [right, part, unknown]


line = st.text(st.sampled_from("ab \u2028é"), max_size=4)


@given(st.lists(line, min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]), st.data())
def test_lines_that_are_put_back_give_the_same_text(lines: list[str], newline: str, data: st.DataObject) -> None:
    text = newline.join(lines)
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, len(lines) - 1))
    new = repair("new", first, last).suggestion
    changed = with_lines(text, new)
    assert changed.split(newline) == [*lines[:first], "new", *lines[last + 1 :]]
    back = repair(newline.join(lines[first : last + 1]), first, first).suggestion
    assert with_lines(changed, back) == text

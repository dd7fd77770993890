"""What a repair is called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.calibration.confidence import Confidence, uncalibrated
from assay.server.repairs.found import changed, title_of
from assay.suggestion.positions import Position, Range
from assay.suggestion.repair.request import Repair
from assay.suggestion.suggestion import Suggestion

PLACE = Range(Position(0, 0), Position(0, 9))
LIKELY = Confidence("informative", "tests_pass", 0.7, 0.61, 0.78, "likely", "0" * 16, "")


def repair(old: str, new: str, confidence: Confidence, *, mends: bool = False) -> Repair:
    return Repair(Suggestion("a" * 12, new, PLACE, "repair", confidence, {}, {}), old, ("rules",), (), mends)


@pytest.mark.parametrize(
    ("old", "new", "title"),
    [
        ("    if a < b:", "    if a <= b:", "`<` → `<=`"),
        ("return total", "return total + 1", "`total` → `total + 1`"),
        ("    pass", "", "remove `pass`"),
        ("", "pass", "`` → `pass`"),
        ("a = 1", "b = 2\nc = 3", "`a = 1` → `b = 2 …`"),
        ("x", "y" * 90, f"`x` → `{'y' * 38} …`"),
        ("\tname\x1b[31m", "\tnames", "`name\\x1b[31m` → `names`"),
    ],
)
def test_it_says_what_is_changed_and_no_more(old: str, new: str, title: str) -> None:
    assert changed(old, new) == title


@given(st.text("ab <=()\n", max_size=12), st.text("ab <=()\n", max_size=12))
def test_it_is_one_line_for_all_texts(old: str, new: str) -> None:
    assert len(changed(old, new).splitlines()) == 1


def test_it_has_a_number_where_a_calibrator_gives_one_and_else_none() -> None:
    assert title_of(repair("a < b", "a <= b", LIKELY)) == "`<` → `<=`  ◆ likely 61-78 % passes tests"
    assert title_of(repair("a < b", "a <= b", uncalibrated("tests_pass"))) == "`<` → `<=`"
    assert title_of(repair("f(a", "f(a)", uncalibrated("tests_pass"), mends=True)) == "`a` → `a)`  mends the file"

from __future__ import annotations

import pytest

from assay.inference.stopping.rules import find_stop
from assay.inference.stopping.stop import LINE, Stop, StopPoint


@pytest.mark.parametrize(
    ("before", "text", "left"),
    [
        ("print(", "a, f(b))", "a, f(b)"),
        ("x = [", "y[0], {1: 2}]", "y[0], {1: 2}"),
        ("print(", "')', \"(\") + 1", "')', \"(\""),
        ('print("a', ')b", c)', ')b", c'),
        ("print(", ")", ""),
    ],
)
def test_a_text_ends_before_the_bracket_that_stands_behind_the_cursor(before: str, text: str, left: str) -> None:
    stop = Stop("line", before=before, may_close=0)
    assert find_stop(text, stop) == StopPoint(len(left), "bracket", len(left) + 1)
    assert all(find_stop(text[:size], stop) is None for size in range(len(left) + 1))


def test_a_text_in_front_of_no_bracket_may_close_one() -> None:
    assert find_stop("a, f(b))", LINE) is None


def test_a_text_that_closes_only_what_it_opens_goes_on() -> None:
    assert find_stop("f(a)[0]", Stop("line", before="print(", may_close=0)) is None


@pytest.mark.parametrize(("text", "left"), [("500], encoding)", "500], encoding"), ("a)", None), ("f(a)])", "f(a)]"), ("]", None)])
def test_a_text_may_close_what_is_open_on_its_line_and_not_closed_behind(text: str, left: str | None) -> None:
    found = find_stop(text, Stop("line", before="nts(buf[345:", may_close=1))
    assert found == (None if left is None else StopPoint(len(left), "bracket", len(left) + 1))

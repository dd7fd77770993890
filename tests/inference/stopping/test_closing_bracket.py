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
    stop = Stop("line", before=before, closed_behind=True)
    assert find_stop(text, stop) == StopPoint(len(left), "bracket", len(left) + 1)
    assert all(find_stop(text[:size], stop) is None for size in range(len(left) + 1))


def test_a_text_in_front_of_no_bracket_may_close_one() -> None:
    assert find_stop("a, f(b))", LINE) is None


def test_a_text_that_closes_only_what_it_opens_goes_on() -> None:
    assert find_stop("f(a)[0]", Stop("line", before="print(", closed_behind=True)) is None

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.suggestion.cut.overlap import without_overlap


@pytest.mark.parametrize(
    ("text", "rest", "left"),
    [
        ("x)", ")", "x"),
        ("x", ")", "x"),
        ("f()", ")", "f()"),
        ("f(x))", ")", "f(x)"),
        ("x))", "))", "x"),
        ("h(x))", "))", "h(x)"),
        ('hello")', '")', "hello"),
        ("a=1, b=2)", ", b=2)", "a=1"),
        ("x,", ", y):", "x"),
        ("value", "e + 1", "value"),
        ("foo", "foo(x)", ""),
        ("foo", "foobar", "foo"),
        ("a ", " + b", "a"),
        ("items[0]", "]", "items[0]"),
        ("", ")", ""),
        ("x", "", "x"),
    ],
)
def test_what_stands_behind_the_cursor_is_not_repeated(text: str, rest: str, left: str) -> None:
    assert without_overlap(text, rest) == left


@given(st.text("ab()[], _", max_size=12), st.text("ab()[], _", max_size=12))
def test_only_a_true_overlap_is_left_out(text: str, rest: str) -> None:
    left = without_overlap(text, rest)
    assert text.startswith(left)
    assert rest.startswith(text[len(left) :])

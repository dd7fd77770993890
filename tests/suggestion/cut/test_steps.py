from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.completion.task import Kind
from assay.suggestion.cursor import Cursor
from assay.suggestion.cut.steps import text_to_show, unless_it_repeats_the_rest

PIECES = ["a", "b(", ")", "]", "[", "}", " ", "    ", "\t", "\n", "\r\n", "x = 1", "return", "}", "else:", "'", '"', "# ("]
CODE = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)


@given(CODE, CODE, CODE, st.sampled_from(["line", "block", "function"]))
def test_what_is_shown_is_shown_again_as_it_is(text: str, prefix: str, suffix: str, kind: Kind) -> None:
    once = text_to_show(text, Cursor(prefix, suffix, kind))
    if once is not None:
        assert once.strip()
        assert text_to_show(once, Cursor(prefix, suffix, kind)) == once


@given(CODE, CODE, CODE)
def test_only_white_space_and_closing_brackets_are_taken_away(text: str, prefix: str, suffix: str) -> None:
    left = text_to_show(text, Cursor(prefix, suffix, "block"))
    if left is not None:
        whole, kept = "".join(text.split()), "".join(left.split())
        assert whole.startswith(kept)
        assert not whole[len(kept) :].strip(")]}")


@pytest.mark.parametrize("text", ["", " ", "\t", "\n", "  \n\t\n"])
def test_nothing_is_shown_of_a_blank_text(text: str) -> None:
    assert text_to_show(text, Cursor("x = ", "\n", "line")) is None
    assert text_to_show(text, Cursor("x = ", "\n", "block")) is None


def test_white_space_at_the_end_is_left_out_unless_text_stands_behind_it() -> None:
    assert text_to_show("1  ", Cursor("x = ", "\n", "line")) == "1"
    assert text_to_show("a\n    b\n\n  ", Cursor("    ", "\n", "block")) == "a\n    b"
    assert text_to_show("1 ", Cursor("x = ", "+ y\n", "line")) == "1 "


def test_what_stands_behind_the_cursor_on_its_line_is_not_said_again() -> None:
    assert unless_it_repeats_the_rest("value", Cursor("f(", "value)\n", "line")) is None
    assert unless_it_repeats_the_rest(" value", Cursor("f(a,", " value)\n", "line")) is None
    assert unless_it_repeats_the_rest("val", Cursor("f(", "value)\n", "line")) == "val", "that is another word"
    assert unless_it_repeats_the_rest(")", Cursor("f(g(x", ")\n", "line")) == ")", "one bracket may be missing"

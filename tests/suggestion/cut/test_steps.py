from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.inference.completion.task import Kind
from assay.suggestion.cursor import Cursor
from assay.suggestion.cut.steps import text_to_show

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

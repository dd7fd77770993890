from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.stops import LINE, NONE, Stop, ending, indentation, kept

LINES = st.lists(st.sampled_from(["", " ", "    ", "\t", "\f", "x = 1", "    y", "\tz", "  \f  w", "é"]), max_size=8)
NEWLINES = st.sampled_from(["\n", "\r\n", "\r"])
TEXTS = st.builds(lambda lines, newline: newline.join(lines), LINES, NEWLINES) | st.text(alphabet=" \t\f\r\nxé", max_size=30)
STOPS = st.sampled_from([LINE, NONE, Stop("block", 0), Stop("block", 1), Stop("block", 4), Stop("block", 8)])


@pytest.mark.parametrize(
    ("line", "columns"), [("", 0), ("x", 0), ("   x", 3), ("\tx", 8), ("   \tx", 8), ("\t x", 9), ("    \f  x", 2), ("        \t", 16)]
)
def test_indentation_counts_columns_as_python_does(line: str, columns: int) -> None:
    assert indentation(line) == columns


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_a_line_ends_before_any_kind_of_newline(newline: str) -> None:
    assert kept(f"a = 1{newline}b = 2", LINE) == "a = 1"
    assert ending("a = 1", LINE) is None


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_block_ends_before_the_first_line_with_less_indentation(newline: str) -> None:
    text = newline.join(["return x", "    if y:", "", "        z()", "", "  ", "after = 1", "    more"])
    assert kept(text, Stop("block", 4)) == newline.join(["return x", "    if y:", "", "        z()"])


def test_a_block_goes_on_over_blank_lines_and_its_first_line_is_never_looked_at() -> None:
    text = "x\n\n    y\n  \n    z"
    assert ending(text, Stop("block", 4)) is None
    assert kept(text, Stop("block", 4)) == text


def test_a_tab_is_as_deep_as_eight_spaces_in_a_block() -> None:
    assert ending("x\n\ty", Stop("block", 8)) is None
    assert kept("x\n       y", Stop("block", 8)) == "x"


def test_a_form_feed_before_a_line_takes_its_indentation_away() -> None:
    assert kept("x\n    \fy", Stop("block", 4)) == "x"


def test_a_block_that_just_stops_loses_its_trailing_blank_lines() -> None:
    assert kept("x\n    y\n\n    ", Stop("block", 4)) == "x\n    y"


def test_nothing_ends_a_text_without_a_rule() -> None:
    assert kept("a\n\nb\n", NONE) == "a\n\nb\n"


@given(TEXTS, STOPS, st.data())
def test_streamed_in_any_pieces_a_text_ends_where_the_whole_does(text: str, stop: Stop, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    so_far = ""
    for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
        so_far += text[start:end]
        if ending(so_far, stop) is not None:
            break
    assert kept(so_far, stop) == kept(text, stop)
    assert ending(so_far, stop) == ending(text, stop)


@given(TEXTS, STOPS)
def test_what_is_kept_begins_the_text_and_is_kept_again(text: str, stop: Stop) -> None:
    left = kept(text, stop)
    assert text.startswith(left)
    assert kept(left, stop) == left

from __future__ import annotations

import pytest

from assay.inference.stopping.rules import find_stop, indentation, text_before_stop
from assay.inference.stopping.stop import Stop


@pytest.mark.parametrize(
    ("line", "columns"), [("", 0), ("x", 0), ("   x", 3), ("\tx", 8), ("   \tx", 8), ("\t x", 9), ("    \f  x", 2), ("        \t", 16)]
)
def test_indentation_counts_columns_as_python_does(line: str, columns: int) -> None:
    assert indentation(line) == columns


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_block_ends_before_the_first_line_with_less_indentation(newline: str) -> None:
    text = newline.join(["return x", "    if y:", "", "        z()", "", "  ", "after = 1", "    more"])
    assert text_before_stop(text, Stop("block", 4)) == newline.join(["return x", "    if y:", "", "        z()"])


def test_a_block_goes_on_over_blank_lines_and_its_first_line_is_never_looked_at() -> None:
    text = "x\n\n    y\n  \n    z"
    assert find_stop(text, Stop("block", 4)) is None
    assert text_before_stop(text, Stop("block", 4)) == text


def test_a_block_that_just_stops_loses_its_trailing_blank_lines() -> None:
    assert text_before_stop("x\n    y\n\n    ", Stop("block", 4)) == "x\n    y"

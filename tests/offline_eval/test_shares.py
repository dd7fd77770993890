"""Cells of shares: what is not measured is no number."""

from __future__ import annotations

import math

from assay.calibration.report.cells import text_of
from assay.offline_eval.shares import share


def test_a_value_that_is_not_measured_counts_for_nothing() -> None:
    measured = share("p", [0.25, math.nan, 0.75], ["a", "b", "c"])
    assert (measured.value, measured.n, measured.groups) == (0.5, 2, 2)
    assert text_of(share("p", [math.nan], ["a"])) == "not measured"
    assert text_of(share("p", [], [], why="no draws")) == "no draws"

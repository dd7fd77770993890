from __future__ import annotations

from assay.calibration.metrics.intervals import Interval
from assay.calibration.report.blocks import Bullets
from assay.calibration.report.cells import Cell, CellTable, Mark, PaperValue, Row, blocks_of, json_of, text_of, with_interval

FLAKY = Mark("refuted", "flaky labels")
PAPER = (PaperValue(-0.03, "GPT-3.5", "T5/GPT-3.5/p_tot", (FLAKY,)), PaperValue(-0.02, "Codex", "T5/Codex/p_tot", (FLAKY,)))


def test_a_cell_is_printed_with_its_interval_or_floor_or_the_reason_why_there_is_none() -> None:
    assert text_of(Cell("a", 0.1234, 0.1, 0.15)) == "0.123 (0.100 to 0.150)"
    assert text_of(Cell("a", -0.0001, -0.1, 0.15, sign=True)) == "+0.000 (-0.100 to +0.150)"
    assert text_of(Cell("a", 0.03, noise_floor=0.012)) == "0.030, floor 0.012"
    assert text_of(Cell("a", 0.28765, 0.2, 0.3, percent=True)) == "28.8 % (20.0 to 30.0)"
    assert text_of(Cell("a", 0.065, 0.031, 0.1, percent=True, sign=True)) == "+6.5 points (+3.1 to +10.0)"
    assert text_of(Cell("a", 0.5)) == "0.500"
    assert text_of(Cell("a")) == "not run"
    assert text_of(Cell("a", why="skill < 0.05")) == "skill < 0.05"


def test_a_number_that_is_not_defined_says_so() -> None:
    assert with_interval("a", None, 10, 2, "project").why == "not defined"
    assert with_interval("a", Interval(0.5, 0.4, 0.6), 10, 2, "project", percent=True) == Cell(
        "a", 0.5, 0.4, 0.6, 10, 2, "project", percent=True
    )


def test_the_papers_numbers_stand_behind_ours_with_their_marks_explained_below() -> None:
    rows = (
        Row(("p_tot",), (Cell("x", 0.1, 0.0, 0.2, n=1000, groups=30, paper=PAPER), Cell("y", 0.2, n=1000, groups=30))),
        Row(("ours",), (Cell("z", 0.3, n=990, groups=990, grouped_by="sample"), Cell("w"))),
    )
    table, notes = blocks_of(CellTable("T", "A table", ("measure",), ("skill", "ECE"), rows, ("a note",)))
    assert table.columns == ("measure", "skill", "paper", "ECE", "n")
    assert table.rows == (
        ("p_tot", "0.100 (0.000 to 0.200)", "-0.03, -0.02 [a]", "0.200", "1,000 of 30 projects"),
        ("ours", "0.300", "", "not run", "990"),
    )
    assert table.align == "lrrrr"
    assert notes == Bullets(("paper: GPT-3.5, Codex, in this order", "a: refuted: flaky labels", "a note"))


def test_a_mark_of_one_model_stands_at_its_number_and_a_missing_number_is_a_dash() -> None:
    only = (PaperValue(0.2, "Codex", "there"), PaperValue(0.3, "GPT-3.5", "there", (FLAKY,)))
    rows = (Row(("a",), (Cell("x", 0.1, paper=only),)), Row(("b",), (Cell("y", 0.1, paper=only[:1]),)))
    table, _ = blocks_of(CellTable("T", "A table", ("measure",), ("skill",), rows))
    assert [row[2] for row in table.rows] == ["0.20, 0.30 [a]", "0.20, –"]


def test_a_cell_in_json_has_all_that_is_printed_and_where_the_paper_has_it() -> None:
    found = json_of(Cell("T5/x", 0.1, 0.0, 0.2, 1000, 30, paper=PAPER[:1]))
    assert found["paper"] == [
        {"value": -0.03, "of": "GPT-3.5", "where": "T5/GPT-3.5/p_tot", "marks": [{"kind": "refuted", "note": "flaky labels"}]}
    ]
    assert [found[name] for name in ("id", "value", "low", "high", "n", "groups", "grouped_by", "noise_floor", "why")] == [
        "T5/x", 0.1, 0.0, 0.2, 1000, 30, "project", None, "",
    ]  # fmt: skip
    assert json_of(Cell("T5/y"))["why"] == "not run"

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assay.calibration.metrics.intervals import Interval
from assay.calibration.report.blocks import Bullets, Paragraph
from assay.calibration.report.cells import Cell, CellTable, Mark, PaperValue, Row, blocks_of, json_of, text_of, with_interval
from assay.calibration.report.paper_claims import Asked, PaperClaim, Rule, Verdict, claim_of, widened
from assay.calibration.report.plots import Picture
from assay.calibration.report.study_report import Section, Source, StudyContent, write_study_report
from assay.calibration.validation.figures import Figure

KNOWN = Figure("K1", 0.2, 0.1, 0.3, 500, 20, "project", "> 0", "holds")
TABLE = CellTable(
    "T1",
    "Some <table>",
    ("measure",),
    ("skill",),
    (
        Row(("p_tot",), (Cell("T1/p_tot", 0.1, 0.0, 0.2, 400, 12, paper=(PaperValue(0.3, "GPT-3.5", "T1/GPT-3.5"),)),)),
        Row(("other",), (Cell("T1/other"),)),
    ),
)
CONTENT = StudyContent(
    title="A study",
    summary=("The first sentence.", "The second.", "The third."),
    facts=("model m",),
    sections=(Section("Tables", (Paragraph("Before."), TABLE, Picture("plot", "A plot", "what it shows", "<svg></svg>"))),),
    claims=(PaperClaim("RQ1", "It is so", "0.3", "above 0", "confirmed", "0.1", ("T1/p_tot",)),),
    figures=(KNOWN, replace(KNOWN, id="K2", value=None, low=None, high=None, n=0, reading="not run", note="no tests")),
    left_out=("3 items without an answer",),
    sources=(Source("codet", "CodeGen", "github.com/x/y", "MIT"),),
    command="assay eval report RUN",
)


def test_all_files_are_written_into_the_folder_report_and_again_the_same(tmp_path: Path) -> None:
    written = write_study_report(tmp_path, CONTENT)
    assert {path.relative_to(tmp_path).as_posix() for path in written} == {
        "report/plot.svg", "report/figures.json", "report/report.json", "report/report.html", "report/report.md",
    }  # fmt: skip
    before = [path.read_bytes() for path in written]
    assert [path.read_bytes() for path in write_study_report(tmp_path, CONTENT)] == before


def test_the_page_begins_with_three_sentences_and_has_everything(tmp_path: Path) -> None:
    write_study_report(tmp_path, CONTENT)
    text = (tmp_path / "report" / "report.md").read_text()
    assert text.startswith("# A study\n\nThe first sentence. The second. The third.\n")
    for wanted in ("these data confirm 1 and refute 0", "| K1 | 0.200 (0.100 to 0.300) | \\> 0 | holds |", "no tests", "3 items", "MIT"):
        assert wanted in text
    page = (tmp_path / "report" / "report.html").read_text()
    assert "Some &lt;table&gt;" in page
    assert "what it shows" in page


def test_figures_json_has_every_printed_number(tmp_path: Path) -> None:
    write_study_report(tmp_path, CONTENT)
    found = json.loads((tmp_path / "report" / "figures.json").read_text())
    assert found["schema"] == "assay/figures/1"
    figures = {figure["id"]: figure for figure in found["figures"]}
    assert list(figures) == ["T1/p_tot", "T1/other", "K1", "K2"]
    assert figures["T1/p_tot"]["paper"] == [{"value": 0.3, "of": "GPT-3.5", "where": "T1/GPT-3.5", "marks": []}]
    assert figures["T1/other"] == {**figures["T1/other"], "value": None, "why": "not run"}
    assert figures["K1"]["reading"] == "holds"
    text = (tmp_path / "report" / "report.md").read_text()
    assert all(text_of(cell) in text for cell in TABLE.cells())
    document = json.loads((tmp_path / "report" / "report.json").read_text())
    assert document["schema"] == "assay/study-report/1"
    assert document["tables"][0]["rows"][0] == {"names": ["p_tot"], "figures": ["T1/p_tot"]}
    assert document["claims"][0]["verdict"] == "confirmed"


def test_two_numbers_with_one_name_are_refused(tmp_path: Path) -> None:
    twice = replace(CONTENT, sections=(Section("Twice", (TABLE, TABLE)),))
    with pytest.raises(ValueError, match="two cells of the report have the id T1/p_tot"):
        write_study_report(tmp_path, twice)
    assert not list(tmp_path.iterdir())


def test_what_others_named_is_only_text_in_the_heads_of_a_table_too(tmp_path: Path) -> None:
    hostile = replace(TABLE, columns=("<img src=x>|\x1b[31m\n# large",))
    write_study_report(tmp_path, replace(CONTENT, sections=(Section("Tables", (hostile,)),)))
    head = next(line for line in (tmp_path / "report" / "report.md").read_text().splitlines() if "large" in line)
    assert head == r"| measure | \<img src=x\>\|\\x1b\[31m # large | paper | n |"
    assert "<img" not in (tmp_path / "report" / "report.html").read_text()


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


POSITIVE = Rule("above 0", above=0.0)


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.01, 0.2, "confirmed"), (-0.2, -0.01, "refuted"), (-0.1, 0.1, "undecided"), (0.0, 0.1, "undecided")]
)
def test_a_rule_holds_only_for_the_whole_interval(low: float, high: float, verdict: Verdict) -> None:
    assert POSITIVE.verdict(Cell("a", (low + high) / 2, low, high)) == verdict


def test_a_range_is_refuted_on_either_side_and_a_number_without_an_interval_is_its_own() -> None:
    within = Rule("within", above=-0.05, below=0.05)
    assert within.verdict(Cell("a", 0.1, 0.06, 0.2)) == within.verdict(Cell("a", -0.1, -0.2, -0.06)) == "refuted"
    assert within.verdict(Cell("a", 0.01)) == "confirmed"
    assert within.verdict(Cell("a", 0.05)) == "refuted"
    assert within.verdict(Cell("a")) == "not run"


def test_few_groups_decide_nothing() -> None:
    assert POSITIVE.verdict(Cell("a", 0.2, 0.1, 0.3, n=900, groups=4)) == "undecided"
    assert POSITIVE.verdict(Cell("a", 0.2, 0.1, 0.3, n=900, groups=5)) == "confirmed"
    assert POSITIVE.verdict(Cell("a", 0.2, n=2, groups=2)) == "undecided", "a number without an interval, too"


@pytest.mark.parametrize("by", ["file", "sample"])
def test_many_files_or_samples_of_too_few_projects_decide_nothing(by: str) -> None:
    assert POSITIVE.verdict(Cell("a", 0.2, 0.1, 0.3, n=900, groups=50, grouped_by=by)) == "undecided"
    assert POSITIVE.verdict(Cell("a", 0.2, n=900, groups=50, grouped_by=by)) == "undecided"


def test_an_interval_without_width_decides_nothing() -> None:
    assert POSITIVE.verdict(Cell("a", 0.0, 0.0, 0.0, n=900, groups=9)) == "undecided"


def claimed(**cells: tuple[float, float]) -> tuple[Verdict, str]:
    found = {name: Cell(name, sum(ends) / 2, *ends) for name, ends in cells.items()}
    claim = claim_of("C", "a claim", "paper", POSITIVE, [(name, name) for name in (*found, "absent")], found)
    assert claim.cells == tuple(found)
    return claim.verdict, claim.ours


def test_a_claim_about_several_numbers_is_refuted_by_one_and_confirmed_by_all() -> None:
    good, bad, open_ = (0.1, 0.3), (-0.3, -0.1), (-0.1, 0.1)
    assert claimed() == ("not run", "")
    assert claimed(a=good, b=good) == ("confirmed", "a 0.200 (0.100 to 0.300); b 0.200 (0.100 to 0.300)")
    assert claimed(a=good, b=open_) == ("undecided", "b 0.000 (-0.100 to 0.100); undecided in 1 of 2")
    assert claimed(a=good, b=open_, c=bad) == ("refuted", "c -0.200 (-0.300 to -0.100); refuted in 1 of 3")


def test_intervals_of_several_numbers_hold_for_all_of_them_together() -> None:
    one = Cell("a", 0.5, 0.4, 0.6, n=400, groups=20)
    wide = widened(one, 10)
    assert widened(one, 1) == one
    assert (wide.low, wide.high) == (pytest.approx(0.348, abs=0.001), pytest.approx(0.652, abs=0.001))
    barely = (0.001, 0.3)
    assert claimed(a=barely)[0] == "confirmed"
    assert claimed(a=barely, b=barely)[0] == "undecided"


def test_answers_that_can_not_be_read_or_are_no_judgement_decide_nothing() -> None:
    cells = {"a": Cell("a", 0.2, 0.1, 0.3), "bad": Cell("bad", 0.06), "good": Cell("good", 0.05), "coin": Cell("coin", 0.5, 0.4, 0.6)}

    def verdict(asked: Asked) -> tuple[Verdict, str]:
        found = claim_of("C", "a claim", "paper", POSITIVE, [("it", "a")], cells, {"it": asked})
        return found.verdict, found.ours

    assert verdict(Asked(("good", "not run")))[0] == "confirmed"
    assert verdict(Asked(("bad", "good"))) == ("undecided", "it 0.200 (0.100 to 0.300) (6% of the answers can't be read)")
    assert verdict(Asked(("good",), "coin"))[1].endswith("(it is not shown to judge better than a coin)")

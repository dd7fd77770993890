from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assay.calibration.report.blocks import Paragraph
from assay.calibration.report.cells import Cell, CellTable, PaperValue, Row, text_of
from assay.calibration.report.paper_claims import PaperClaim
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
    for wanted in (
        "It is so",
        "these data confirm 1 and refute 0",
        "| K1 | 0.200 (0.100 to 0.300) | \\> 0 | holds |",
        "no tests",
        "0.30",
        "not run",
        "3 items",
        "MIT",
        "assay eval",
    ):
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


def test_a_study_with_nothing_to_tell_has_a_page_too(tmp_path: Path) -> None:
    write_study_report(tmp_path, StudyContent("Empty", ("One.", "Two.", "Three."), (), ()))
    assert "Nothing." in (tmp_path / "report" / "report.md").read_text()


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

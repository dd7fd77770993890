from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from synthetic_study import TASKS, studied, whole

from assay.calibration.report.study_report import StudyContent, write_study_report
from assay.offline_eval.paper_tables.forecasts import Setting, each
from assay.offline_eval.paper_tables.pictures import ALIKE, most_unlike, pictures_of
from assay.offline_eval.paper_tables.report import About, calibration_content
from assay.offline_eval.paper_tables.tables import StudyTables

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def content() -> StudyContent:
    samples = whole(200)
    line = samples[Setting("line")]
    samples[Setting("line")] = [structs.replace(line[0], labels={"exact_match": True, "tests_pass": None}), *line[1:]]
    del samples[Setting("line_rest", "no_suffix")]
    return calibration_content(samples, About("tiny", "assay eval report RUN", facts=("seed 0",), lost=2, hidden=1, blank=3))


def test_the_figures_of_the_paper_are_drawn(tables: StudyTables) -> None:
    drawn = pictures_of(tables, dict.fromkeys(TASKS, "tests_pass"))
    names = [picture.name for picture in drawn]
    assert len(set(names)) == len(names)
    for wanted in ("reliability-line-tests_pass", "docstrings-line-tests_pass", "alike-line-tests_pass", "auc-ece-skill"):
        assert wanted in names
    for picture in drawn:
        ET.fromstring(picture.svg)
        assert "ECE" in picture.alt or picture.name == "auc-ece-skill"


def test_like_aucs_are_shown_with_their_unlike_eces(tables: StudyTables) -> None:
    forecasts = list(each(tables.found, lambda one: one.setting == Setting("line") and one.event == "tests_pass" and one.way != "order"))
    pair = most_unlike(forecasts)
    assert pair is not None
    one, other = pair
    assert one.auc is not None
    assert other.auc is not None
    assert abs(one.auc.value - other.auc.value) <= ALIKE
    assert other.ece - one.ece > 0.05
    assert most_unlike(forecasts[:1]) is None


def test_the_summary_is_three_sentences_from_the_numbers(content: StudyContent) -> None:
    first, second, third = content.summary
    line = whole(200)[Setting("line")][1:]
    said = np.mean([np.exp(s.measures["total_logprob"]) for s in line])
    assert first.startswith(f"For 199 suggestions (line) the model's own probability of its text was {said:.0%} on average")
    assert "where 0 is the average and 1 is perfect" in first
    assert "judged on others" in second
    assert third.startswith("Of 11 claims of the paper")
    for sentence in content.summary:
        assert sentence.endswith(".")


def test_of_one_project_it_is_not_said_that_projects_were_held_out() -> None:
    content = calibration_content({Setting("line"): studied(60, projects=1)}, About("tiny", "assay eval report RUN"))
    assert "Fitted to some files and judged on others" in content.summary[1] or "Fitted to some samples and judged on" in content.summary[1]
    assert not {claim.verdict for claim in content.claims} & {"confirmed", "refuted"}


def test_what_was_left_out_is_told_with_its_reason(content: StudyContent) -> None:
    told = " ".join(content.left_out)
    for wanted in (
        "2 items without an answer",
        "3 generations without text",
        "1 generation that the editor would hide",
        "line_rest: the arm no_suffix was not run",
    ):
        assert wanted in told
    assert "line: 1 of 200 samples have no label for passes tests" in told


def test_the_page_has_the_paper_beside_ours_and_each_number_in_figures_json(content: StudyContent, tmp_path: Path) -> None:
    write_study_report(tmp_path, content)
    figures = {figure["id"]: figure for figure in json.loads((tmp_path / "report" / "figures.json").read_text())["figures"]}
    wanted = figures["T6/tests_pass/line/docstring/total_logprob/random/skill"]
    assert [(value["of"], value["value"]) for value in wanted["paper"]] == [("GPT-3.5", 0.07), ("Codex", 0.09), ("CodeGen2", 0.08)]
    assert {mark["kind"] for value in wanted["paper"] for mark in value["marks"]} == {"lower bound", "upper bound"}
    assert not figures["T6/tests_pass/line/docstring/total_logprob/project/skill"]["paper"]
    text = (tmp_path / "report" / "report.md").read_text()
    for each_one in (
        "Table 2.",
        "Table 3.",
        "Table 4.",
        "Table 5.",
        "Table 6.",
        "Table 7.",
        "Table 8.",
        "-1.60",
        "28.8 %",
        "assay eval report RUN",
    ):
        assert each_one in text
    assert len((tmp_path / "report" / "report.html").read_bytes()) < 1_000_000


def test_a_run_without_a_label_still_has_a_page(tmp_path: Path) -> None:
    samples = [structs.replace(s, labels={}) for s in studied(20)]
    content = calibration_content({Setting("line"): samples}, About("tiny", "again"))
    write_study_report(tmp_path, content)
    assert "too few labelled samples" in content.summary[1]
    assert {claim.verdict for claim in content.claims} == {"not run"}
    assert not list(content.pictures())

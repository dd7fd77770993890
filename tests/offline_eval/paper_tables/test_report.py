from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from synthetic_study import TASKS, studied, whole

from assay.calibration.metrics.scores import skill
from assay.calibration.report.cells import Cell
from assay.calibration.report.paper_claims import PaperClaim
from assay.calibration.report.study_report import StudyContent, write_study_report
from assay.offline_eval.calibration.report import About, calibration_content, claims, event_of
from assay.offline_eval.paper_tables.forecasts import Setting
from assay.offline_eval.paper_tables.tables import StudyTables, study_tables

pytestmark = pytest.mark.slow

LINE = Setting("line")


def by_id(found: tuple[PaperClaim, ...]) -> dict[str, PaperClaim]:
    return {claim.id: claim for claim in found}


def test_in_a_world_of_known_truth_the_claims_come_out_as_they_must(tables: StudyTables) -> None:
    found = by_id(claims(tables.cells, TASKS))
    verdicts = {name: claim.verdict for name, claim in found.items()}
    # log-probabilities order the samples, and exact match is more than they tell of tests; docstrings add to the log odds
    assert {name: verdicts[name] for name in ("RQ2b", "RQ3b", "D1")} == dict.fromkeys(("RQ2b", "RQ3b", "D1"), "confirmed")
    # each cell alone would do, but four together widen the intervals: one of p_avg reaches 0
    assert all(tables.cells[place].low > 0 for name in ("RQ4", "RQ5a") for place in found[name].cells)
    assert verdicts["RQ4"] == verdicts["RQ5a"] == "undecided"
    # only the normalised answer of Ask T/F tells anything here, and the scaled probabilities are spread wide
    assert verdicts["RQ3a"] == verdicts["RQ5c"] == "refuted"
    assert all(claim.cells and set(claim.cells) <= set(tables.cells) for claim in found.values())
    # verbalised confidence is not judged where the model said none
    assert by_id(claims(tables.cells, TASKS, TASKS))["RQ3b"].verdict == "not run"
    some, every = (by_id(claims(tables.cells, TASKS, left_out))["RQ3b"].cells for left_out in (TASKS[:1], ()))
    assert 0 < len(some) < len(every)
    samples = whole()[LINE]
    y = np.array([s.labels["tests_pass"] for s in samples])
    p_tot, p_avg = (np.array([s.measures[name] for s in samples]) for name in ("total_logprob", "mean_probability"))
    difference = tables.cells["D/line/docstring/tests_pass/raw_p_tot_minus/mean_probability"]
    assert difference.value == pytest.approx(skill(np.exp(p_tot), y) - skill(p_avg, y))


def test_claims_read_cells_and_nothing_else() -> None:
    cells = {"T2/line/docstring/tests_pass": Cell("T2/line/docstring/tests_pass", 0.3, 0.2, 0.4)}
    found = by_id(claims(cells, ["line"]))
    assert {claim.verdict for claim in found.values()} == {"not run"}
    place = "T6/tests_pass/line/docstring/{}/project/skill"
    for measure, low in (("total_logprob", 0.01), ("mean_probability", 0.02)):
        cells[place.format(measure)] = Cell(place.format(measure), low + 0.05, low, low + 0.1)
    assert by_id(claims(cells, ["line"]))["RQ2b"].verdict == "confirmed"
    cells[place.format("mean_probability")] = Cell(place.format("mean_probability"), -0.1, -0.15, -0.05)
    assert by_id(claims(cells, ["line"]))["RQ2b"].verdict == "refuted"
    # a claim about lines says nothing of functions
    assert by_id(claims(cells, ["humaneval"]))["RQ2b"].verdict == "not run"


def test_a_run_without_tests_is_read_by_exact_match() -> None:
    samples = [structs.replace(s, labels={"exact_match": s.labels["exact_match"], "tests_pass": None}) for s in studied(300)]
    found = study_tables({LINE: samples})
    assert event_of(found.cells, "line") == "exact_match"
    read = by_id(claims(found.cells, ["line"]))
    assert read["RQ2b"].verdict == "confirmed"
    assert read["RQ4"].verdict == read["D1"].verdict == "not run"


def test_shuffled_labels_confirm_no_skill() -> None:
    rng, samples = np.random.default_rng(3), studied(300)
    labels = [samples[k].labels for k in rng.permutation(len(samples))]
    found = study_tables({LINE: [structs.replace(s, labels=label) for s, label in zip(samples, labels, strict=True)]})
    read = by_id(claims(found.cells, ["line"]))
    assert read["RQ2b"].verdict != "confirmed"
    assert read["RQ4"].verdict != "confirmed"


@pytest.fixture(scope="module")
def content() -> StudyContent:
    samples = whole(200)
    line = samples[Setting("line")]
    samples[Setting("line")] = [structs.replace(line[0], labels={"exact_match": True, "tests_pass": None}), *line[1:]]
    del samples[Setting("line_rest", "no_suffix")]
    return calibration_content(samples, About("tiny", "assay eval report RUN", facts=("seed 0",), lost=2, hidden=1, blank=3))


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
    assert all(words in text for words in (*(f"Table {number}." for number in range(2, 9)), "-1.60", "28.8 %", "assay eval report RUN"))
    assert {f"reliability-{task}-tests_pass" for task in TASKS} <= {picture.name for picture in content.pictures()}


def test_a_run_of_one_project_or_without_a_label_still_has_a_page(tmp_path: Path) -> None:
    one = calibration_content({LINE: studied(60, projects=1)}, About("tiny", "again"))
    assert "Fitted to some files and judged on others" in one.summary[1] or "Fitted to some samples and judged on" in one.summary[1]
    assert not {claim.verdict for claim in one.claims} & {"confirmed", "refuted"}
    unlabelled = calibration_content({LINE: [structs.replace(s, labels={}) for s in studied(20)]}, About("tiny", "again"))
    write_study_report(tmp_path, unlabelled)
    assert "too few labelled samples" in unlabelled.summary[1]

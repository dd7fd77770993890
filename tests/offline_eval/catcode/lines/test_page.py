"""The page of the line twin: what it says where meaning is noticed, and where it is not; and what is in no number."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.calibration.report.study_report import StudyContent, write_study_report
from assay.calibration.samples import Sample
from assay.offline_eval.catcode.lines.page import About, content_of
from assay.offline_eval.catcode.lines.tables import BALANCED, regenerated_table

from .catcode_facts_of_worlds import world


def page(facts: list[Any], samples: list[Sample], **about: Any) -> StudyContent:
    return content_of(facts, samples, About("tiny", "assay eval report run", ("truth", "suggestion"), **about))


def cells(content: StudyContent) -> dict[str, Any]:
    return {cell.id: cell for table in content.tables() for cell in table.cells()}


def test_where_meaning_is_noticed_the_first_sentences_say_how_well() -> None:
    content = page(*world(3.0))
    assert content.summary[0].startswith("At 200 places of 10 projects the model scored 200 lines that pass the tests")
    assert "a balanced accuracy of 9" in content.summary[1]
    assert content.summary[2] == "Of the number that is shown with a suggestion this run says nothing."
    assert cells(content)[BALANCED].low > 0.8
    assert cells(content)["identification/context_3/recall"].value > 0.9
    assert cells(content)["rule/wrong/wrong_name/fall"].value == pytest.approx(5, abs=0.3)


def test_where_it_is_not_noticed_the_interval_has_chance_in_it() -> None:
    found = cells(page(*world(0.0)))[BALANCED]
    assert found.low < 0.55
    assert found.value == pytest.approx(0.5, abs=0.08)


def test_the_claim_about_edits_follows_the_balanced_accuracy_and_the_others_say_what_they_need() -> None:
    def verdicts(noticed: float) -> dict[str, str]:
        return {claim.id: claim.verdict for claim in page(*world(noticed)).claims}

    others = dict.fromkeys(("a2", "b", "c", "translation", "reproduction"), "not run")
    assert verdicts(3.0) == {"a1": "confirmed"} | others
    assert verdicts(0.0) == {"a1": "refuted"} | others


def test_what_is_left_out_and_what_tests_contradict_is_told(tmp_path: Path) -> None:
    facts, samples = world(1.0)
    facts[0]["lines"] = [{**facts[0]["lines"][0], "variants": []}]
    facts[1]["lines"][0]["variants"][0]["measures"] = None
    content = page(facts, samples, lost=2)
    told = "\n".join(content.left_out)
    assert "2 items without an answer" in told
    assert "suggestion: 200 places without this line" in told
    assert "1 line without any rewrite" in told
    assert "1 rewrite without a score" in told
    written = write_study_report(tmp_path, content)
    page_text = next(path for path in written if path.name == "report.md").read_text()
    assert "tests contradict (1; at most 10 are shown)" in page_text
    assert "Wrong rewrites that the model minds least" in page_text


def test_suggestions_in_rewritten_code_are_compared_with_those_at_the_same_places() -> None:
    facts, samples = world(1.0)
    facts[0]["regenerated"] = None
    facts[1]["regenerated"]["passes"] = None
    passing, exact = regenerated_table(facts, samples).rows
    assert (passing.cells[0].n, exact.cells[0].n) == (198, 199)
    assert passing.cells[2].value == 0

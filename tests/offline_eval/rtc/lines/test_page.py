"""The page of round trips of lines: what it says, in worlds with and without a gain from descriptions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace as changed
from synthetic_samples import sample

from assay.calibration.metrics.intervals import Interval
from assay.calibration.report.study_report import StudyContent, write_study_report
from assay.calibration.samples import Sample
from assay.calibration.validation.figures import figure
from assay.offline_eval.rtc.lines.examples import examples
from assay.offline_eval.rtc.lines.page import MAIN_LIFT, NO_LIFT, About, content_of


def world(lift: float, places: int = 400, projects: int = 10) -> tuple[list[Any], list[Sample]]:
    """Facts of places whose rebuilds pass by chance, below a description as much more often as this."""
    rng = np.random.default_rng(0)
    base = rng.uniform(0.2, 0.6, projects)
    facts, samples = [], []
    for number in range(places):
        project = number % projects

        def passes(more: float = 0.0, rate: float = base[project]) -> bool:
            return bool(rng.random() < rate + more)

        codes: dict[str, Any] = {
            code: {
                "text": "x" * int(rng.integers(5, 60)),
                "passes": True if code == "truth" else passes(),
                "trips": [trip(passes(lift), copied=bool(rng.random() < 0.1)) for _ in range(3)],
                "uninformed": trip(passes()),
            }
            for code in ("truth", "suggestion")
        }
        right = codes["suggestion"]["passes"]
        place = {"file": "f.py", "suggested": "x", "exact": False, "passes": right, "codes": codes}
        samples.append(changed(sample(number, project=f"p{project}"), labels={"exact_match": False, "tests_pass": right, "kept": None}))
        facts.append({"id": samples[-1].id, "project": f"p{project}", **place})
    return facts, samples


def trip(passes: bool, *, copied: bool = False) -> dict[str, Any]:
    return {"comment": "told", "copied": copied, "equal": float(passes), "passes": float(passes), "logprob": -1.0, "rebuilt": ["x"]}


def page(facts: list[Any], samples: list[Sample], **about: Any) -> StudyContent:
    return content_of(facts, samples, About("tiny", "assay eval report run", 0, ("truth", "suggestion"), **about))


def verdicts(content: StudyContent) -> dict[str, str]:
    return {claim.id: claim.verdict for claim in content.claims}


def test_where_descriptions_help_the_lift_is_confirmed_and_the_correlation_is_read(tmp_path: Any) -> None:
    content = page(*world(lift=0.3))
    assert verdicts(content)["lift"] == "confirmed"
    assert verdicts(content)["tracks"] == "confirmed"
    assert NO_LIFT not in " ".join(content.summary)
    assert "At 400 places of 10 projects" in content.summary[0]
    assert "report.html" in {path.name for path in write_study_report(tmp_path, content)}


def test_where_descriptions_add_nothing_the_page_says_that_it_is_a_negative_control_instead_of_a_correlation() -> None:
    content = page(*world(lift=0.0))
    assert verdicts(content)["tracks"] == "not run"
    assert verdicts(content)["lift"] == "undecided"
    assert "negative control" in content.summary[1]
    cells = {cell.id: cell for table in content.tables() for cell in table.cells()}
    assert cells[MAIN_LIFT].value == pytest.approx(0, abs=0.06)
    assert cells["correlation/rtc/r"].value is not None, "the number stands in its table"


def test_each_figure_is_given_with_and_without_copies_and_the_papers_numbers_stand_beside() -> None:
    content = page(*world(lift=0.1))
    cells = {cell.id: cell for table in content.tables() for cell in table.cells()}
    of_rates = [name for name in cells if name.startswith("rtc/") and "/all/" in name]
    assert {name.replace("/all/", "/no_copies/") for name in of_rates} <= cells.keys()
    assert cells["descriptions/truth/copied"].value == pytest.approx(0.1, abs=0.03)
    assert [each.value for each in cells[MAIN_LIFT].paper] == [0.215, 0.07]
    assert [each.value for each in cells["correlation/rtc/tau"].paper] == [0.9]
    assert [each.value for each in cells["descriptions/truth/length/rebuilt"].paper] == [302.6]


def test_suggestions_are_counted_by_the_share_of_their_rebuilds() -> None:
    content = page(*world(lift=0.0))
    cells = {cell.id: cell for table in content.tables() for cell in table.cells() if cell.id.startswith("reliability/")}
    assert sum(cell.n for name, cell in cells.items() if name.endswith("tests_pass")) == 400
    assert {name.split("/")[1] for name in cells} == {"0.00", "0.33", "0.67", "1.00"}


@pytest.mark.parametrize(
    ("low", "said"), [(0.01, "They are worth offering to the editor."), (-0.01, "They are not offered to the editor.")]
)
def test_the_summary_says_whether_the_measures_are_offered_to_the_editor(low: float, said: str) -> None:
    gain = figure("line, passes tests: R2, skill gained", Interval(0.02, low, 0.03), 400, 10, "project", "> 0")
    assert page(*world(lift=0.0), figures=(gain,)).summary[2].endswith(said)


def test_a_run_without_anything_rebuilt_has_a_page_that_says_so() -> None:
    content = page([], [])
    assert "says nothing of that" in content.summary[1]
    assert "this run does not say" in content.summary[2]
    assert set(verdicts(content).values()) == {"not run"}


def test_of_suggestions_alone_the_page_says_how_often_they_are_rebuilt() -> None:
    facts, samples = world(lift=0.3)
    for place in facts:
        del place["codes"]["truth"]
    content = content_of(facts, samples, About("tiny", "assay eval report run", 0, ("suggestion",)))
    assert "described the line that it suggests there" in content.summary[0]
    assert "are that line again" in content.summary[0]
    assert NO_LIFT not in content.summary[1]
    assert "without a comment" not in content.summary[0]


def test_what_is_missing_is_told() -> None:
    facts, samples = world(lift=0.0)
    del facts[0]["codes"]["suggestion"]
    facts[1]["codes"]["truth"]["trips"][0]["passes"] = None
    told = " ".join(page(facts, samples, lost=2).left_out)
    assert "2 items without an answer" in told
    assert "suggestion: 1 place without round trips" in told
    assert "truth: 1 description led to a text that the tests have not judged" in told


def test_what_the_tests_have_not_judged_is_no_example_of_a_failure() -> None:
    facts, _ = world(lift=0.0, places=1, projects=1)
    for made in facts[0]["codes"]["truth"]["trips"]:
        made |= {"equal": 0.0, "passes": None}
    assert examples(facts, ("truth",), 0) is None
    facts[0]["codes"]["truth"]["trips"][0]["passes"] = 0.0
    shown = examples(facts, ("truth",), 0)
    assert shown is not None
    assert [row[0] for row in shown.rows] == ["truth: other code that fails them"]


def test_equal_shares_have_one_row_whatever_order_they_were_summed_in() -> None:
    facts, samples = world(lift=0.0, places=40)
    for number, place in enumerate(facts):
        shares = (0.1, 0.2, 0.3) if number % 2 else (0.3, 0.2, 0.1)
        for made, share in zip(place["codes"]["suggestion"]["trips"], shares, strict=True):
            made["equal"] = share
    rows = [row.names for table in page(facts, samples).tables() if table.id == "reliability" for row in table.rows]
    assert rows == [("0.20",)]

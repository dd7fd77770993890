from __future__ import annotations

import numpy as np
import pytest
from msgspec import structs
from synthetic_study import TASKS, studied, whole

from assay.calibration.metrics.scores import skill
from assay.calibration.report.cells import Cell
from assay.calibration.report.paper_claims import PaperClaim
from assay.offline_eval.paper_tables.forecasts import Setting
from assay.offline_eval.paper_tables.report import claims, event_of
from assay.offline_eval.paper_tables.tables import StudyTables, study_tables

pytestmark = pytest.mark.slow

LINE = Setting("line")


def by_id(found: tuple[PaperClaim, ...]) -> dict[str, PaperClaim]:
    return {claim.id: claim for claim in found}


def test_in_a_world_of_known_truth_the_claims_come_out_as_they_must(tables: StudyTables) -> None:
    found = by_id(claims(tables.cells, TASKS))
    verdicts = {name: claim.verdict for name, claim in found.items()}
    # log-probabilities order the samples, and exact match is more than they tell of tests; docstrings add to the log odds
    assert {name: verdicts[name] for name in ("RQ2b", "RQ3b", "RQ4", "RQ5a", "D1")} == dict.fromkeys(
        ("RQ2b", "RQ3b", "RQ4", "RQ5a", "D1"), "confirmed"
    )
    # only the normalised answer of Ask T/F tells anything here, and the scaled probabilities are spread wide
    assert verdicts["RQ3a"] == verdicts["RQ5c"] == "refuted"
    assert all(claim.cells and set(claim.cells) <= set(tables.cells) for claim in found.values())


def test_claims_read_cells_and_nothing_else() -> None:
    cells = {"T2/line/docstring/tests_pass": Cell("T2/line/docstring/tests_pass", 0.3, 0.2, 0.4)}
    found = by_id(claims(cells, ["line"]))
    assert {claim.verdict for claim in found.values()} == {"not run"}
    place = "T6/tests_pass/line/docstring/{}/project/skill"
    for measure, low in (("total_logprob", 0.01), ("mean_probability", 0.02)):
        cells[place.format(measure)] = Cell(place.format(measure), low + 0.05, low, low + 0.1)
    assert by_id(claims(cells, ["line"]))["RQ2b"].verdict == "confirmed"
    cells[place.format("mean_probability")] = Cell(place.format("mean_probability"), -0.1, -0.2, -0.01)
    assert by_id(claims(cells, ["line"]))["RQ2b"].verdict == "refuted"
    # a claim about lines says nothing of functions
    assert by_id(claims(cells, ["humaneval"]))["RQ2b"].verdict == "not run"


def test_verbalised_confidence_is_not_judged_where_the_model_said_none(tables: StudyTables) -> None:
    assert by_id(claims(tables.cells, TASKS, TASKS))["RQ3b"].verdict == "not run"
    some, all_told = (by_id(claims(tables.cells, TASKS, left_out))["RQ3b"].cells for left_out in (TASKS[:1], ()))
    assert 0 < len(some) < len(all_told)


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


def test_a_difference_of_raw_skill_is_that_of_the_scores(tables: StudyTables) -> None:
    samples = whole()[LINE]
    y = np.array([s.labels["tests_pass"] for s in samples])
    p_tot, p_avg = (np.array([s.measures[name] for s in samples]) for name in ("total_logprob", "mean_probability"))
    cell = tables.cells["D/line/docstring/tests_pass/raw_p_tot_minus/mean_probability"]
    assert cell.value == pytest.approx(skill(np.exp(p_tot), y) - skill(p_avg, y))


def test_the_docstring_difference_pairs_by_id(tables: StudyTables) -> None:
    cell = tables.cells["D/line/docstring/exact_match/docstring/mean_probability"]
    scores = [
        tables.cells[f"T7/exact_match/line/{arm}/mean_probability/project/skill"].value or 0.0 for arm in ("docstring", "no_docstring")
    ]
    assert cell.value == pytest.approx(scores[0] - scores[1])
    # in another order the same
    shuffled = {
        setting: (each[::-1] if setting.arm == "no_docstring" else each) for setting, each in whole().items() if setting.task == "line"
    }
    again = study_tables({setting: each for setting, each in shuffled.items() if setting.arm != "no_suffix"})
    other = again.cells[cell.id]
    assert (other.n, other.groups) == (cell.n, cell.groups)
    assert other.value == pytest.approx(cell.value, abs=0.02)

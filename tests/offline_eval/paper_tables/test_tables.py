from __future__ import annotations

import numpy as np
import pytest
from msgspec import structs
from synthetic_study import studied, whole

from assay.calibration.metrics.scores import auc, brier, skill
from assay.calibration.report.cells import NOT_RUN, Cell
from assay.calibration.samples import Sample
from assay.offline_eval.paper_tables.forecasts import Forecast, Missing, Setting, columns_of, forecasts_of
from assay.offline_eval.paper_tables.tables import StudyTables, study_tables

LINE = Setting("line")


def cell(tables: StudyTables, cell_id: str) -> Cell:
    return tables.cells[cell_id]


def test_rates_are_those_of_the_samples_with_the_papers_beside_line_alone(tables: StudyTables) -> None:
    samples = whole()[LINE]
    found = cell(tables, "T2/line/docstring/exact_match")
    assert found.value == pytest.approx(np.mean([sample.labels["exact_match"] for sample in samples]))
    assert found.low is not None
    assert found.high is not None
    assert found.low < (found.value or 0) < found.high
    assert (found.n, found.groups, found.grouped_by) == (400, 12, "project")
    assert [value.value for value in found.paper] == pytest.approx([0.2396, 0.2360, 0.1968])
    assert cell(tables, "T2/line/no_suffix/exact_match").paper
    assert not cell(tables, "T2/line_rest/docstring/exact_match").paper


def test_docstrings_are_compared_at_the_same_places(tables: StudyTables) -> None:
    plain, without = (whole()[Setting("line", arm)] for arm in ("docstring", "no_docstring"))
    by_id = {sample.id: sample.labels["exact_match"] for sample in without}
    expected = np.mean([int(bool(sample.labels["exact_match"])) - int(bool(by_id[sample.id])) for sample in plain])
    found = cell(tables, "T3/line/exact_match/difference")
    assert found.value == pytest.approx(expected)
    assert found.low is not None
    assert found.low > 0


def test_the_four_shares_of_table_4_are_all_samples_and_no_exact_match_fails(tables: StudyTables) -> None:
    shares = [cell(tables, f"T4/line/docstring/{match}/{outcome}").value for match in ("other", "exact") for outcome in ("fail", "pass")]
    assert sum(share or 0 for share in shares) == pytest.approx(1)
    assert cell(tables, "T4/line/docstring/exact_that_fail").value == 0
    assert [value.value for value in cell(tables, "T4/line/docstring/exact/fail").paper] == pytest.approx([0.0689])


def test_raw_scores_are_those_of_the_measure_as_a_probability(tables: StudyTables) -> None:
    samples = whole()[LINE]
    p = np.exp([sample.measures["total_logprob"] for sample in samples])
    y = np.array([sample.labels["tests_pass"] for sample in samples])
    place = "T5/tests_pass/line/docstring/total_logprob/raw"
    assert cell(tables, f"{place}/brier").value == pytest.approx(brier(p, y))
    assert cell(tables, f"{place}/skill").value == pytest.approx(skill(p, y))
    assert cell(tables, f"{place}/ece").noise_floor is not None
    bare = [structs.replace(s, labels={"exact_match": s.labels["exact_match"]}) for s in studied(100, reflective=False)]
    asked = study_tables({LINE: bare}).cells["T5/exact_match/line/docstring/ask_true/raw/skill"]
    assert (asked.value, asked.why) == (None, NOT_RUN)
    assert [value.value for value in cell(tables, f"{place}/skill").paper] == [-0.03, -0.02, -0.02]
    assert cell(tables, "T8/tests_pass/line/docstring/total_logprob/order/auc").value == pytest.approx(auc(p, y))


def test_scaling_gives_skill_with_both_kinds_of_folds_and_no_ece_without_it(tables: StudyTables) -> None:
    for way in ("random", "project"):
        good = f"T7/exact_match/line/docstring/total_logprob/{way}"
        assert (cell(tables, f"{good}/skill").low or 0) > 0
        assert cell(tables, f"{good}/ece").value is not None
        useless = f"T7/exact_match/line/docstring/verbalised/{way}"
        assert (cell(tables, f"{useless}/skill").value or 0) < 0.05
        assert (cell(tables, f"{useless}/ece").value, cell(tables, f"{useless}/ece").why) == (None, "skill < 0.05")


def test_a_map_by_project_has_not_seen_the_project_that_it_judges() -> None:
    """The labels of one project are turned round: a map that has not seen them judges its samples as before."""
    samples = studied(300, projects=6)
    turned = [
        structs.replace(s, labels={**s.labels, "exact_match": not s.labels["exact_match"]}) if s.project == "p0" else s for s in samples
    ]
    before, after = (forecast(each, "project") for each in (samples, turned))
    inside = np.array([sample.project == "p0" for sample in samples])
    assert after.p[inside] == pytest.approx(before.p[inside])
    assert not np.allclose(after.p[~inside], before.p[~inside])
    assert not np.allclose(*(forecast(each, "random").p[inside] for each in (samples, turned)))


def forecast(samples: list[Sample], way: str) -> Forecast:
    found = forecasts_of(columns_of(LINE, samples), "exact_match", "total_logprob", 0)
    assert not isinstance(found, Missing)
    return found[way]  # type: ignore[index]


@pytest.mark.parametrize(
    "samples",
    [
        {},
        {LINE: studied(1)},
        {LINE: [structs.replace(sample, labels={}) for sample in studied(50)]},
        {LINE: [structs.replace(sample, measures={}) for sample in studied(50)]},
        {LINE: studied(60, projects=1)},
        {Setting("line", "no_suffix"): studied(60)},
    ],
    ids=["nothing", "one sample", "no labels", "no measures", "one project", "no base arm"],
)
def test_what_is_missing_is_said_and_is_no_error(samples: dict[Setting, list[Sample]]) -> None:
    found = study_tables(samples)
    assert all(each.value is not None or each.why or not each.n for each in found.cells.values())


def test_nothing_is_said_of_a_measure_where_all_labels_are_equal() -> None:
    samples = [structs.replace(sample, labels={"tests_pass": False}) for sample in whole()[Setting("line")][:200]]
    found = study_tables({Setting("line"): samples})
    rate = found.cells["T2/line/docstring/tests_pass"]
    assert (rate.value, rate.n) == (0.0, 200)
    scores = [cell for name, cell in found.cells.items() if name.startswith(("T5/tests_pass", "T6/tests_pass", "S/tests_pass"))]
    assert scores
    assert {(cell.value, cell.why) for cell in scores if cell.paper or not cell.id.startswith("S/")} == {(None, "all labels equal")}


def test_a_problem_set_takes_each_problem_as_independent() -> None:
    samples = [structs.replace(s, task="humaneval", file=f"{s.id}.py", project="humaneval") for s in studied(60)]
    second = [structs.replace(s, id=f"{s.id}:2", rank=2) for s in samples]
    found = study_tables({Setting("humaneval"): [*samples, *second]}).cells["T2/humaneval/docstring/tests_pass"]
    assert (found.n, found.groups, found.grouped_by) == (60, 60, "file"), "further alternatives are no suggestions of their own"
    assert [value.where for value in found.paper] == [f"T2/{model}/HumanEval/tests_pass" for model in ("GPT-3.5", "Codex", "CodeGen2")]

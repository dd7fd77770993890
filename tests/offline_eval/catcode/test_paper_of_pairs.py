from __future__ import annotations

import pytest

from assay.analysis.morphisms.registry import MORPHISMS
from assay.offline_eval.catcode.paper import counts_of, marks_of, of_kind, of_rules, of_two_kinds, paper


def test_the_average_of_figure_4_is_not_the_mean_of_its_bars() -> None:
    bars = [[value.value for value in of_kind(kind)] for kind in ("1-eq", "2-eq", "1-neq", "global-eq", "global-neq")]
    means = [sum(column) / 5 for column in zip(*bars, strict=True)]
    assert [round(100 * mean, 1) for mean in means] == [75.2, 73.8]
    assert [round(100 * value.value, 1) for value in of_kind("average")] == [77.0, 76.5]
    assert "inconsistent" in {mark.kind for mark in marks_of("Fig. 4/average/Davinci")}


def test_two_bars_make_a_balanced_accuracy_with_the_marks_of_both() -> None:
    found = of_two_kinds("1-eq", "1-neq")
    assert [value.value for value in found["balanced"]] == [pytest.approx(0.795), pytest.approx(0.82)]
    assert [value.value for value in found["youden"]] == [pytest.approx(0.59), pytest.approx(0.64)]
    assert set(found["neq"][0].marks) <= set(found["balanced"][0].marks)


def test_every_rule_of_the_paper_is_one_of_ours() -> None:
    ours = {entry.name for entry in MORPHISMS if "java" in entry.languages}
    assert set(paper()["rules"].values()) == ours
    assert {name for _, rules in of_rules() for name in rules} <= ours


def test_every_row_of_table_3_says_that_its_n_is_not_told() -> None:
    assert all(any("no n" in mark.note for mark in printed[0].marks) for printed in of_rules().values())
    assert counts_of("humaneval") == [159, 164, 477, 173]
    assert counts_of("mine") is None

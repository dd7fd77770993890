"""The closed forms of the paper's own tables, which its rounded numbers must agree with."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from statistics import fmean

import pytest

from assay.calibration.measures.registry import MEASURES
from assay.offline_eval.paper_tables.forecasts import computed, measures, paper, raw, statements

HALF = 0.005


def base_rate(place: str) -> float:
    """The rate of Table 2 that a cell of Tables 5 to 7 is about."""
    table, model, _, data, *_ = place.split("/")
    event = "exact_match" if table == "T7" or data == "SStubs" else "tests_pass"
    return paper().cells[f"T2/{model}/{data}/{event}"].value


def scored() -> Iterator[tuple[str, float, float]]:
    """Place, Brier score and skill score of each cell of Tables 5 to 7."""
    for place, cell in paper().cells.items():
        if fnmatchcase(place, "T[567]/*/skill"):
            yield place, paper().cells[place.replace("/skill", "/brier")].value, cell.value


def test_all_cells_are_there() -> None:
    cells = paper().cells
    count = {
        table: sum(fnmatchcase(place, f"{table}/*/{score}") for place in cells)
        for table, score in (("T5", "skill"), ("T6", "skill"), ("T8", "auc"))
    }
    assert count == {"T5": 78, "T6": 78, "T8": 78}
    assert sum(fnmatchcase(place, "T7/*/skill") for place in cells) == 30
    assert set(measures().values()) <= set(MEASURES)


def test_each_skill_score_follows_from_its_brier_score_and_base_rate() -> None:
    assert len(list(scored())) == 186
    for place, brier, skill in scored():
        rate = base_rate(place)
        reference = rate * (1 - rate)
        low, high = 1 - (brier + HALF) / reference, 1 - (brier - HALF) / reference
        assert low - HALF <= skill + 1e-9, place
        assert skill - 1e-9 <= high + HALF, place


def test_each_unskilled_brier_score_is_that_of_the_base_rate_or_is_marked() -> None:
    for place, cell in paper().cells.items():
        if "/unskilled/" in place:
            rate = base_rate(place)
            agrees = abs(rate * (1 - rate) - cell.value) <= HALF
            assert agrees != any(mark.kind == "inconsistent" for mark in cell.marks), place


def test_a_scaled_ece_is_printed_where_the_skill_score_is_at_least_5_hundredths() -> None:
    for place, _, skill in scored():
        if not place.startswith("T5"):
            printed = place.replace("/skill", "/ece") in paper().cells
            # The limit is on what was not rounded yet, so that a printed 0.05 is on either side.
            assert printed == (skill >= 0.05) or skill == 0.05, place


def test_table_4_says_that_28_8_percent_of_the_exact_matches_fail_and_its_parts_are_those_of_table_2() -> None:
    cells = {place: cell for place, cell in paper().cells.items() if place.startswith("T4/")}
    fails, passes = (cells[f"T4/GPT-3.5/DyPyBench/exact/{outcome}"].value for outcome in ("fail", "pass"))
    assert fails / (fails + passes) == pytest.approx(0.288, abs=0.0005)
    assert sum(cell.value for cell in cells.values()) == pytest.approx(1, abs=1e-9)
    for event, patterns in (("exact_match", "*/exact/*"), ("tests_pass", "*/pass")):
        total = sum(cell.value for place, cell in cells.items() if fnmatchcase(place, patterns))
        assert total == pytest.approx(paper().cells[f"T2/GPT-3.5/DyPyBench/{event}"].value, abs=0.0002)
    # 1987 lines give all four shares
    assert [round(100 * k / 1987, 2) for k in (1190, 321, 137, 339)] == pytest.approx([100 * cell.value for cell in cells.values()])
    (mark,) = cells["T4/GPT-3.5/DyPyBench/exact/fail"].marks
    assert mark.kind == "refuted"


def test_the_means_of_table_5_are_not_those_that_the_text_gives() -> None:
    assert fmean(raw("skill")) == pytest.approx(-0.85, abs=HALF)
    means = {measure: fmean(raw("skill", measure)) for measure in measures()}
    assert means == pytest.approx(
        {"p_tot": -0.68, "p_avg": -1.45, "ask": -0.27, "ask_n": -0.40, "verbalised": -1.10, "length": -1.19}, abs=HALF
    )
    assert max(means, key=lambda measure: means[measure]) == "ask"
    without_length = [value for measure in measures() if measure != "length" for value in raw("skill", measure)]
    assert fmean(without_length) == pytest.approx(-0.78, abs=HALF)
    assert fmean(raw("ece")) == pytest.approx(0.35, abs=HALF)


@pytest.mark.parametrize("statement", statements(), ids=lambda each: each.says)
def test_each_statement_of_the_text_differs_from_what_its_tables_give(statement: object) -> None:
    each = next(known for known in statements() if known == statement)
    assert computed(each.made_by) == pytest.approx(each.tables, abs=HALF)
    assert abs(each.value - computed(each.made_by)) > HALF

"""The paper's Table 2: its "Spearman" correlation is Kendall's."""

from __future__ import annotations

import pytest

from assay.offline_eval.rtc.tables import paper, table_2


@pytest.mark.parametrize(("benchmark", "r", "rho", "tau"), [("HumanEval", 0.959, 0.964, 0.905), ("ARCADE", 0.959, 0.929, 0.810)])
def test_table_2_gives_these_correlations(benchmark: str, r: float, rho: float, tau: float) -> None:
    found = table_2(benchmark)
    assert found.n == 7
    assert [round(each.value, 3) for each in (found.r, found.rho, found.tau) if each] == [r, rho, tau]
    printed = paper().cells[f"text/spearman_{benchmark.lower()}"].value
    assert found.tau is not None
    assert found.tau.value == pytest.approx(printed, abs=0.006)
    assert found.rho is not None
    assert found.rho.value != pytest.approx(printed, abs=0.05)


def test_a_cell_has_its_place_and_model() -> None:
    cell = paper().cells["T2/HumanEval/Gemini v1 Pro/rtc"]
    assert (cell.value, cell.of) == (pytest.approx(0.348), "Gemini v1 Pro")
    assert paper().cells["T3/Gemini Nano 2/bleu"].value == pytest.approx(0.723)
    assert paper().cells["text/ranges"].value == 5961

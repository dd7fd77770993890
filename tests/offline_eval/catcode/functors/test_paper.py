"""The paper's numbers: its means are those of its cells, and what can't be right says so."""

from __future__ import annotations

from statistics import fmean

import pytest

from assay.offline_eval.catcode.functors.tables import paper

SETS = ("humaneval", "mathqa", "mbxp")


def is_share(percent: float, n: int) -> bool:
    """Whether some k of n is that many percent, to one decimal."""
    return any(round(100 * k / n, 1) == round(percent, 1) for k in range(n + 1))


@pytest.mark.parametrize("model", ["Davinci", "ChatGPT", "CodeGeeX"])
def test_the_means_of_translation_are_those_of_its_cells(model: str) -> None:
    cells = paper().cells
    mean = fmean(cells[f"T4/{name}/{model}/{language}"].value for name in SETS for language in ("python", "javascript"))
    assert mean == pytest.approx(cells[f"T4/mean/{model}/all"].value, abs=0.0011)


@pytest.mark.parametrize("model", ["Davinci", "ChatGPT"])
def test_the_means_of_reproduction_are_those_of_its_cells(model: str) -> None:
    cells = paper().cells
    mean = fmean(cells[f"T6/{name}/{model}/java"].value for name in SETS)
    assert mean == pytest.approx(cells[f"T6/mean/{model}/java"].value, abs=0.0006)


def test_what_is_no_share_of_its_n_is_marked_inconsistent() -> None:
    assert not is_share(33.0, 156)
    assert is_share(35.9, 156)
    assert not is_share(75.5, 97)
    assert is_share(75.5, 1734)
    marked = {place for place, value in paper().cells.items() if value.marks}
    assert {"T6/humaneval/Davinci/java", "T6/mathqa/Davinci/java", "T6/mathqa/ChatGPT/java"} <= marked
    assert "T6/humaneval/ChatGPT/java" not in marked
    assert {mark.kind for value in paper().cells.values() for mark in value.marks} == {"inconsistent"}

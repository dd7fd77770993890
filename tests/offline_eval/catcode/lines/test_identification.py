"""Wrong rewrites, told from those that do the same by how far the log-probability of the line falls."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.catcode.lines.tables import falls_of, thresholds, told_apart, youden

from .catcode_facts_of_worlds import world


def test_a_threshold_is_taken_from_other_projects_alone() -> None:
    fall = np.array([0.0, 10.0, 5.0, 6.0, 100.0])
    arm = np.array(["equivalent", "wrong", "equivalent", "wrong", "context"])
    projects = np.array([0, 0, 1, 1, 1])
    assert thresholds(fall, arm, projects).tolist() == [5.5, 5.5, 5.0, 5.0, 5.0]


@given(st.lists(st.tuples(st.floats(-5, 20), st.booleans(), st.integers(0, 3)), min_size=2, max_size=40))
def test_no_threshold_has_a_higher_balanced_accuracy_on_the_other_projects(rows: list[tuple[float, bool, int]]) -> None:
    fall, wrong, projects = (np.array(column) for column in zip(*rows, strict=True))
    found = thresholds(fall, np.where(wrong, "wrong", "equivalent"), projects)

    def balanced(threshold: float, of: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> float:
        said = fall[of] > threshold
        return float(said[wrong[of]].mean() + (~said[~wrong[of]]).mean())

    for row in np.flatnonzero(np.isfinite(found)):
        others = projects != projects[row]
        tried = [*(fall[others]), float(fall[others].min()) - 1]
        assert balanced(found[row], others) >= max(balanced(each, others) for each in tried) - 1e-12


@pytest.mark.parametrize(("meaning", "apart"), [(0.0, False), (3.0, True)])
def test_meaning_is_found_where_there_is_some(meaning: float, apart: bool) -> None:
    falls = falls_of(world(meaning)[0])
    j, area = youden(falls), told_apart(falls)
    assert j is not None
    assert area is not None
    assert (j.low > 0.5) == apart
    assert (area.low > 0.9) == apart
    if not apart:
        assert j.low < 0 < j.high or abs(j.value) < 0.1


def test_the_code_around_a_line_is_judged_by_the_threshold_of_the_lines_themselves() -> None:
    falls = falls_of(world(3.0)[0])
    context = falls.arm == "context"
    assert falls.found[context].mean() > 0.95
    assert falls.rewritten.sum() == (~context).sum()


def test_what_was_not_scored_is_in_no_number() -> None:
    facts, _ = world(1.0)
    facts[0]["lines"][0]["variants"][0]["measures"] = None
    facts[1]["lines"][0]["plain"] = None
    assert len(falls_of(facts).fall) == 5 * 200 - 1 - 5
    assert len(falls_of([]).fall) == 0

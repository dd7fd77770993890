"""How often a bug's line is among the first, where lines that are alike come in a random order."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.repairs.tables import Numbers, chance_by, chance_within, fault_of, faults_table, generations_of

BUG = {
    "source": "rule",
    "spectrum": {
        "suspects": [["shop/a.py", 3, 2, 0, 1.0], ["shop/b.py", 3, 2, 0, 1.0], ["shop/a.py", 8, 2, 4, 0.5]],
        "lines": 3, "wrong": [3], "above": 0, "alike": 2,
    },
}  # fmt: skip


@given(st.integers(0, 3), st.integers(1, 5), st.data())
def test_the_chance_is_the_share_of_orders_that_have_a_line_of_the_bug_among_the_first(above: int, alike: int, data: st.DataObject) -> None:
    of, most = data.draw(st.integers(1, alike)), data.draw(st.integers(1, 6))
    orders = list(itertools.permutations(range(alike)))
    hits = sum(any(above + place < most for place, line in enumerate(order) if line < of) for order in orders)
    assert chance_within(above, alike, of, most) == pytest.approx(hits / len(orders))


def test_a_line_that_was_not_looked_at_is_never_among_the_first() -> None:
    assert chance_by([3.0, 2.0], [False, False], 2) == chance_within(0, 0, 1, 5) == 0.0


def test_surprise_tells_lines_apart_that_the_same_tests_run() -> None:
    fault = fault_of("p:a.py:3:rule", "p", "shop/a.py", BUG, [5.0, 1.0, 9.0])
    table = faults_table([fault], "project", Numbers("exact_match", None, {}))
    cells = {cell.id: cell.value for cell in table.cells()}
    assert (cells["F/rule/spectrum/1"], cells["F/rule/model/1"], cells["F/rule/both/1"]) == (0.5, 0.0, 1.0)
    assert (cells["F/rule/model/3"], cells["F/rule/spectrum/3"]) == (1.0, 1.0)


def test_each_suspect_is_a_sample_and_only_the_line_of_the_bug_is_exact() -> None:
    fault = fault_of("p:a.py:3:rule", "p", "shop/a.py", BUG, [5.0, None, 9.0])
    found = list(generations_of(fault))
    assert [one["labels"]["exact_match"] for one in found] == [True, False, False]
    assert {one["task"] for one in found} == {"fault"}
    assert len({one["id"] for one in found}) == 3
    assert found[1]["measures"]["line_surprise"] == 0.0

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from assay.server.requests.counts import RequestCounts, percentile
from assay.server.requests.request_ending import Ending, Outcome, Spent

from .test_request_ending import BARE, shown


def test_the_summary_counts_all_and_times_what_was_shown_of_the_latest() -> None:
    counts = RequestCounts(latest=20)
    endings: list[Outcome] = [shown(spent=Spent(float(ms))) for ms in range(1, 101)]
    for outcome in (*endings, replace(BARE, ending=Ending.CANCELLED, spent=Spent(1e6))):
        counts.add(outcome)
    summary = counts.summary()
    assert summary["outcomes"] == {ending.value: {"produced": 100, "cancelled": 1}.get(ending.value, 0) for ending in Ending}
    assert summary["shown_ms"] == {"n": 19, "p50": 91.0, "p95": 100.0}
    assert RequestCounts().summary()["shown_ms"] == {"n": 0, "p50": None, "p95": None}


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_a_percentile_is_the_least_value_that_so_many_do_not_exceed(values: list[float], share: float) -> None:
    found = percentile(values, share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values) - 1e-9
    assert all(sum(value <= lower for value in values) < share * len(values) + 1e-9 for lower in values if lower < found)

"""How many places a time buys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.all_studies.study import RUNS, cost, sizes, whole


def test_the_shares_are_the_whole_time() -> None:
    assert sum(run.share for run in RUNS) == 100
    assert len({run.name for run in RUNS}) == len(RUNS)


def test_without_a_time_all_places_are_taken_that_are_worth_it() -> None:
    assert sizes(None, 20, 2, 0.1) == {run.name: run.most for run in RUNS}


@given(st.floats(0.1, 10_000), st.integers(1, 20), st.integers(1, 16), st.floats(0.001, 60))
def test_no_run_takes_longer_than_its_share_unless_it_has_the_least_of_places(
    minutes: float, projects: int, workers: int, generation_s: float
) -> None:
    bought = sizes(minutes, projects, workers, generation_s)
    for run in RUNS:
        places = bought[run.name]
        assert 1 <= places <= min(run.most, bought[RUNS[0].name])
        hours = cost(run, places * projects, workers, generation_s, 800, 64).hours
        assert places == 1 or hours * 60 <= minutes * run.share / 100 * (1 + 1e-9)


@given(st.floats(1, 1000), st.floats(1, 10))
def test_more_time_and_a_faster_model_never_buy_fewer_places(minutes: float, factor: float) -> None:
    bought = sizes(minutes, 20, 2, 1.0)
    for more in (sizes(minutes * factor, 20, 2, 1.0), sizes(minutes, 20, 2, 1.0 / factor)):
        assert all(more[name] >= places for name, places in bought.items())


def test_the_whole_is_the_sum_of_its_runs_but_places_are_shared() -> None:
    costs = {run.name: cost(run, 100, 2, 0.5, 800, 64) for run in RUNS}
    total = whole(costs)
    assert total.places == 100
    assert total.hours == pytest.approx(sum(each.hours for each in costs.values()))
    assert total.generations == sum(run.place.generations * 100 for run in RUNS)

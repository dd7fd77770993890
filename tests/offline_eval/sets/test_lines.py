from __future__ import annotations

from pathlib import Path

from source_distribution import make_sdist

from assay.inference.completion.task import task_of
from assay.offline_eval.sets.lines import places_of


def test_gaps_come_from_code_that_is_not_a_test_and_put_back_give_the_file(tmp_path: Path) -> None:
    places = places_of(make_sdist(tmp_path), tmp_path, per_project=4, seed=1)
    assert {place.path for place in places} == {"shapes-1.0/shapes/area.py"}
    assert len({place.function for place in places}) == len({place.id for place in places}) == 4
    for place in places:
        line = place.text.split("\n")[place.line - 1]
        assert all(place.text[gap.start : gap.end] in line for _, gap in place.gaps)


def test_each_gap_is_the_task_that_the_live_engine_would_call_it(tmp_path: Path) -> None:
    for seed in range(10):
        for place in places_of(make_sdist(tmp_path), tmp_path, per_project=6, seed=seed):
            for task, gap in place.gaps:
                assert task_of(place.text[: gap.start], place.text[gap.end :], "line") == task


def test_the_same_seed_asks_the_same_and_another_does_not(tmp_path: Path) -> None:
    project = make_sdist(tmp_path)
    first = places_of(project, tmp_path, 3, seed=1)
    assert first == places_of(project, tmp_path, 3, seed=1)
    assert first != places_of(project, tmp_path, 3, seed=2)

"""Asking places of real worker processes that answer some and not others."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from pool_work import Places

from assay.analysis.python.regions import Region
from assay.offline_eval import pool
from assay.offline_eval.repository.asking import MOST_LOST, Unanswered, ask
from assay.offline_eval.repository.study import Place, records_of


def places(count: int) -> list[Place]:
    return [Place(f"p{i:02}", "a.py", Region("f", 0, 40, i + 1, i + 1, "assign"), None, 1) for i in range(count)]


def asked(folder: Path, count: int, fails: set[str], wanted: int | None = 50) -> list[str]:
    """Ask them of one worker that has no answer for some; the places in the order in which they were asked."""
    log = folder / "asked"
    log.write_text("")
    run = folder / "run"
    run.mkdir(exist_ok=True)

    def workers(items: Iterator[Place]) -> Generator[pool.Finished[Place, dict[str, Any]], None, None]:
        return pool.run(Places(log, frozenset(fails)), items, 1)

    try:
        ask(run, iter(places(count)), workers, wanted=wanted, most_s=None, write=True)
    finally:
        order = log.read_text().split()
    return order


def answered(folder: Path) -> list[str]:
    return [record["id"] for record in records_of(folder / "run")]


def test_a_run_that_lost_every_place_fails_and_does_not_say_that_the_project_has_no_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(Unanswered, match="no place has an answer"):
        asked(tmp_path, 3, {"p00", "p01", "p02"})
    said = capsys.readouterr().err
    assert "3 places without an answer" in said
    assert "has no more than" not in said


def test_that_a_project_has_no_more_places_is_said_only_where_none_was_lost(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked(tmp_path, 3, {"p01"})
    assert "has no more than" not in capsys.readouterr().err
    asked(tmp_path, 3, set())
    assert "the project has no more than 3 places" in capsys.readouterr().err


def test_places_that_were_lost_are_asked_last_by_the_next_run_and_do_not_end_it(tmp_path: Path) -> None:
    cursed = {f"p{i:02}" for i in range(MOST_LOST)}
    with pytest.raises(Unanswered, match="10 places in a row"):
        asked(tmp_path, 14, cursed)
    order = asked(tmp_path, 14, cursed)
    assert order == [*(f"p{i:02}" for i in range(MOST_LOST, 14)), *sorted(cursed)]
    assert answered(tmp_path) == ["p10", "p11", "p12", "p13"]
    # once the machine is mended they are answered, in their order
    assert asked(tmp_path, 14, set()) == sorted(cursed)
    assert len(answered(tmp_path)) == 14


@pytest.mark.parametrize("damaged", ["", "[", "{}", "7", '[["p00"]]', "\x00"])
def test_a_damaged_list_of_lost_places_leaves_them_in_their_order(tmp_path: Path, damaged: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "lost.json").write_text(damaged)
    assert asked(tmp_path, 3, {"p01"}) == ["p00", "p01", "p02"]
    assert asked(tmp_path, 4, {"p01"}) == ["p03", "p01"]


def test_a_run_that_goes_on_says_how_many_places_are_done_and_counts_from_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked(tmp_path, 3, set(), wanted=3)
    assert "done already" not in capsys.readouterr().err
    asked(tmp_path, 9, set(), wanted=5)
    said = capsys.readouterr().err
    assert "3 of 5 places are done already" in said
    assert "5/5 places" in said

"""All studies as one run: what it keeps for a resume, and what it passes on to each. The single runs are stand-ins here."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.inference.opening import ModelChoice
from assay.offline_eval.all_studies import study
from assay.offline_eval.all_studies.study import RUNS, Options, cost, places_of, run_all, sizes, whole
from assay.offline_eval.calibration import study as calibration
from assay.offline_eval.catcode.lines import study as catcode
from assay.offline_eval.counterfeit.lines import study as counterfeit
from assay.offline_eval.errors import RunError
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.run import RUN, Run
from assay.offline_eval.sets.projects import named
from assay.offline_eval.study import Unanswered


def test_the_shares_are_the_whole_time_and_the_whole_is_the_sum_of_its_runs() -> None:
    assert sum(run.share for run in RUNS) == 100
    assert len({run.name for run in RUNS}) == len(RUNS)
    costs = [cost(run, 100, 2, 0.5) for run in RUNS]
    total = whole(costs)
    assert (total.places, total.calls) == (100, sum(each.calls for each in costs)), "places are shared"
    assert total.hours == pytest.approx(sum(each.hours for each in costs))


@given(st.none() | st.floats(0.1, 10_000), st.integers(1, 20), st.integers(1, 16), st.floats(0.001, 60))
def test_no_run_takes_longer_than_its_share_unless_it_has_the_least_of_places(
    minutes: float | None, projects: int, workers: int, generation_s: float
) -> None:
    bought = sizes(minutes, projects, workers, generation_s)
    if minutes is None:
        assert bought == {run.name: run.most for run in RUNS}
        return
    for run in RUNS:
        places = bought[run.name]
        assert 1 <= places <= min(run.most, bought[RUNS[0].name])
        hours = cost(run, places * projects, workers, generation_s).hours
        assert places == 1 or hours * 60 <= minutes * run.share / 100 * (1 + 1e-9)


@given(st.floats(1, 1000), st.floats(1, 10))
def test_more_time_and_a_faster_model_never_buy_fewer_places(minutes: float, factor: float) -> None:
    bought = sizes(minutes, 20, 2, 1.0)
    for more in (sizes(minutes * factor, 20, 2, 1.0), sizes(minutes, 20, 2, 1.0 / factor)):
        assert all(more[name] >= places for name, places in bought.items())


NAMES = [run.name for run in RUNS]


@pytest.fixture
def options(tmp_path: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch) -> Options:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    projects = named(["cachetools", "toolz"], suite=True)
    return Options(
        tmp_path / "all",
        choice=ModelChoice(str(tiny_gguf)),
        projects=projects,
        minutes=30.0,
        seed=5,
        pool=Pool(2),
        cache=tmp_path / "archives",
    )


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """By name, what each single run was asked. None of them is made."""
    found: dict[str, Any] = {}

    def stand_in(each: Any) -> None:
        found[each.out.name] = each
        print("a path")

    monkeypatch.setattr(calibration, "run_study", stand_in)
    for module in (counterfeit, catcode):
        monkeypatch.setattr(module, "run_lines", stand_in)
    return found


def takes(seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the model take so long for a generation."""
    monkeypatch.setattr(study, "generation_seconds", lambda _: seconds)


def test_each_study_gets_what_was_asked_and_its_share_of_the_time(
    options: Options, made: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    takes(0.5, monkeypatch)
    run = run_all(replace(options, as_json=True))
    assert json.loads(capsys.readouterr().out) == {"run": str(options.out), "runs": [str(options.out / name) for name in NAMES]}
    assert list(made) == NAMES
    wanted = sizes(30.0, 2, 2, 0.5)
    assert places_of(run) == wanted
    for name, each in made.items():
        assert (each.out, each.per_project, each.seed) == (options.out / name, wanted[name], 5)
        assert (each.choice, each.projects, each.pool, each.cache) == (options.choice, options.projects, options.pool, options.cache)
    assert made["calibration"].set == made["calibration_asked"].set == "suites"
    assert made["calibration"].arms == ("docstring",)
    assert (made["calibration_asked"].arms, made["calibration_asked"].reflective) == (("docstring", "no_docstring", "no_suffix"), True)


def test_a_resumed_run_takes_as_many_places_whatever_the_model_takes_now_and_so_says_its_plan(
    options: Options, made: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    takes(0.5, monkeypatch)
    before = places_of(run_all(options))
    takes(5.0, monkeypatch)
    made.clear()
    assert places_of(run_all(options)) == before
    assert {name: each.per_project for name, each in made.items()} == before
    capsys.readouterr()
    run_all(replace(options, as_json=True, dry_run=True))
    planned = json.loads(capsys.readouterr().out)["runs"]
    assert {name: each["places"] for name, each in planned.items()} == {name: 2 * each for name, each in before.items()}


def test_another_question_is_refused(options: Options, made: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    takes(0.5, monkeypatch)
    run_all(options)
    for dry_run in (False, True):
        with pytest.raises(RunError, match="minutes: 30 -> 60"):
            run_all(replace(options, minutes=60.0, dry_run=dry_run))


def test_a_study_that_fails_keeps_none_of_the_others_from_their_work(
    options: Options, made: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    takes(0.5, monkeypatch)

    def failing(each: Any) -> None:
        raise Unanswered("no text has an answer")

    monkeypatch.setattr(counterfeit, "run_lines", failing)
    with pytest.raises(Unanswered, match="no text has an answer"):
        run_all(options)
    assert list(made) == [name for name in NAMES if name != "counterfeit"]


def test_a_plan_makes_nothing_and_tells_calls_hours_and_where_the_rates_come_from(
    options: Options, capsys: pytest.CaptureFixture[str]
) -> None:
    run_all(replace(options, as_json=True, dry_run=True))
    told = json.loads(capsys.readouterr().out)
    assert not options.out.exists()
    assert list(told["runs"]) == NAMES
    for each in (*told["runs"].values(), told["whole"]):
        assert all(each[name] > 0 for name in ("places", "calls", "judged", "hours"))
    assert "timed just now" in told["rates"]
    assert "docs/performance.md" in told["rates"]
    run_all(replace(options, dry_run=True))
    assert "hours" in capsys.readouterr().err


def test_a_run_whose_places_were_changed_by_hand_is_refused(
    options: Options, made: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    takes(0.5, monkeypatch)
    path = run_all(options).folder / RUN
    path.write_text(re.sub("^catcode_per_project = .*$", 'catcode_per_project = "many"', path.read_text(), flags=re.MULTILINE))
    with pytest.raises(RunError, match=r"run\.toml: must be whole numbers of at least 1: catcode_per_project"):
        places_of(Run.opened(options.out))

"""Round trips of lines of a project whose own tests judge: real code, real tests, in a real jail, with the embedded model."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from killed_runs import kill_once_begun
from source_distribution import make_sdist
from sums_project import write_project

from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.calibration.measures.round_trip import NAMES
from assay.calibration.samples import read_samples
from assay.inference.opening import ModelChoice
from assay.offline_eval.errors import RunError, UsageError
from assay.offline_eval.model import model_of
from assay.offline_eval.pool.choice import Pool
from assay.offline_eval.rtc.lines.study import FACTS, LABELS, Asked, ask, run_lines
from assay.offline_eval.rtc.lines.trips import DESCRIBE, REBUILD
from assay.offline_eval.run import TIMINGS, Run
from assay.offline_eval.sets.suites import Suite, watched

from ....inference.completion_server import Speech, serving


def run_in(folder: Path, workers: int = 1, **more: object) -> Run:
    """The study about the places of the shop, as a program of its own does it, too."""
    project = replace(make_sdist(folder / "archives", functions=1), name="shop")
    asked = Asked(folder / "run", pool=Pool(workers), cache=folder / "archives", memory="file", forward=2)
    suite = Suite("shop", write_project(folder / "shop"), Path(sys.executable), best_level(), folder / "cache")
    items = watched([suite], asked.pool, 3, ("line",), 0)
    return ask(replace(asked, **more), [project], model_of(asked.choice, ("line",), memory="file"), items)  # type: ignore[arg-type]


@pytest.fixture(scope="module", autouse=True)
def isolation() -> None:
    try:
        best_level()
    except NoIsolation as error:
        pytest.skip(f"nothing isolates programs here: {error}")


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_in(tmp_path_factory.mktemp("whole"))


def files_of(run: Run) -> dict[str, bytes]:
    """All that a run has, but how long it took."""
    return {
        str(path.relative_to(run.folder)): path.read_bytes() for path in run.folder.rglob("*") if path.is_file() and path.name != TIMINGS
    }


@pytest.mark.slow
def test_each_line_is_described_rebuilt_and_judged_once(whole: Run) -> None:
    described, rebuilt = whole.records(DESCRIBE).read(), whole.records(REBUILD).read()
    assert [record["id"] for record in described] == [record["id"] for record in rebuilt]
    for told, made in zip(described, rebuilt, strict=True):
        assert [trip["comment"] for trip in made["trips"]] == told["descriptions"]
        assert len(made["trips"]) == 2
    labels = whole.records(LABELS).read()
    assert len({label["id"] for label in labels}) == len(labels)
    facts = [json.loads(line) for line in (whole.folder / FACTS).read_text().splitlines()]
    assert len(facts) == 3
    assert all(place["codes"]["truth"]["passes"] for place in facts)
    assert not any(trip["passes"] is None for place in facts for code in place["codes"].values() for trip in code["trips"])


@pytest.mark.slow
def test_only_round_trips_of_a_suggestion_are_measures_of_it(whole: Run, tmp_path: Path) -> None:
    samples = read_samples(whole.folder / "samples" / "line.jsonl")
    assert samples
    assert all(set(NAMES) <= sample.measures.keys() and set(NAMES) <= sample.asked.keys() for sample in samples)
    of_truth = run_in(tmp_path, of=("truth",))
    assert not any(set(NAMES) & sample.measures.keys() for sample in read_samples(of_truth.folder / "samples" / "line.jsonl"))


@pytest.mark.slow
def test_a_run_that_is_killed_is_resumed_to_the_same_bytes(whole: Run, tmp_path: Path) -> None:
    kill_once_begun(f"run_in(Path({str(tmp_path)!r}), workers=2)", __file__, tmp_path, "run/rebuild.jsonl")
    assert files_of(run_in(tmp_path)) == files_of(whole)


@pytest.mark.slow
def test_steps_can_be_done_one_after_another_and_another_question_is_refused(whole: Run, tmp_path: Path) -> None:
    for steps in (["answers", "describe"], ["rebuild"], ["labels"]):
        run = run_in(tmp_path, steps=steps)
    assert files_of(run) == files_of(whole)
    with pytest.raises(RunError, match="forward: 2 -> 3"):
        run_in(tmp_path, forward=3)


def test_a_model_without_log_probabilities_is_refused_before_anything_is_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with serving(Speech(kind="openai", most_logprobs=0)) as address, pytest.raises(UsageError, match="gives no log-probabilities"):
        run_lines(Asked(tmp_path / "run", ModelChoice(address), cache=tmp_path / "archives"))
    assert not (tmp_path / "run").exists()

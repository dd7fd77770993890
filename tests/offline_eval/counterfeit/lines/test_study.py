"""The counterfeit study on a project whose own tests judge: real code, real tests, in a real jail, with the embedded model."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from source_distribution import make_sdist
from study_runs import files_of, kill_once_begun
from sums_project import FILES, write_project

from assay.analysis.sandbox.isolation.best_level import best_level
from assay.calibration.samples import read_samples
from assay.cli.main import main
from assay.offline_eval.counterfeit.lines.draw import DRAWS
from assay.offline_eval.counterfeit.lines.label import LABELS, REPAIR_LABELS, REPAIRS
from assay.offline_eval.counterfeit.lines.study import Options, ask
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.run import Run
from assay.offline_eval.sets.suites import Finding, Suite, watched

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("isolated")]
_DRAWS = 4
# Tests that touch much and notice little.
_EASY = """

def test_something_comes_out():
    for numbers in ([], [1], [1, 2]):
        try:
            total(numbers)
            words("One " * len(numbers))
        except Exception:
            pass


def test_nothing_is_nothing():
    assert not total([])
    assert not words("")
"""


def run_in(folder: Path, workers: int = 1) -> Run:
    """The study about places of the shop, as a program of its own does it, too."""
    shop = write_project(folder / "shop")
    (shop / "tests" / "test_sums.py").write_text(FILES["tests/test_sums.py"] + _EASY)
    suite = Suite("shop", shop, Path(sys.executable), best_level(), folder / "cache")
    project = replace(make_sdist(folder / "archives", functions=1), name="shop")
    options = Options(
        folder / "run", projects=[project], draws=_DRAWS, pool=Pool(workers), cache=folder / "archives", memory="file", per_project=4
    )
    return ask(options, options.model(), watched([suite], options.pool, Finding(options.per_project, 0), options.tasks))


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return run_in(tmp_path_factory.mktemp("whole"))


def facts_of(run: Run) -> dict[str, dict[str, object]]:
    return {fact["id"]: fact for fact in map(json.loads, (run.folder / "facts.jsonl").read_text().splitlines())}


def test_each_gap_has_what_is_shown_and_its_draws_and_each_distinct_text_one_label(whole: Run) -> None:
    made = [one for answer in whole.records(DRAWS).read() for one in answer["generations"]]
    gaps = {one["id"] for one in made if "stream" not in one}
    assert len(made) == len(gaps) * (1 + _DRAWS)
    labels = whole.records(LABELS).read()
    wrong = {one["text_id"] for one in made if one["text_id"] and not one["labels"]["exact_match"]}
    assert {label["id"] for label in labels} == wrong
    for label in labels:
        assert label["known"] - label["kept"] == sum(test["error"] is not None for test in label["changed"])
        assert label["tests_pass"] == (label["error"] == "passed")
    question, facts = whole.question(), facts_of(whole)
    shown = read_samples([whole.folder / "samples" / f"{task}.jsonl" for task in ("line", "line_rest")])
    drawn = read_samples([whole.folder / "samples" / f"{task}-t0.6.jsonl" for task in ("line", "line_rest")])
    assert {sample.prompt for sample in shown} == {question["prompt"]}
    assert {sample.prompt for sample in drawn} == {question["prompt_sampled"]} != {question["prompt"]}
    assert len(drawn) > len({(sample.file, sample.text_sha256) for sample in drawn}), "duplicates stay"
    for sample in (*shown, *drawn):
        classes = facts[sample.id]["classes"]
        assert isinstance(classes, dict)
        assert (classes["kept"] == "right") is sample.labels["tests_pass"]


def test_counterfeits_are_repaired_and_what_comes_of_it_is_judged(whole: Run) -> None:
    facts, known = facts_of(whole), {label["id"] for step in (LABELS, REPAIR_LABELS) for label in whole.records(step).read()}
    made = {(one["task"], one["inserted"]): one for answer in whole.records(DRAWS).read() for one in answer["generations"]}
    repairs = [repair for record in whole.records(REPAIRS).read() for repair in record["repairs"]]
    assert repairs
    for repair in repairs:
        classes = facts[made[repair["task"], repair["text"]]["id"]]["classes"]
        assert isinstance(classes, dict)
        assert classes["kept"] == "counterfeit"
        assert len(repair["lines"]) == 6
        assert all(line is None or line["exact"] or line["text_id"] in known for line in repair["lines"])


def test_a_run_that_is_killed_is_resumed_to_the_same_bytes(whole: Run, tmp_path: Path) -> None:
    kill_once_begun(f"run_in(Path({str(tmp_path)!r}), workers=2)", __file__, tmp_path, "run/repairs.jsonl")
    assert files_of(run_in(tmp_path).folder) == files_of(whole.folder)
    before = files_of(tmp_path / "run")
    assert main(["eval", "report", str(tmp_path / "run")]) == 0
    assert files_of(tmp_path / "run") == before

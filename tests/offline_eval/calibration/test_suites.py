"""The calibration study on a project whose own tests judge: real code, real tests, in a real jail, with the embedded model."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from source_distribution import make_sdist
from study_runs import files_of
from sums_project import SOURCE, write_project

from assay.analysis.sandbox.isolation.best_level import best_level
from assay.calibration.samples import read_samples
from assay.inference.completion.task import Task
from assay.offline_eval.asked_line import ANSWERS
from assay.offline_eval.calibration.study import LABELS, Options, Set, ask, run_study
from assay.offline_eval.errors import RunError
from assay.offline_eval.model import model_of
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.run import Run
from assay.offline_eval.sets.lines import TASKS
from assay.offline_eval.sets.projects import Project
from assay.offline_eval.sets.suites import Finding, Suite, watched

pytest.importorskip("libcst", reason="libcst is not installed")

pytestmark = pytest.mark.usefixtures("isolated")


def suite_in(folder: Path) -> Suite:
    return Suite("shop", write_project(folder / "shop"), Path(sys.executable), best_level(), folder / "cache")


def run_in(folder: Path, name: Set = "suites") -> Run:
    """The study about the places or bugs of the shop."""
    tasks: tuple[Task, ...] = ("line",) if name == "bugs" else TASKS
    options = Options(
        folder / "run",
        set=name,
        tasks=tasks,
        arms=("docstring", "no_docstring"),
        pool=Pool(1),
        cache=folder / "archives",
        memory="file",
    )
    items = watched([suite_in(folder)], options.pool, Finding(4, 0, name == "bugs"), tasks)
    return ask(options, model_of(options.choice, TASKS, memory="file"), items)


@pytest.mark.slow
def test_places_are_where_tests_notice_the_loss_and_each_text_is_judged_once(tmp_path: Path) -> None:
    whole = run_in(tmp_path)
    items = [json.loads(line) for line in (whole.folder / "items.jsonl").read_text().splitlines()]
    assert items
    assert {item["function"] for item in items} <= {"total", "words"}
    labels = whole.records(LABELS).read()
    assert len({label["id"] for label in labels}) == len(labels)
    assert {label["tests_pass"] for label in labels} <= {True, False}
    answers = whole.records(ANSWERS).read()
    made = [one for answer in answers for one in answer["generations"]]
    assert {one.get("arm") for one in made} == {None, "no_docstring"}
    found = read_samples([whole.folder / "samples" / f"{task}.jsonl" for task in ("line", "line_rest")])
    assert found
    for sample in found:
        assert sample.labels["tests_pass"] in ((True,) if sample.labels["exact_match"] else (True, False))
    assert any(sample.labels["tests_pass"] is False for sample in found)
    ids = {path.name: {sample.id for sample in read_samples(path)} for path in (whole.folder / "samples").iterdir()}
    assert ids["line-no_docstring.jsonl"] & ids["line.jsonl"], "arms of a place have the same id"


@pytest.mark.slow
def test_a_bug_is_one_wrong_line_that_tests_notice_and_the_model_is_shown_the_file_without_the_line(tmp_path: Path) -> None:
    repairs = run_in(tmp_path, name="bugs")
    items = [json.loads(line) for line in (repairs.folder / "items.jsonl").read_text().splitlines()]
    assert len({item["line"] for item in items}) == len(items) == 4
    lines = SOURCE.splitlines(keepends=True)
    with suite_in(tmp_path).oracle() as oracle:
        for item in items:
            at = item["line"] - 1
            assert item["wrong"] != lines[at].rstrip("\n")
            assert oracle.verdict("shop/sums.py", "".join([*lines[:at], item["wrong"] + "\n", *lines[at + 1 :]])).label is False
            assert item["sha256"] == hashlib.sha256(SOURCE.encode()).hexdigest()
            start, end = item["gaps"]["line"]
            assert SOURCE[start:end] == lines[at].strip(), "all of the line is taken out, but where it begins"
    assert {path.name for path in (repairs.folder / "samples").iterdir()} == {"bugs.jsonl", "bugs-no_docstring.jsonl"}
    found = read_samples(repairs.folder / "samples" / "bugs.jsonl")
    assert found
    for sample in found:
        assert (sample.task, sample.project) == ("bugs", "shop")
        assert sample.labels["exact_match"] in (True, False)
        assert sample.labels["tests_pass"] in ((True,) if sample.labels["exact_match"] else (True, False))


@pytest.mark.slow
def test_a_project_that_was_left_out_when_a_run_began_stays_out_and_the_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    judged = suite_in(tmp_path)
    found = watched([judged], Pool(), Finding(1, 0), ("line",))
    projects = [replace(make_sdist(tmp_path / "archives", functions=1), name=name) for name in ("shop", "bad")]
    options = Options(tmp_path / "run", set="suites", tasks=("line",), per_project=1, projects=projects, memory="file")
    prepared_of = []

    def prepared(projects: Sequence[Project], *_: object) -> list[Suite]:
        prepared_of.append([project.name for project in projects])
        return [judged]

    monkeypatch.setattr("assay.offline_eval.on_suites.prepared", prepared)
    monkeypatch.setattr("assay.offline_eval.on_suites.watched", lambda *_, **__: found)
    before = files_of(run_study(options).folder)
    assert files_of(run_study(options).folder) == before
    assert prepared_of == [["shop", "bad"], ["shop"]]
    assert "left out when the run began: bad" in capsys.readouterr().err
    with pytest.raises(RunError, match="asked something else"):
        run_study(replace(options, seed=1))
    assert len(prepared_of) == 2, "nothing was run to find that out"


@pytest.mark.slow
def test_beside_an_older_release_only_lines_are_asked_for_that_it_does_not_have(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bad = replace(suite_in(tmp_path / "bad"), project="bad")
    (bad.folder / "tests" / "test_sums.py").unlink()
    found = watched([suite_in(tmp_path), bad], Pool(), Finding(4, 0), ("line",))
    assert set(found.suites) == {"shop"}
    assert "left out: bad: " in capsys.readouterr().err, "a suite that can't judge"
    everywhere = found.places
    kept = everywhere[0]
    (tmp_path / "older" / "shop").mkdir(parents=True)
    (tmp_path / "older" / "shop" / "sums.py").write_text(
        "".join(f"{line}\n" for number, line in enumerate(kept.text.splitlines(), 1) if number != kept.line)
    )
    newer = watched([suite_in(tmp_path)], Pool(), Finding(4, 0, older=tmp_path / "older"), ("line",)).places
    assert len(everywhere) > 1
    assert [place.id for place in newer] == [kept.id]

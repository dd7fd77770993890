"""Repairs of lines of a project whose own tests judge: real code, real tests, in a real jail, with the embedded model."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from source_distribution import make_sdist
from study_runs import files_of, isolation_here
from sums_project import write_project

from assay.calibration.samples import read_samples
from assay.cli.main import main
from assay.offline_eval.counterfeit.lines.label import LABELS
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.repairs.candidates import LOOPED, SEARCHED, best
from assay.offline_eval.repairs.lines.steps import BUGS, PROPOSED, with_lines_of
from assay.offline_eval.repairs.lines.study import Options, ask, attempts_of, faults_of
from assay.offline_eval.sets.suites import Finding, Suite, watched

TESTS = {"a.py": {1: {"t", "u"}, 2: {"t"}, 3: {"u"}}}


def test_the_failing_test_has_the_lines_that_it_runs_with_the_bug_and_others_keep_theirs() -> None:
    assert with_lines_of("t", TESTS, {"a.py": {1: {"t"}, 3: {"t"}}, "b.py": {7: {"t"}}}) == {
        "a.py": {1: {"t", "u"}, 2: frozenset(), 3: {"t", "u"}},
        "b.py": {7: {"t"}},
    }
    assert with_lines_of("t", TESTS, {}) == TESTS, "where it could not be watched"


def git(folder: Path, *arguments: str) -> None:
    name = [part for setting in ("user.name=me", "user.email=me@example.org") for part in ("-c", setting)]
    subprocess.run(["git", *name, *arguments], cwd=folder, check=True, capture_output=True, timeout=60)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_bugs_are_lines_as_they_were_before_a_commit_where_tests_notice_that(tmp_path: Path) -> None:
    isolation, folder = isolation_here(), write_project(tmp_path / "shop")
    history = write_project(tmp_path / "histories" / "shop")
    git(history, "init", "-q")
    right = (history / "shop" / "sums.py").read_text()
    for new, old in (
        ("result = start", "result = 0"),
        ('"read "', '"wrote "'),
        ("number in numbers:", "number in numbers :"),
        ("Add up", "Sum"),
    ):
        (history / "shop" / "sums.py").write_text(right.replace(new, old))
        git(history, "add", ".")
        git(history, "commit", "-q", "-m", "before")
        (history / "shop" / "sums.py").write_text(right)
        git(history, "commit", "-qam", "after")
    project = replace(make_sdist(tmp_path / "archives", functions=1), name="shop")
    suite = Suite("shop", folder, Path(sys.executable), isolation, tmp_path / "cache")
    options = Options(
        tmp_path / "run",
        projects=[project],
        pool=Pool(1),
        cache=tmp_path / "archives",
        memory="file",
        histories=history.parent,
        steps=("bug",),
    )
    items = watched([suite], options.pool, Finding(8, 0, histories=options.histories), ("line",))
    ((place, bug),) = [(place, place.bug) for place in items.places]
    assert bug is not None
    assert (bug[1], place.text.split("\n")[place.line - 1].strip()) == ("    result = 0", "result = start")
    run = ask(options, options.model(), items)
    assert run.question()["set"] == "commits"
    assert [(one["source"], one["kind"]) for each in run.records(BUGS).read() for one in each["bugs"]] == [("commit", bug[0])]


@pytest.mark.slow
def test_bugs_that_tests_notice_are_located_repaired_judged_and_reported(tmp_path: Path) -> None:
    isolation = isolation_here()
    project = replace(make_sdist(tmp_path / "archives", functions=1), name="shop")
    suite = Suite("shop", write_project(tmp_path / "shop"), Path(sys.executable), isolation, tmp_path / "cache")
    options = Options(tmp_path / "run", projects=[project], pool=Pool(1), cache=tmp_path / "archives", memory="file")
    run = ask(options, options.model(), watched([suite], options.pool, Finding(2, 0), ("line",)))
    bugs = [bug for record in run.records(BUGS).read() for bug in record["bugs"]]
    assert {bug["source"] for bug in bugs} >= {"rule"}
    assert all(bug["changed"] for bug in bugs)
    assert all(bug["kept"] > 0 for bug in bugs if bug["source"] == "model")
    assert all(any(fault.wrong) for fault in faults_of(run))
    labels = {record["id"] for record in run.records(LABELS).read()}
    proposed = [record for record in run.records(PROPOSED).read() if not record["id"].endswith("control")]
    assert {each["text_id"] for record in proposed for each in best(record["candidates"]) if not each["exact"]} <= labels
    for step in (SEARCHED, LOOPED):
        assert {record["id"] for record in run.records(step).read()} == {record["id"] for record in proposed}
    assert {attempt.source for attempt in attempts_of(run)} >= {"rule", "control"}
    found = {path.stem: read_samples(path) for path in (run.folder / "samples").iterdir()}
    assert found.keys() == {"repair", "repair-control", "fault"}
    assert {sample.alternatives for sample in found["repair"]} == {8}
    assert all(sample.labels["exact_match"] is False for sample in found["repair-control"])
    assert any(sample.labels["exact_match"] for sample in found["fault"])
    before = files_of(run.folder)
    assert main(["eval", "report", str(run.folder)]) == 0
    assert files_of(run.folder) == before

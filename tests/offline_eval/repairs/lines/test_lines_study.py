"""Repairs of lines of a project whose own tests judge: real code, real tests, in a real jail, with the embedded model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from source_distribution import make_sdist
from study_runs import isolation_here
from sums_project import write_project

from assay.calibration.samples import read_samples
from assay.cli.main import main
from assay.offline_eval.counterfeit.lines.label import LABELS
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.repairs.candidates import LOOPED
from assay.offline_eval.repairs.lines.steps import BUGS, PROPOSED, with_lines_of
from assay.offline_eval.repairs.lines.study import Options, ask, attempts_of, faults_of
from assay.offline_eval.run import Run
from assay.offline_eval.sets.suites import Finding, Suite, watched

TESTS = {"a.py": {1: {"t", "u"}, 2: {"t"}, 3: {"u"}}}


def test_the_failing_test_has_the_lines_that_it_runs_with_the_bug_and_others_keep_theirs() -> None:
    assert with_lines_of("t", TESTS, {"a.py": {1: {"t"}, 3: {"t"}}, "b.py": {7: {"t"}}}) == {
        "a.py": {1: {"t", "u"}, 2: frozenset(), 3: {"t", "u"}},
        "b.py": {7: {"t"}},
    }


def test_where_it_could_not_be_watched_its_lines_are_those_without_the_bug() -> None:
    assert with_lines_of("t", TESTS, {}) == TESTS


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    isolation = isolation_here()
    folder = tmp_path_factory.mktemp("repairs")
    project = replace(make_sdist(folder / "archives", functions=1), name="shop")
    suite = Suite("shop", write_project(folder / "shop"), Path(sys.executable), isolation, folder / "cache")
    options = Options(folder / "run", projects=[project], pool=Pool(1), cache=folder / "archives", memory="file")
    return ask(options, options.model(), watched([suite], options.pool, Finding(2, 0), ("line",)))


@pytest.mark.slow
def test_each_bug_is_one_that_tests_notice_and_the_lines_they_run_hold_it(run: Run) -> None:
    bugs = [bug for record in run.records(BUGS).read() for bug in record["bugs"]]
    assert {bug["source"] for bug in bugs} >= {"rule"}
    assert all(bug["changed"] for bug in bugs)
    assert all(bug["kept"] > 0 for bug in bugs if bug["source"] == "model")
    assert all(any(fault.wrong) for fault in faults_of(run))


@pytest.mark.slow
def test_the_right_text_is_told_by_itself_and_all_others_by_tests(run: Run) -> None:
    labels = {record["id"] for record in run.records(LABELS).read()}
    bugs = [record for record in run.records(PROPOSED).read() if not record["id"].endswith("control")]
    wrong = {each["text_id"] for record in bugs for each in record["candidates"] if not each["exact"]}
    assert wrong <= labels
    assert {record["id"] for record in run.records(LOOPED).read()} == {record["id"] for record in bugs}
    assert {attempt.source for attempt in attempts_of(run)} >= {"rule", "control"}


@pytest.mark.slow
def test_samples_are_of_bugs_of_right_lines_and_of_suspected_lines_each_in_a_file(run: Run) -> None:
    found = {path.stem: read_samples(path) for path in (run.folder / "samples").iterdir()}
    assert found.keys() == {"repair", "repair-control", "fault"}
    assert {sample.alternatives for sample in found["repair"]} == {8}
    assert all(sample.labels["exact_match"] is False for sample in found["repair-control"])
    assert any(sample.labels["exact_match"] for sample in found["fault"])


@pytest.mark.slow
def test_the_report_is_made_again_from_the_run_alone(run: Run) -> None:
    report = run.folder / "report" / "report.md"
    before = report.read_bytes()
    report.unlink()
    assert main(["eval", "report", str(run.folder)]) == 0
    assert report.read_bytes() == before

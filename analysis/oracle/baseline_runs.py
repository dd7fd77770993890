"""Run a whole suite in the jail for its baseline and its coverage."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import PurePosixPath

from .baseline import Baseline, Coverage, baseline_of, coverage_of, no_baseline
from .copying import ProjectCopy
from .jailed.assay_oracle.files import is_test_file
from .report import Report
from .sources import NotJudged, source_of
from .suite import Suite, Times

# Tests that end or hang the whole run are left out one by one. A suite with more of them can't be relied on.
_MAX_FATAL_TESTS = 5
# How many runs are repeated that the sandbox, or a kill from outside, has ended.
_MAX_FAILED_RUNS = 2
_SEED = 7
_MIN_WATCHED_S, _WATCHED_FACTOR = 120.0, 60.0


def run_baseline(suite: Suite, runs: int, *, some_pass: bool = True) -> Baseline:
    """Run the whole suite several times, every third time in a random order, and compare the outcomes.

    A test in which the process dies or hangs is left out, and the runs start over. some_pass: as in `baseline_of`.
    """
    notes: list[str] = []
    fatal: dict[str, str] = {}
    reports: list[Report] = []
    walls: list[float] = []
    failures = 0
    while len(reports) < runs:
        begun = time.monotonic()
        seed = _SEED if len(reports) % 3 == 2 else None
        report, ended, ran = suite.run(seed=seed, without=list(fatal))
        hangs_early = ran.ending == "timed_out" and report.collected is None
        if failures < _MAX_FAILED_RUNS and (ended.infrastructure or (ended.doubtful and report.running is None and not hangs_early)):
            failures += 1
            continue
        if ended.infrastructure:
            return no_baseline(ended.why, infrastructure=True)
        if report.collected is None and ended.by_itself and not suite.ignore_options:
            suite = replace(suite, ignore_options=True)
            notes.append(f"run without the project's own pytest options: {ended.why}")
        elif ran.ending == "timed_out" and _took(report) > ran.wall_s / 2:
            return no_baseline(f"the suite takes too long: {ended.why}", notes=notes)
        elif report.running is not None and len(fatal) < _MAX_FATAL_TESTS:
            fatal[report.running] = f"it ends the process with status {ran.status}" if ended.by_itself else ended.why
            reports, walls = [], []
        elif hangs_early:
            return no_baseline(f"collecting the tests does not come to its end: {ended.why}", notes=notes)
        elif not report.ended and report.collected is None:
            return no_baseline(f"pytest does not collect the tests: {ended.why or 'it stops early'}", notes=notes)
        elif not report.ended:
            return no_baseline(f"the suite does not come to its end: {ended.why or report.running or 'it stops early'}", notes=notes)
        elif set(report.canaries) - {"failed", "error"} or len(report.canaries) != 2:
            return no_baseline("tests that must fail do not: results of this suite can't be relied on", notes=notes)
        else:
            reports.append(report)
            walls.append(time.monotonic() - begun)
    baseline = baseline_of(reports, walls, notes, some_pass=some_pass)
    return replace(baseline, flaky=baseline.flaky | fatal, ignores_options=suite.ignore_options)


def _took(report: Report) -> float:
    """The clock seconds of the tests that came to their end: little, where one test took all the time."""
    return sum(test.wall_s for test in report.tests.values())


def run_coverage(suite: Suite, baseline: Baseline) -> Coverage:
    """Run the stable tests once, in order, and record which lines each runs."""
    if baseline.trouble:
        return Coverage({}, {}, frozenset(), trouble=baseline.trouble, infrastructure=baseline.infrastructure)
    tests = list(baseline.outcomes)
    report, ended, _ = _with_time_to_watch(suite, baseline, tests).run(select=tests, watch=True, whole=True)
    if not report.ended:
        why = ended.why or "it stops early"
        if suite.interpreter.python < (3, 12):
            why += "; Python 3.12 and newer watch lines at little cost"
        trouble = f"the suite does not come to its end when its lines are watched: {why}"
        return Coverage({}, {}, frozenset(), trouble=trouble, infrastructure=ended.infrastructure)
    return coverage_of(report, baseline.outcomes, line_counts(suite.copied))


def run_lines(suite: Suite, baseline: Baseline, test: str) -> Coverage:
    """Run one stable test and record which lines it runs in the project as it is now; none where it does not come to its end."""
    report, _, _ = _with_time_to_watch(suite, baseline, [test]).run(select=[test], watch=True)
    # Else only the lines of its fixtures are known.
    return coverage_of(report, {test: baseline.outcomes[test]} if test in report.tests else {}, line_counts(suite.copied))


def line_counts(copied: ProjectCopy) -> Callable[[str], int]:
    """How many lines a file has that can be judged: 0 for what is no Python file that was copied, or is a test.

    Records of the jail name files. The project's code shares the process that writes them, and can name any.
    """

    @cache
    def count(file: str) -> int:
        if file not in copied.files or PurePosixPath(file).suffix != ".py" or is_test_file(file):
            return 0
        try:
            return source_of(copied.folder, file).count("\n") + 1
        except NotJudged:
            return 0

    return count


def _with_time_to_watch(suite: Suite, baseline: Baseline, tests: Sequence[str]) -> Suite:
    """The suite with limits for a watched run of some tests: tracing each line takes tens of times as long."""
    allowed, times = suite.allowed, times_of(baseline)
    cpu_s = _MIN_WATCHED_S + _WATCHED_FACTOR * (times.start_cpu_s + sum(times.cpu_s[test] for test in tests))
    wall_s = _MIN_WATCHED_S + _WATCHED_FACTOR * (times.start_wall_s + sum(times.wall_s[test] for test in tests))
    bounded = replace(allowed, suite_cpu_s=min(allowed.suite_cpu_s, cpu_s), suite_wall_s=min(allowed.suite_wall_s, 2 * wall_s))
    return replace(suite, allowed=bounded)


def times_of(baseline: Baseline) -> Times:
    """The times of a baseline: of starting the suite, and of each test."""
    return Times(baseline.start_cpu_s, baseline.start_wall_s, baseline.cpu_s, baseline.wall_s)

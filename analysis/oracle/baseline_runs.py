"""Run a whole suite in the jail for its baseline and its coverage."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import PurePosixPath

from .baseline import Baseline, Coverage, baseline_of, coverage_of, no_baseline, without_steady_outcome
from .copying import ProjectCopy
from .jailed.assay_oracle.files import is_test_file
from .report import ProcessEnd, Report
from .sources import NotJudged, source_of
from .suite import Suite

# Tests that end or hang the whole run are left out one by one. A suite with more of them can't be relied on.
_MAX_FATAL_TESTS = 5
# How many runs are repeated that the sandbox, or a kill from outside, has ended.
_MAX_FAILED_RUNS = 2
# All runs of a baseline together may take as long as `runs` of them plus this many: each test that hangs takes the time of one.
_SPARE_RUNS = 2
# Behind a test that waits for ever there are often more of its kind: each next run may take half as long, but not less than this.
_MIN_HALVED_S = 15.0
_SEED = 7
_MIN_WATCHED_S, _WATCHED_FACTOR = 120.0, 60.0


def run_baseline(suite: Suite, runs: int, *, some_pass: bool = True, tell: Callable[[str], None] = lambda _: None) -> Baseline:
    """Run the whole suite several times, every third time in a random order, and compare the outcomes.

    A test in which the process dies or hangs is left out of the next runs, and of those that it came through. some_pass: as in
    `baseline_of`. tell: is told of each such test.
    """
    notes: list[str] = []
    fatal: dict[str, str] = {}
    reports: list[Report] = []
    walls: list[float] = []
    failures, whole_s = 0, suite.allowed.wall_s
    limit_s, until = whole_s, time.monotonic() + (runs + _SPARE_RUNS) * whole_s
    while len(reports) < runs:
        begun = time.monotonic()
        if begun >= until:
            return no_baseline(
                f"{len(reports)} of {runs} runs of the suite came to their end in time{_named(fatal)}", flaky=fatal, notes=notes
            )
        seed = _SEED if len(reports) % 3 == 2 else None
        bounded = replace(suite, allowed=replace(suite.allowed, wall_s=min(limit_s, until - begun)))
        report, ended, ran = bounded.run(seed=seed, without=list(fatal))
        hangs_early = ran.ending == "timed_out" and report.collected is None
        if failures < _MAX_FAILED_RUNS and (ended.infrastructure or (ended.doubtful and report.running is None and not hangs_early)):
            failures += 1
            continue
        if ended.infrastructure:
            return no_baseline(ended.why, infrastructure=True)
        # one test may have taken all the time, and has not come to its end
        takes_long = sum(test.wall_s for test in report.tests.values()) > ran.wall_s / 2
        if ran.ending == "timed_out" and limit_s < whole_s and (takes_long or not ended.doubtful or report.running is None):
            limit_s = whole_s  # it does something: half of the time was too little
        elif report.collected is None and ended.by_itself and not suite.ignore_options:
            suite = replace(suite, ignore_options=True)
            notes.append(f"run without the project's own pytest options: {ended.why}")
        elif ran.ending == "timed_out" and takes_long:
            return no_baseline(f"the suite takes too long: {ended.why}", notes=notes)
        elif report.running is not None and len(fatal) < _MAX_FATAL_TESTS:
            fatal[report.running] = f"it ends the process with status {ran.status}" if ended.by_itself else ended.why
            tell(without_steady_outcome(report.running, fatal[report.running]))
            hangs = [each.tests.get(report.running) for each in reports]
            walls = [max(0.0, wall - (test.wall_s if test else 0.0)) for wall, test in zip(walls, hangs, strict=True)]
            reports = [_without(each, report.running) for each in reports]
            limit_s = max(limit_s / 2, min(_MIN_HALVED_S, limit_s)) if ended.doubtful else limit_s
        elif why := _no_result(report, ended, hangs_early):
            return no_baseline(why + _named(fatal), flaky=fatal, notes=notes)
        else:
            reports.append(report)
            walls.append(time.monotonic() - begun)
    baseline = baseline_of(reports, walls, notes, some_pass=some_pass)
    if baseline.trouble:
        baseline = replace(baseline, trouble=baseline.trouble + _named(fatal))
    return replace(baseline, flaky=baseline.flaky | fatal, ignores_options=suite.ignore_options)


def _no_result(report: Report, ended: ProcessEnd, hangs_early: bool) -> str:
    """Why nothing can be concluded from a run; empty where it came to its end."""
    if hangs_early:
        return f"collecting the tests does not come to its end: {ended.why}"
    if report.flood:
        return f"the suite can't be judged: {report.flood}"
    if not report.ended and report.collected is None:
        return f"pytest does not collect the tests: {ended.why or 'it stops early'}"
    if not report.ended:
        return f"the suite does not come to its end: {ended.why or report.running or 'it stops early'}"
    if set(report.canaries) - {"failed", "error"} or len(report.canaries) != 2:
        return "tests that must fail do not: results of this suite can't be relied on"
    return ""


def _named(fatal: Mapping[str, str]) -> str:
    """What is said behind a trouble of the tests that were left out."""
    return "; left out were " + ", ".join(f"{test} ({why})" for test, why in fatal.items()) if fatal else ""


def _without(report: Report, test: str) -> Report:
    """A whole run as if a test that came through it had not been there."""
    own = report.tests.get(test)
    tests = {each: run for each, run in report.tests.items() if each != test}
    return replace(report, tests=tests, cpu_s=max(0.0, report.cpu_s - (own.cpu_s if own else 0.0)))


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
    allowed = suite.allowed
    cpu_s = _MIN_WATCHED_S + _WATCHED_FACTOR * (baseline.start_cpu_s + sum(baseline.cpu_s[test] for test in tests))
    wall_s = _MIN_WATCHED_S + _WATCHED_FACTOR * (baseline.start_wall_s + sum(baseline.wall_s[test] for test in tests))
    return replace(suite, allowed=replace(allowed, cpu_s=min(allowed.cpu_s, cpu_s), wall_s=min(allowed.wall_s, 2 * wall_s)))

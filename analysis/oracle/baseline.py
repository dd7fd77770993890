"""What a test suite says of the unchanged project: outcomes, flaky tests, and the lines that each test runs. Starts nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from .copying import MAX_NAMED
from .report import Report, TestOutcome, differing_outcomes

NO_TESTS = "there are no tests"
UNSTEADY = "have not the same outcome in each of"
# With more flaky tests than this, the others may have been steady only by luck.
MAX_FLAKY_SHARE = 0.1
# A test may take CPU_FACTOR times its CPU time of the baseline, plus MIN_CPU_S, since short times are measured badly.
CPU_FACTOR, MIN_CPU_S = 5.0, 2.0
# A fixture that several tests share is paid for by the first of them that runs.
MAX_SHARED_S = 10.0
# The clock limit is generous: it is there only to end what waits for ever.
WALL_FACTOR, MIN_WALL_S = 10.0, 30.0


@dataclass(frozen=True, slots=True)
class Baseline:
    """What several runs of the suite agree on.

    outcomes: of the tests that had the same outcome in each run, by id, in the order of the suite.
    cpu_s, wall_s: seconds of each of these tests.
    flaky: the tests that had several outcomes, by id, with all of them; they are never run again.
    broken: files that can't be collected, with the reason.
    trouble: why nothing can be concluded from this suite; empty where something can.
    notes: what else a person should know.
    start_cpu_s, start_wall_s: seconds of starting and collecting.
    runs: how many runs there were.
    ignores_options: whether they were made without the project's own `addopts`.
    infrastructure: whether the trouble is a failure of the sandbox, so that another attempt may succeed.
    """

    outcomes: dict[str, TestOutcome]
    cpu_s: dict[str, float]
    wall_s: dict[str, float]
    flaky: dict[str, str] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)
    trouble: str = ""
    notes: tuple[str, ...] = ()
    start_cpu_s: float = 0.0
    start_wall_s: float = 0.0
    runs: int = 0
    ignores_options: bool = False
    infrastructure: bool = False

    def allowance(self, tests: Sequence[str]) -> dict[str, float]:
        """The CPU seconds that each test may take."""
        shared = min(MAX_SHARED_S, max(self.cpu_s.values(), default=0.0))
        return {test: MIN_CPU_S + shared + CPU_FACTOR * self.cpu_s.get(test, 0.0) for test in tests}

    def bounds(self, tests: Sequence[str]) -> tuple[float, float]:
        """The CPU and clock seconds that a run of these tests may take, its start included."""
        cpu = self.start_cpu_s + sum(self.cpu_s.get(test, 0.0) for test in tests)
        wall = self.start_wall_s + sum(self.wall_s.get(test, 0.0) for test in tests)
        return MIN_CPU_S + MAX_SHARED_S + CPU_FACTOR * cpu, MIN_WALL_S + WALL_FACTOR * wall

    def not_run(self) -> Iterator[str]:
        """The files and tests that are not run, each with the reason, in sentences for people."""
        for file, why in list(self.broken.items())[:MAX_NAMED]:
            yield f"{file} can't be collected, so its tests are not run: {why}"
        if len(self.broken) > MAX_NAMED:
            yield f"{len(self.broken) - MAX_NAMED:,} more files can't be collected"
        for test, why in list(self.flaky.items())[:MAX_NAMED]:
            yield without_steady_outcome(test, why)
        if len(self.flaky) > MAX_NAMED:
            yield f"{len(self.flaky) - MAX_NAMED:,} more tests are left out"

    @property
    def uncollected(self) -> str:
        """Which files can't be collected, with the error of the first, in a sentence for people; empty where all can."""
        if not self.broken:
            return ""
        (file, why), *others = self.broken.items()
        more = f" (nor {len(others)} more)" if others else ""
        return f"{file or 'the tests'} can't be collected{more}: {why}"


def without_steady_outcome(test: str, why: str) -> str:
    """Says that a test is left out; why: its outcomes, or how it ends a run."""
    return f"{test} is left out, since it has no steady outcome ({why})"


def no_baseline(
    trouble: str,
    *,
    flaky: Mapping[str, str] | None = None,
    broken: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    infrastructure: bool = False,
) -> Baseline:
    """A baseline from which nothing can be concluded, for the reason `trouble`."""
    return Baseline({}, {}, {}, dict(flaky or {}), dict(broken or {}), trouble, tuple(notes), infrastructure=infrastructure)


def baseline_of(reports: Sequence[Report], wall_s: Sequence[float], notes: Sequence[str] = (), *, some_pass: bool = True) -> Baseline:
    """Make the baseline from complete runs of the whole suite.

    wall_s: clock seconds of each run. some_pass: nothing is concluded from a suite of which no test passes.
    """
    broken = reports[0].errors
    if any(report.errors.keys() != broken.keys() for report in reports):
        names = sorted({name for report in reports for name in report.errors})
        return no_baseline(f"collecting the tests fails now and then: {', '.join(names)}", broken=broken, notes=notes)
    flaky = differing_outcomes(report.outcomes for report in reports)
    tests = [test for test in reports[0].tests if test not in flaky]
    count = len(tests) + len(flaky)
    if not count:
        first = next(iter(broken.items()), None)
        return no_baseline(f"no test can be collected: {first[0]}: {first[1]}" if first else NO_TESTS, broken=broken, notes=notes)
    if len(flaky) > MAX_FLAKY_SHARE * count:
        return no_baseline(
            f"{len(flaky)} of {count} tests {UNSTEADY} {len(reports)} runs",
            flaky=flaky,
            broken=broken,
            notes=notes,
        )
    outcomes: dict[str, TestOutcome] = {test: reports[0].tests[test].outcome for test in tests}
    if some_pass and not any(outcome == "passed" for outcome in outcomes.values()):
        failing = next((test for test in tests if outcomes[test] in ("failed", "error")), None)
        why = f"; of {failing} pytest says: {reports[0].tests[failing].why or outcomes[failing]}" if failing else ""
        return no_baseline(f"none of {count} tests passes{why}", broken=broken, notes=notes)
    starts = [report.cpu_s - sum(run.cpu_s for run in report.tests.values()) for report in reports]
    told = [sum(run.wall_s for run in report.tests.values()) for report in reports]
    waits = [wall - seconds for wall, seconds in zip(wall_s, told, strict=True)]
    # Later runs may take as long as these times allow: tests that say more than the clock did don't count for more.
    shares = [min(1.0, wall / seconds) if seconds else 1.0 for wall, seconds in zip(wall_s, told, strict=True)]
    return Baseline(
        outcomes,
        {test: median(report.tests[test].cpu_s for report in reports) for test in tests},
        {test: median(report.tests[test].wall_s * share for report, share in zip(reports, shares, strict=True)) for test in tests},
        flaky,
        dict(broken),
        notes=tuple(notes),
        start_cpu_s=max(0.0, median(starts)),
        start_wall_s=max(0.0, median(waits)),
        runs=len(reports),
    )


@dataclass(frozen=True, slots=True)
class Coverage:
    """Which tests run which lines.

    tests: the tests that run a line, by file and line.
    imported: the lines of each file that run when something is imported.
    fresh: tests not all of whose lines are seen, because they start processes, import the project again, trace lines themselves, or have
        another outcome when watched.
    modules: the files that hold tests, which are in neither `tests` nor `imported`.
    trouble: why nothing is known; empty where something is.
    infrastructure: whether that is a failure of the sandbox, so that another attempt may succeed.
    """

    tests: dict[str, dict[int, frozenset[str]]]
    imported: dict[str, frozenset[int]]
    fresh: frozenset[str]
    modules: frozenset[str] = frozenset()
    trouble: str = ""
    infrastructure: bool = False

    def touching(self, file: str, lines: Iterable[int]) -> frozenset[str]:
        """The tests that run one of these lines of a file."""
        by_line = self.tests.get(file, {})
        return frozenset().union(*(by_line.get(line, frozenset()) for line in lines))


def coverage_of(report: Report, stable: Mapping[str, TestOutcome], lines_in: Callable[[str], int]) -> Coverage:
    """Make the coverage from a watched run.

    stable: the tests and their outcomes in the baseline. lines_in: how many lines a file has; of others than these nothing is kept.

    The lines that a fixture of a wider scope ran count for all tests in that scope; where the fixture is fresh, so are these tests. A test
    with another outcome than in the baseline, or none, is fresh: unwatched it runs other lines.
    """
    touched: dict[str, dict[int, set[str]]] = {}

    def known(lines: Mapping[str, Iterable[int]]) -> dict[str, list[int]]:
        return {file: [line for line in numbers if 1 <= line <= lines_in(file)] for file, numbers in lines.items() if lines_in(file)}

    def add(tests: Sequence[str], lines: Mapping[str, Iterable[int]]) -> None:
        for file, numbers in known(lines).items():
            by_line = touched.setdefault(file, {})
            for number in numbers:
                by_line.setdefault(number, set()).update(tests)

    for test in stable:
        if test in report.tests:
            add([test], report.tests[test].lines)
    unseen: set[str] = set()
    for fixture in report.touched:
        inside = [test for test in stable if _is_within(test, fixture.scope)]
        add(inside, fixture.lines)
        unseen.update(inside if fixture.fresh else ())
    # the same set of tests for many lines is kept once
    kept: dict[frozenset[str], frozenset[str]] = {}
    tests = {
        file: {line: kept.setdefault(found, found) for line in sorted(by_line) if (found := frozenset(by_line[line]))}
        for file, by_line in touched.items()
        if file not in report.modules
    }
    imported = {file: frozenset(lines) for file, lines in known(report.imported).items() if file not in report.modules}
    seen = report.tests
    unseen.update(test for test, outcome in stable.items() if test not in seen or seen[test].fresh or seen[test].outcome != outcome)
    return Coverage(tests, imported, frozenset(unseen), report.modules)


def _is_within(test: str, scope: str) -> bool:
    return scope in ("", ".", test) or test.startswith((f"{scope}::", f"{scope}/"))

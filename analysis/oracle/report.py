"""The report of a test run, and the verdict on changed code that follows from it. Starts no process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .records import (
    Begun,
    Broke,
    Canary,
    Collected,
    Ended,
    FixtureLines,
    Imported,
    ObservedTest,
    Record,
    RecordReader,
    TooManyRecords,
)
from .records import TestOutcome as TestOutcome

Way = Literal["none", "process", "whole"]
NOT_STEADY = "but without the change, too, the tests do not have their outcomes again"
NOT_AGAIN = "it does not pass again in a fresh process"


@dataclass(slots=True)
class Report:
    """What the records of one run say; jailed/assay_oracle/plugin.py describes them.

    asked: the tests that were to be run, by default all that are collected; without: those of them that were not. What is told of others
    is not kept.
    running: the test that had begun and not ended. modules: the files that test functions were collected from. flood: what there is too
    much of, where not all records were read.
    """

    tests: dict[str, ObservedTest] = field(default_factory=dict)
    canaries: list[TestOutcome] = field(default_factory=list)
    collected: tuple[str, ...] | None = None
    errors: dict[str, str] = field(default_factory=dict)
    modules: frozenset[str] = frozenset()
    touched: list[FixtureLines] = field(default_factory=list)
    imported: dict[str, set[int]] = field(default_factory=dict)
    running: str | None = None
    ended: bool = False
    cpu_s: float = 0.0
    broke: str | None = None
    flood: str = ""
    asked: frozenset[str] | None = None
    without: frozenset[str] = frozenset()

    def take(self, record: Record) -> None:
        """Add a record."""
        match record:
            case Begun(id=test) | ObservedTest(id=test) if test not in (self.asked or ()):
                return
            case Begun(id=test):
                self.running = test
            case ObservedTest(id=test):
                self.tests[test] = record
                self.running = None
            case Canary(outcome=outcome):
                self.canaries.append(outcome)
                self.running = None
            case Collected() if self.collected is None:
                self.collected, self.modules, self.errors = tuple(record.ids), frozenset(record.modules), record.errors
                self.asked = frozenset(record.ids) - self.without if self.asked is None else self.asked
            case FixtureLines():
                self.touched.append(record)
            case Imported(lines=lines):
                self.imported = lines
            case Ended(cpu_s=seconds):
                self.ended, self.cpu_s = self.broke is None, seconds
            case Broke(reason=reason):
                self.broke = reason

    @property
    def outcomes(self) -> dict[str, TestOutcome]:
        """Outcome by test id."""
        return {test: run.outcome for test, run in self.tests.items()}


def read_report(output: bytes, nonce: bytes, *, watched: bool, asked: Iterable[str] | None = None, without: Iterable[str] = ()) -> Report:
    """The report in a run's standard output.

    watched: whether the plugin was asked for lines; else none that it tells are kept. asked, without: as in `Report`.
    """
    report = Report(asked=None if asked is None else frozenset(asked), without=frozenset(without))
    try:
        for record in RecordReader(nonce).read(output):
            if not watched and isinstance(record, ObservedTest | FixtureLines | Imported):
                record.lines = {}
            report.take(record)
    except TooManyRecords as error:
        report.flood, report.ended = str(error), False
    return report


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How the process of a run ended.

    why: the reason in words, where it did not end by itself. infrastructure: the sandbox failed, which says nothing about the program.
    doubtful: it waited too long or was killed; either the program or the machine may be the cause.
    """

    by_itself: bool
    why: str = ""
    infrastructure: bool = False
    doubtful: bool = False


def difference(report: Report, ended: ProcessEnd, expected: Mapping[str, str], tests: Sequence[str]) -> str | None:
    """The first difference of a run from the baseline, in one line; None where each of `tests` has its expected outcome."""
    if tampering := tampering_in(report):
        return tampering
    for test, run in report.tests.items():
        if run.outcome != expected.get(test, run.outcome):
            return f"{test}: {run.outcome}, was {expected[test]}"
    if report.running is not None:
        return f"{report.running}: {ended.why or 'the process ended in the middle of it'}"
    if missing := [test for test in tests if test not in report.tests]:
        why = ended.why or next(iter(report.errors.values()), "") or ("no longer collected" if report.ended else "the run ended early")
        return f"{missing[0]}: not run ({why})" + (f", and {len(missing) - 1} more" if missing[1:] else "")
    if not report.ended:
        return ended.why or "the run did not come to its end"
    return tampering_in(report, whole=True)


def tampering_in(report: Report, *, whole: bool = False) -> str | None:
    """What says that a run was tampered with, or None. whole: it came to its end."""
    if any(outcome in ("passed", "skipped", "xfailed", "xpassed") for outcome in report.canaries):
        return "a test that must fail did not: the run was tampered with"
    if whole and len(report.canaries) != 2:
        return "the tests that must fail were not all run: the run was tampered with"
    return None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the tests say of a changed text.

    label: True where each test has its outcome of the baseline; False where one has not; None where that is unknown.
    reason: the first test with another outcome, or why the label is unknown.
    tests: how many tests ran.
    seconds: clock seconds of the run, without control runs, which later verdicts share.
    way: how the tests were run.
    infrastructure: the label is None because the machine failed (sandbox, disk, a kill from outside), so another attempt may succeed.
    """

    label: bool | None
    reason: str
    tests: int
    seconds: float
    way: Way
    infrastructure: bool = False


def differing_outcomes(runs: Iterable[Mapping[str, TestOutcome]]) -> dict[str, str]:
    """The tests whose outcomes differ between runs, with all their outcomes in the order of the runs."""
    runs = list(runs)
    tests = dict.fromkeys(test for run in runs for test in run)
    # A test that a run says is missing differs from one that the run says nothing of.
    told = {test: [run.get(test) for run in runs] for test in tests}
    return {test: ", ".join(outcome or "missing" for outcome in outcomes) for test, outcomes in told.items() if len(set(outcomes)) > 1}

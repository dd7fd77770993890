"""The report of a test run, by the records of the plugin in the jail, and the verdict on changed code that follows. Starts no process.

The project's code shares the plugin's process (jailed/assay_oracle/plugin.py), so the records are checked. Names of files in them are no
paths to be opened: `baseline.coverage_of` keeps those of files that were copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

import msgspec

from .jailed.assay_oracle.channel import printable

TestOutcome = Literal["passed", "skipped", "xfailed", "xpassed", "failed", "error", "missing"]
# A line of records that is longer is none: the coverage of a large suite's imports has a few MiB.
MAX_RECORD_BYTES = 1 << 24
# Names and other texts, each in two quotes, in one line and in all lines of a run; and the lines themselves. A suite of 100,000 tests has
# 200,000 records, and its first names all tests.
_MAX_QUOTES, _MAX_ALL_QUOTES, _MAX_RECORDS = 1 << 19, 1 << 23, 1 << 18
# Of what is said to people.
_MAX_TEXT = 1000

_Seconds = Annotated[float, msgspec.Meta(ge=0, le=1e6)]
# As sets: a line that is told a million times is kept once.
_Lines = dict[str, set[Annotated[int, msgspec.Meta(ge=0, le=1 << 31)]]]


class _Record(msgspec.Struct, tag_field="kind", tag=str.lower):
    """Of the kind that its class is named after."""


def _check_names(*names: str) -> None:
    """The plugin makes the ids of tests printable: others would write lines of their own where they are shown. Raises ValueError."""
    if not all(map(str.isprintable, names)):
        raise ValueError("an id that can't be printed")


def _text(said: str) -> str:
    return printable(said[:_MAX_TEXT])


class Begun(_Record):
    """A test begins."""

    id: str

    def __post_init__(self) -> None:
        _check_names(self.id)


class ObservedTest(_Record, tag="test"):
    """A test has ended.

    lines: those that it ran, by file. fresh: it may have run more; see jailed/assay_oracle/plugin.py. why: the error, where it failed.
    crashed: whether that came out of the project's code.
    """

    id: str
    outcome: TestOutcome
    cpu_s: _Seconds
    wall_s: _Seconds
    lines: _Lines = {}
    fresh: bool = False
    why: str = ""
    crashed: bool = False

    def __post_init__(self) -> None:
        _check_names(self.id)
        self.why = _text(self.why)


class Canary(_Record):
    """A test that must fail has ended."""

    outcome: TestOutcome


class Collected(_Record):
    """The tests that there are, and files that can't be collected."""

    ids: list[str]
    modules: list[str]
    errors: dict[str, str]

    def __post_init__(self) -> None:
        _check_names(*self.ids, *self.errors)
        self.errors = {node: _text(why) for node, why in self.errors.items()}


class FixtureLines(_Record, tag="touched"):
    """The lines that a fixture ran while it was set up for all tests in a scope (the id of a folder, file or class)."""

    scope: str
    lines: _Lines
    fresh: bool


class Imported(_Record):
    """The lines that ran while something was imported."""

    lines: _Lines


class Ended(_Record):
    """The run came to its end."""

    cpu_s: _Seconds


class Broke(_Record):
    """Pytest itself failed; it says why, to people."""

    reason: str

    def __post_init__(self) -> None:
        self.reason = _text(self.reason)


Record = Begun | ObservedTest | Canary | Collected | FixtureLines | Imported | Ended | Broke
_decoder = msgspec.json.Decoder(Record)


class TooManyRecords(Exception):
    """A run says far more than tests do; the message says what. Nothing is concluded from what it said."""


@dataclass(slots=True)
class RecordReader:
    """Reads the records of one run, which begin with its nonce. What else is written costs no more than to look for that."""

    nonce: bytes
    _records: int = 0
    _quotes: int = 0

    def read(self, lines: bytes) -> Iterator[Record]:
        """The records in whole lines of output. Raises TooManyRecords."""
        end = 0
        while (begin := lines.find(self.nonce, end)) >= 0:
            end = lines.find(b"\n", begin)
            end = len(lines) if end < 0 else end
            if begin and lines[begin - 1 : begin] != b"\n":
                continue
            self._records += 1
            self._quotes += lines.count(b'"', begin, end)
            if self._records > _MAX_RECORDS:
                raise TooManyRecords(f"it wrote more than {_MAX_RECORDS:,} records of its tests")
            if self._quotes > _MAX_ALL_QUOTES:
                raise TooManyRecords(f"it wrote more than {_MAX_ALL_QUOTES // 2:,} names into the records of its tests")
            if (record := parse_record(lines[begin:end], self.nonce)) is not None:
                yield record


def parse_record(line: bytes, nonce: bytes) -> Record | None:
    """The record in a line of output; None for a line without one, or with one that the plugin does not write."""
    if not line.startswith(nonce) or len(line) > MAX_RECORD_BYTES or line.count(b'"') > _MAX_QUOTES:
        return None
    try:
        record: Record = _decoder.decode(line[len(nonce) :])
        return record
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


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

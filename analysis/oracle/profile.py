"""What each test says of a changed text: its outcome and the kind of error. A verdict stops at the first test that differs; this does not.

References: Gu et al. (2024), Counterfeits, from whom the kinds of errors are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from .report import NOT_STEADY, ObservedTest, ProcessEnd, Report, TestOutcome, Verdict, Way, tampering_in

Change = Literal["as_before", "changed", "unknown"]
ErrorClass = Literal["passed", "wrong", "crash", "unparsed"]
Control = Literal["steady", "unsteady", "failed"]

# A text that hangs does so in every test that reaches it, and each takes seconds to end.
MAX_ENDS = 3


@dataclass(frozen=True, slots=True)
class ProfiledTest:
    """What one test says.

    change: whether it has its outcome of the baseline.
    error: "passed" where it has; "crash" where an error came out of the project's code, the process ended or took too long in it, or it is
        no longer collected; "wrong" for any other change; None where that is unknown.
    why: the new outcome with its error, or why it is unknown; of one that fails as before its error.
    outcome: the new outcome; "missing" where it came to none, None where that is unknown.
    """

    test: str
    change: Change
    error: ErrorClass | None
    why: str = ""
    outcome: TestOutcome | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """What the tests that touch a region say of a changed text.

    tests: in the order of the suite; none where nothing was run.
    left_out: how many more tests touch the region, beyond the number that was asked for.
    error: the class of the whole text. "unparsed": it does not compile. "crash": one test or more did. "wrong": tests changed, and none
        crashed. "passed": every touching test is as before. None where unknown tests, or those left out, decide it.
    reason: the first change, or why the class is unknown.
    seconds: clock seconds of the runs, without control runs.
    way: how the tests were run.
    infrastructure: something is unknown because the machine failed, so another attempt may succeed.
    """

    tests: tuple[ProfiledTest, ...]
    left_out: int
    error: ErrorClass | None
    reason: str
    seconds: float
    way: Way
    infrastructure: bool = False

    @property
    def tests_pass(self) -> bool | None:
        """The label of `Oracle.verdict` as far as these tests tell it."""
        if self.error == "passed":
            return True
        return False if self.error is not None or any(test.change == "changed" for test in self.tests) else None

    @property
    def share_kept(self) -> float | None:
        """The share of tests with their outcome of the baseline among those that are known. None where none is."""
        if self.error == "unparsed":
            return 0.0
        known = [test.change for test in self.tests if test.change != "unknown"]
        return known.count("as_before") / len(known) if known else 1.0 if self.error == "passed" else None


def chosen_tests(tests: Sequence[str], tiers: Sequence[Collection[str]], most: int, seed: int) -> list[str]:
    """At most `most` of the tests, in their order: those of the first tier before the next, and in a tier a random choice by the seed.

    A test's rank depends on nothing but its id, its tier and the seed, so the choice is the same wherever the first tiers are.
    """

    kept = set(ranked_tests(tests, tiers, seed)[:most])
    return [test for test in tests if test in kept]


def ranked_tests(tests: Sequence[str], tiers: Sequence[Collection[str]], seed: int) -> list[str]:
    """The tests of the first tier, then those of the next, and last the others; in a tier in a random order by the seed."""

    def rank(test: str) -> tuple[int, bytes]:
        tier = next((i for i, inside in enumerate(tiers) if test in inside), len(tiers))
        return tier, hashlib.sha256(f"{seed} {test}".encode()).digest()

    return sorted(tests, key=rank)


def profile_of(verdict: Verdict) -> Profile:
    """The profile where a verdict is known without running tests."""
    error: ErrorClass | None = None if verdict.label is None else "passed" if verdict.label else "unparsed"
    return Profile((), 0, error, verdict.reason, verdict.seconds, verdict.way, verdict.infrastructure)


def summed_up(tests: Sequence[ProfiledTest], left_out: int, seconds: float, way: Way, *, infrastructure: bool) -> Profile:
    """The profile of what single tests say."""
    errors = {test.error for test in tests}
    unknown = next((test for test in tests if test.error is None), None)
    first = next((test for test in tests if test.change == "changed"), unknown)
    error: ErrorClass | None = None
    if "crash" in errors:
        error = "crash"
    elif unknown is None and ("wrong" in errors or not left_out):
        error = "wrong" if "wrong" in errors else "passed"
    reason = f"{first.test}: {first.why}" if first else "each test has its outcome"
    if first is None and left_out:
        reason += f", but {left_out} more touch the region"
    return Profile(tuple(tests), left_out, error, reason, seconds, way, infrastructure)


def run_to_the_end(
    tests: Sequence[str],
    expected: Mapping[str, str],
    run: Callable[[Sequence[str]], tuple[Report, ProcessEnd]],
    control: Callable[[], Control],
    most_ends: int = MAX_ENDS,
) -> tuple[list[ProfiledTest], bool]:
    """What each test says, in order, and whether the machine failed. A test in which the process ends does not hide those after it.

    Parameters:
        expected: the outcomes of the baseline.
        run: runs tests with the changed text, whatever their outcomes.
        control: runs the tests anew without the change, where the machine may have ended a run; such a run is tried once more.
        most_ends: after so many ends of the process, the tests left are not run.
    """
    found: dict[str, ProfiledTest] = {}
    left, ends, doubted = list(tests), 0, False
    while left:
        report, ended = run(left)
        if ended.infrastructure:
            return _filled(tests, found, ended.why), True
        found |= {test: _observed(test, report.tests[test], expected[test]) for test in left if test in report.tests}
        whole = report.running is None and report.ended and all(test in found for test in left)
        if tampering := tampering_in(report, whole=whole):
            return [ProfiledTest(test, "changed", "crash", tampering, "missing") for test in tests], False
        if whole:
            break
        if ended.doubtful and not doubted:
            if (steady := control()) != "steady":
                return _filled(tests, found, f"{ended.why}; {NOT_STEADY}"), steady == "failed"
            doubted, left = True, [test for test in left if test not in found] or left[-1:]
            continue
        doubted, ends = False, ends + 1
        ending = _ended_in(left, found, report, ended)
        found |= {test: ProfiledTest(test, "changed", "crash", why, "missing") for test, why in ending.items()}
        left = [test for test in left if test not in found]
        if left and ends == most_ends:
            return _filled(tests, found, f"not run: the process had ended {ends} time{'s' * (ends != 1)}"), False
    return [found[test] for test in tests], False


def _observed(test: str, run: ObservedTest, before: str) -> ProfiledTest:
    if run.outcome == before:
        return ProfiledTest(test, "as_before", "passed", run.why, before)
    why = f"{run.outcome}, was {before}" + (f" ({run.why})" if run.why else "")
    return ProfiledTest(test, "changed", "crash" if run.crashed else "wrong", why, run.outcome)


def _ended_in(left: Sequence[str], found: Mapping[str, ProfiledTest], report: Report, ended: ProcessEnd) -> dict[str, str]:
    """The tests that count as crashed because a run did not come to its end, or left them out; and why."""
    missing = [test for test in left if test not in found]
    if report.running in missing:
        return {report.running: ended.why or "the process ended in the middle of it"}
    if not missing:
        return {left[-1]: ended.why or "the process ended after it"}
    if report.ended and report.collected is not None:
        gone = [test for test in missing if test not in report.collected] or missing
        return {test: f"not run ({report.errors.get(test.partition('::')[0], 'no longer collected')})" for test in gone}
    why = ended.why or next(iter(report.errors.values()), "the run ended early")
    # between two tests, or before the first
    return dict.fromkeys(missing[:1] if report.tests else missing, f"not run ({why})")


def _filled(tests: Sequence[str], found: Mapping[str, ProfiledTest], why: str) -> list[ProfiledTest]:
    """All the tests, those not found yet as unknown."""
    return [found.get(test, ProfiledTest(test, "unknown", None, why)) for test in tests]

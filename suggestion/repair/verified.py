"""Repairs whose covering tests were run: which of them pass."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...inference.model import Cancel, StopReason
from ..positions import content, split_lines
from ..suggestion import Suggestion
from .request import Repair

if TYPE_CHECKING:
    from ...analysis.oracle.comparison import ComparedTest, Comparison

# Of the tests that are mended.
_MAX_NAMED = 2
_NOT_RUN = {StopReason.TIME: "not run: the time was up", StopReason.CANCELLED: "not run: it was cancelled"}


@dataclass(frozen=True, slots=True)
class Verification:
    """What the tests that touch some changed lines say of the change.

    passed: whether none fails that passed before and, where some failed, one passes now; None where that could not be told, and `why` says
        so.
    tests, seconds: how many ran, and how long.
    mends, breaks, failing: tests that failed and pass; did not fail and do; failed and still do.
    """

    passed: bool | None
    tests: int
    seconds: float
    mends: tuple[str, ...] = ()
    breaks: tuple[str, ...] = ()
    why: str = ""
    failing: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """For clients and `--json`."""
        return {
            "passed": self.passed,
            "tests": self.tests,
            "seconds": round(self.seconds, 3),
            "mends": list(self.mends),
            "breaks": list(self.breaks),
            "why": self.why,
            "failing": list(self.failing),
        }

    @property
    def title(self) -> str:
        """For people, such as "✔ 12 tests pass (0.4 s)"; why there is no such thing to be said where they do not."""
        if not self.passed:
            return self.why
        tests = "1 test passes" if self.tests == 1 else f"{self.tests} tests pass"
        others = len(self.failing)
        if others:
            tests = f"{self.mended}; {others} other{' fails' if others == 1 else 's fail'} as before"
        return f"✔ {tests} ({self.seconds:.1f} s)"

    @property
    def mended(self) -> str:
        """Which tests it mends, by the names of their functions; empty where it mends none."""
        names = [test.rpartition("::")[2] for test in self.mends]
        more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
        return f"mends {', '.join(names[:_MAX_NAMED])}{more}" if names else ""


# Is given the whole text of the file with the repair made.
Judge = Callable[[str], Verification]


@dataclass(frozen=True, slots=True)
class Verified:
    """Repairs, and what the tests say of them.

    judged: each with that, the best first, also where it could not be told. left: those that were not tried, and why: the reason, empty
    where no more are wanted.
    """

    judged: tuple[tuple[Repair, Verification], ...] = ()
    left: tuple[Repair, ...] = ()
    why: str = ""

    @property
    def passing(self) -> int:
        """How many pass."""
        return sum(said.passed is True for _, said in self.judged)

    @property
    def refused(self) -> int:
        """How many do not pass."""
        return sum(said.passed is False for _, said in self.judged)

    @property
    def known(self) -> int:
        """Of how many it can be told."""
        return self.passing + self.refused

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.judged) + len(self.left)

    def in_order_of(self, repairs: Sequence[Repair]) -> Verified:
        """The same of these repairs, which are the same with other numbers, in their order."""
        said = {key_of(repair): verification for repair, verification in self.judged}
        judged = tuple((repair, said[key_of(repair)]) for repair in repairs if key_of(repair) in said)
        return replace(self, judged=judged, left=tuple(repair for repair in repairs if key_of(repair) not in said))

    def shown(self, most: int) -> tuple[tuple[Repair, Verification], ...]:
        """The first of what is kept; where that is less, with those that were not judged."""
        left = ((repair, Verification(None, 0, 0.0, why=self.why)) for repair in self.left)
        return (*kept(self.judged), *left)[:most]


def is_more_wanted(said: Sequence[Verification], most: int, passing: int | None = None) -> bool:
    """Whether a further repair is to be judged: not where so many pass (by default `most`), or of the first `most` nothing can be told.

    Another one may mend the tests as well that still fail with one that passes.
    """
    enough = sum(each.passed is True and not each.failing for each in said) >= (most if passing is None else passing)
    return not enough and (len(said) < most or any(each.passed is not None for each in said))


def verified(
    found: Iterable[Sequence[Repair]], text: str, judge: Judge, *, most: int, max_ms: float | None = None, cancel: Cancel | None = None
) -> Verified:
    """What the tests say of repairs, from the best on, until `most` pass. They run in a thread, while more repairs are found.

    found: the repairs so far, the best first, again and again until there are all. text: of the file, in which they were found. max_ms:
    when tests have run for so many milliseconds, or where `cancel` says so, no further one is judged. A judge that is at work is waited
    for.
    """
    trial, last = _Trial(text, judge, most, max_ms, cancel), tuple[Repair, ...]()
    with ThreadPoolExecutor(1, "tests") as thread:
        judging = thread.submit(trial.run)
        try:
            for repairs in found:
                last = tuple(repairs)
                trial.offer(last)
                if judging.done():
                    judging.result()  # raises what the judge raised
            trial.offer(last, all_of_them=True)
            stopped = judging.result()
        finally:
            trial.end()
    judged = tuple((repair, trial.said[key_of(repair)]) for repair in last if key_of(repair) in trial.said)
    return Verified(judged, tuple(repair for repair in last if key_of(repair) not in trial.said), _NOT_RUN[stopped] if stopped else "")


class _Trial:
    """Judges repairs in a thread, always the best of those that are there. said: what the tests say, by `key_of`."""

    def __init__(self, text: str, judge: Judge, most: int, max_ms: float | None, cancel: Cancel | None) -> None:
        self.said: dict[tuple[int, int, str], Verification] = {}
        self._text, self._judge, self._most = text, judge, most
        self._left_s, self._cancel = math.inf if max_ms is None else max_ms / 1e3, cancel
        self._news = threading.Condition()
        self._repairs: Sequence[Repair] = ()
        self._are_all = self._ended = False

    def offer(self, repairs: Sequence[Repair], *, all_of_them: bool = False) -> None:
        """The repairs that are there now."""
        with self._news:
            self._repairs, self._are_all = repairs, all_of_them
            self._news.notify()

    def end(self) -> None:
        """Judge no more."""
        with self._news:
            self._ended = True
            self._news.notify()

    def run(self) -> StopReason | None:
        """Judge until enough pass, or there are no more; why not so many were judged."""
        while is_more_wanted(list(self.said.values()), self._most):
            with self._news:
                self._news.wait_for(lambda: self._next() is not None or self._are_all or self._ended)
                repair = None if self._ended else self._next()
            if repair is None:
                return None
            if self._cancel is not None and self._cancel():
                return StopReason.CANCELLED
            if self._left_s <= 0:
                return StopReason.TIME
            begun = time.perf_counter()
            self.said[key_of(repair)] = self._judge(with_lines(self._text, repair.suggestion))
            self._left_s -= time.perf_counter() - begun
        return None

    def _next(self) -> Repair | None:
        return next((repair for repair in self._repairs if key_of(repair) not in self.said), None)


def key_of(repair: Repair) -> tuple[int, int, str]:
    """What is the same of a repair each time that it is found."""
    place = repair.suggestion.range
    return place.start.line, place.end.line, repair.suggestion.text


def kept(found: Iterable[tuple[Repair, Verification]]) -> tuple[tuple[Repair, Verification], ...]:
    """What is shown of repairs and what the tests say of them: those that pass, then those of which it can't be told.

    Of those that pass, the first are those with which the fewest tests fail as before.
    """
    found = list(found)
    passing = sorted((each for each in found if each[1].passed), key=lambda each: len(each[1].failing))
    return (*passing, *(each for each in found if each[1].passed is None))


def with_lines(text: str, suggestion: Suggestion) -> str:
    """The text with a suggestion that replaces whole lines. The last of them keeps its end."""
    lines = split_lines(text)
    first, last = suggestion.range.start.line, suggestion.range.end.line
    ending = lines[last][len(content(lines[last])) :]
    return "".join((*lines[:first], suggestion.text + ending, *lines[last + 1 :]))


def verification_of(found: Comparison) -> Verification:
    """What a comparison says of the text with the repair.

    It passes where no test fails that touches the lines, but those that failed before if it mends one of them: those may fail for another
    reason. A test that can't be told about leaves that open.
    """
    ran = [test for test in found.tests if test.after not in (None, "skipped")]
    mends = tuple(test.test for test in found.tests if test.is_mended)
    breaks = tuple(test.test for test in found.tests if test.is_broken)
    failing = tuple(test.test for test in found.tests if test.failed and test.fails)
    passed, why = _judged(found, breaks)
    return Verification(passed, len(ran), found.seconds, mends, breaks, why, failing)


def _judged(found: Comparison, breaks: tuple[str, ...]) -> tuple[bool | None, str]:
    """Whether the tests pass, and what there is to say."""
    if found.unparsed or not found.tests:
        return (False if found.unparsed else None), found.why
    failing = [test for test in found.tests if test.fails]
    is_mended = any(test.is_mended for test in found.tests)
    if breaks:
        return False, _named(next(test for test in found.tests if test.is_broken), "does not pass any more", len(breaks))
    # what failed before can't be broken
    if unknown := next((test for test in found.tests if not test.is_known and not (is_mended and test.failed)), None):
        return None, unknown.why or f"{unknown.test}: unknown"
    if failing and not is_mended:
        return False, _named(failing[0], "fails as before", len(failing))
    if not any(test.after == "passed" for test in found.tests):
        return None, "the tests that touch these lines are skipped"
    return True, f"{found.left_out} more may touch these lines, and were not run" if found.left_out else ""


def _named(test: ComparedTest, what: str, count: int) -> str:
    return f"{test.test} {what}" + (f": {test.why}" if test.why else "") + (f"; and {count - 1} more" if count > 1 else "")

"""What a project's tests say of two texts of one of its files: the one that stands there, which may not be saved, and another."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from .changes import affected_lines, changed_lines, lines_behind, with_statements
from .oracle import WAYS, Oracle
from .profile import ranked_tests
from .report import TestOutcome, Way
from .sources import as_source

# Of the tests that touch the lines, as many are run as took so long in the baseline.
MAX_TESTS_S = 60.0
# Tests whose process ends with the changed text, until no more are run: each may take seconds.
_MAX_ENDS = 1
_FAILED: tuple[TestOutcome, ...] = ("failed", "error", "missing")


@dataclass(frozen=True, slots=True)
class ComparedTest:
    """A test's outcome with either text; None where it is not known, and `why` says so. why: else the error with the other text."""

    test: str
    before: TestOutcome | None
    after: TestOutcome | None
    why: str = ""

    @property
    def is_known(self) -> bool:
        """Whether it has both outcomes."""
        return self.before is not None and self.after is not None

    @property
    def failed(self) -> bool:
        """Whether it fails with the first text."""
        return self.before in _FAILED

    @property
    def fails(self) -> bool:
        """Whether it fails with the other text."""
        return self.after in _FAILED

    @property
    def is_mended(self) -> bool:
        """Whether it failed, and passes."""
        return self.failed and self.after == "passed"

    @property
    def is_broken(self) -> bool:
        """Whether it did not fail, and does; or passed, and is skipped, which a program can bring about."""
        return self.is_known and not self.failed and (self.fails or (self.before == "passed" != self.after))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the tests say that touch the lines in which two texts differ.

    tests: in the order of the suite; none where nothing was run. seconds: of the runs with the other text. why: why there are no tests, or
    something is unknown. unparsed: the other text does not compile. left_out: how many more tests may touch these lines.
    """

    tests: tuple[ComparedTest, ...] = ()
    seconds: float = 0.0
    why: str = ""
    unparsed: bool = False
    left_out: int = 0


@dataclass(slots=True)
class Comparisons:
    """Compares texts of a file with `before`, one after the other; what the tests say of that one is asked once for each test.

    file: its path inside the project. Lines are matched with those on the disk, whose tests are known.
    """

    oracle: Oracle
    file: str
    before: str
    ways: Sequence[Way] = WAYS
    max_s: float = MAX_TESTS_S
    _known: dict[str, TestOutcome | None] = field(default_factory=dict)
    _why: str = ""

    def with_text(self, text: str) -> Comparison:
        """What the tests say of a text beside `before`. Raises NotJudged."""
        before, after, disk = as_source(self.before), as_source(text), self.oracle.source(self.file)
        if before == after:
            return Comparison(why="nothing is changed")
        if told := self._told(after):
            return told
        lines = changed_lines(before, after)
        asked = self._on_disk(disk, lines)
        tests, left_out, ways = self._chosen(asked, self._affected(disk, before, after, lines))
        touching = self.oracle.coverage().touching(self.file, asked)
        found = self._compared(tests, left_out, ways, self._before(tests, disk, before, ways), after, touching)
        return self._not_forged(found, after, ways)

    def of_lines(self, lines: range) -> Comparison:
        """What the tests that touch some lines of `before` (from 1) say of it, beside the text on the disk. Raises NotJudged."""
        before, disk = as_source(self.before), self.oracle.source(self.file)
        if told := self._told(before):
            return told
        touching = self.oracle.coverage().touching(self.file, self._on_disk(disk, lines))
        tests, left_out = self._within_time(touching | self.oracle.coverage().fresh, touching)
        return self._compared(tests, left_out, self.ways, self.oracle.baseline().outcomes, before, touching)

    def _told(self, after: str) -> Comparison | None:
        """What is said where no test has to be run."""
        if trouble := self.oracle.unparsable(after):
            return Comparison(why=f"it does not parse: {trouble}", unparsed=True)
        for known in (self.oracle.baseline, self.oracle.coverage):
            if (found := known()).trouble:
                return Comparison(why=found.trouble)
        return None

    def _on_disk(self, disk: str, lines: range) -> range:
        """The lines on the disk of the statements that some lines of `before` are part of."""
        before = as_source(self.before)
        return with_statements(disk, lines_behind(disk, before, with_statements(before, lines)))

    def _compared(
        self,
        tests: Sequence[str],
        left_out: int,
        ways: Sequence[Way],
        outcomes: Mapping[str, TestOutcome | None],
        after: str,
        touching: Collection[str],
    ) -> Comparison:
        """Runs tests with a text, and compares with their outcomes without it. touching: those that are known to touch the lines."""
        if not tests:
            uncollected = self.oracle.baseline().uncollected
            return Comparison(why="no test whose outcome is steady touches these lines" + (f"; {uncollected}" if uncollected else ""))
        said = self.oracle.told_by(tests, self.file, after, ways=ways, most_ends=_MAX_ENDS)
        if not said.tests:
            return Comparison(why=said.reason)
        compared = tuple(
            ComparedTest(test.test, before, test.outcome, test.why if before else self._why)
            for test in said.tests
            for before in [outcomes[test.test]]
        )
        if not touching and not any(test.is_mended or test.is_broken for test in compared):
            why = f"no test is known to touch these lines; of those that may, {len(compared)}, none is mended or broken"
            return Comparison(why=why)
        return Comparison(compared, said.seconds, left_out=left_out)

    def _not_forged(self, found: Comparison, after: str, ways: Sequence[Way]) -> Comparison:
        """What was found, less the passes that a second look does not bear out."""
        passing = [test.test for test in found.tests if test.after == "passed"]
        if not passing or any(test.is_broken for test in found.tests):
            return found
        begun = time.monotonic()
        doubts = self.oracle.doubts(passing, self.file, after, ways)
        tests = [(test, *doubts.get(test.test, (test.after, test.why))) for test in found.tests]
        told = tuple(replace(test, after=outcome, why=why) for test, outcome, why in tests)
        return replace(found, tests=told, seconds=found.seconds + time.monotonic() - begun)

    def _before(self, tests: Sequence[str], disk: str, before: str, ways: Sequence[Way]) -> dict[str, TestOutcome | None]:
        """The outcome of each test with the text that stands there."""
        if before == disk:
            return dict(self.oracle.baseline().outcomes)
        asked = [test for test in tests if self._known.get(test) is None]
        if asked and self.oracle.unparsable(before):
            self._known |= dict.fromkeys(asked, "missing")
        elif asked:
            said = self.oracle.told_by(asked, self.file, before, ways=ways)
            self._why = said.reason
            self._known |= dict.fromkeys(asked) | {test.test: test.outcome for test in said.tests}
        return self._known

    def _chosen(self, asked: range, affected: range) -> tuple[list[str], int, Sequence[Way]]:
        """The tests that touch lines on the disk, in the order of the suite, how many more there are, and how to run them.

        Where lines run at import, all tests may depend on them.
        """
        baseline, coverage = self.oracle.baseline(), self.oracle.coverage()
        touching = coverage.touching(self.file, asked)
        inside = {*asked, *affected}
        if coverage.imported.get(self.file, frozenset()).isdisjoint(inside):
            tests, ways = coverage.touching(self.file, inside) if touching else frozenset(), self.ways
            tests |= coverage.fresh
        else:
            tests, ways = frozenset(baseline.outcomes), WAYS[-1:]
        return *self._within_time(tests, touching), ways

    def _within_time(self, tests: Collection[str], touching: Collection[str]) -> tuple[list[str], int]:
        """As many tests as there is time for, in the order of the suite, and how many more there are.

        Those come first that failed in the baseline and touch the lines: one of them may be the reason why something is to be changed.
        """
        baseline = self.oracle.baseline()
        failing = {test for test in tests if baseline.outcomes[test] in _FAILED}
        tiers = [test for test in failing if test in touching], touching, failing
        chosen: set[str] = set()
        left_s = self.max_s
        for test in ranked_tests([test for test in baseline.outcomes if test in tests], tiers, 0):
            left_s -= baseline.wall_s[test]
            if left_s < 0 and chosen:
                break
            chosen.add(test)
        return [test for test in baseline.outcomes if test in chosen], len(tests) - len(chosen)

    def _affected(self, disk: str, before: str, after: str, lines: range) -> range:
        """The other lines on the disk whose meaning is another one with the new text."""
        if not self.oracle.unparsable(before):
            return lines_behind(disk, before, affected_lines(before, after, lines))
        return affected_lines(disk, after, changed_lines(disk, after)) if disk != after else range(0)

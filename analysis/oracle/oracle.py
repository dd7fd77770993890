"""Judge changed code by the project's own tests."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TypeVar

from ..sandbox.isolation.jail import Jail
from ..sandbox.isolation.limits import Limits
from . import cache as kept
from .altered_tests import in_place, with_other_values
from .baseline import Baseline, Coverage
from .baseline_runs import run_baseline, run_coverage, run_lines
from .changes import affected_lines, changed_lines, only_within, with_statements
from .copying import copy_project
from .interpreter import probe
from .jailed.assay_oracle.files import is_test_file
from .profile import MAX_ENDS, Control, Profile, chosen_tests, profile_of, run_to_the_end, summed_up
from .report import NOT_AGAIN, NOT_STEADY, ProcessEnd, Report, TestOutcome, Verdict, Way, difference, tampering_in
from .scratch_folder import ScratchFolder, replaced
from .sources import NotJudged as NotJudged
from .sources import encoded, source_of, uncompilable, unwritable
from .suite import SUITE_LIMITS, Suite, compile_sources, install_plugin

WAYS: tuple[Way, ...] = ("process", "whole")
MAX_PROFILED = 40
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class _Trial:
    """A changed text and the tests to run.

    tests: in the order of the suite. tiers: first those that touch the very lines, then those that may; the others come last. ways: the
    ways to run them, in order. test_files: contents that files of tests have instead of their own.
    """

    file: str
    old: str
    text: str
    tests: list[str]
    tiers: tuple[Collection[str], ...]
    ways: Sequence[Way]
    test_files: Mapping[str, bytes] = field(default_factory=dict)


class Oracle(AbstractContextManager["Oracle"]):
    """Judges changed files of a project by its tests.

    The project is copied once and never written to. Copies that killed processes of this user have left are removed first. Close the
    oracle, or use it in a `with`: it holds a folder. It takes one request at a time.

    Parameters:
        project: the project's folder.
        interpreter: the Python that runs the tests, in `jail`.
        cache: a folder where baseline and coverage are stored by content; None stores nothing.
        runs: how often the suite is run for the baseline, every third time in a random order.
        allowed: limits of a test run.
        some_pass: where no test passes, nothing is concluded.
        instead: texts that files have in place of their own, by path inside the project; they can be encoded.
        tell: is told, in a line for people, of each test that is left out since it ends or hangs a run.

    Raises: NotCopied, UnusableInterpreter.
    """

    def __init__(
        self,
        project: Path,
        interpreter: Path,
        jail: Jail,
        *,
        cache: Path | None = None,
        runs: int = 3,
        allowed: Limits = SUITE_LIMITS,
        some_pass: bool = True,
        instead: Mapping[str, str] | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        if runs < 2:
            raise ValueError(f"{runs} runs can't show which tests are flaky: at least 2 are needed")
        python = probe(interpreter, jail)
        self._folder = ScratchFolder()
        try:
            changed = {file: encoded(text) for file, text in (instead or {}).items()}
            copied = copy_project(project, self._folder.path / "project", changed)
            install_plugin(self._folder.path)
            self.suite = Suite(copied, self._folder.path, python, jail, allowed)
            compile_sources(self.suite)
        except BaseException:
            self._folder.close()
            raise
        self.cache = cache
        self._runs = runs
        self._some_pass = some_pass
        self._tell = tell
        self._key = kept.key_of(copied, python, f"{runs} runs{'' if some_pass else ', or none passes'}")
        self._baseline: Baseline | None = None
        self._coverage: Coverage | None = None
        self._controls: dict[tuple[Way, frozenset[str]], bool] = {}

    @property
    def content(self) -> str:
        """A hash of all that verdicts depend on: the project's files, the interpreter with what is installed, and the number of runs."""
        return self._key

    @property
    def is_measured(self) -> bool:
        """Whether baseline and coverage are in the cache, so that they need no run of the suite."""
        return self.cache is not None and all(kept.has(self.cache, self._key, kind) for kind in (Baseline, Coverage))

    def close(self) -> None:
        """Remove the copy."""
        self._folder.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def baseline(self) -> Baseline:
        """What the tests say of the unchanged project. Runs the whole suite several times, unless the cache has the result."""
        if self._baseline is None or self._baseline.infrastructure:
            stored = kept.load(self.cache, self._key, Baseline) if self.cache else None
            self._baseline = stored or run_baseline(self.suite, self._runs, some_pass=self._some_pass, tell=self._tell)
            if self.cache and not stored and not self._baseline.trouble:
                kept.store(self.cache, self._key, self._baseline)
            self.suite = replace(self.suite, ignore_options=self._baseline.ignores_options)
        return self._baseline

    def coverage(self) -> Coverage:
        """Which tests run which lines. Runs the whole suite once more, unless the cache has the result."""
        if self._coverage is None or self._coverage.infrastructure:
            baseline = self.baseline()
            stored = kept.load(self.cache, self._key, Coverage) if self.cache else None
            self._coverage = stored or run_coverage(self.suite, baseline)
            if self.cache and not stored and not self._coverage.trouble:
                kept.store(self.cache, self._key, self._coverage)
        return self._coverage

    def coverage_with(self, test: str, file: str, text: str) -> Coverage:
        """Which lines a test of the baseline runs in the project with `text` in the place of a file. Raises NotJudged."""
        file, baseline = self._named(file), self.baseline()
        with self._changed(file, text):
            return run_lines(self.suite, baseline, test)

    def covered(self, file: str) -> dict[int, frozenset[str]]:
        """The stable tests that run each line of a file; lines that no test runs are left out. Raises NotJudged."""
        return dict(self.coverage().tests.get(self._named(file), {}))

    def files(self) -> list[str]:
        """The files with lines that stable tests run, test files left out."""
        return sorted(file for file, by_line in self.coverage().tests.items() if by_line)

    def source(self, file: str) -> str:
        """A file's text in the copy, with \\n for line ends. Raises NotJudged where the file can't be one that is changed."""
        return source_of(self.suite.copied.folder, self._named(file))

    def verdict(self, file: str, text: str, lines: range | None = None, *, ways: Sequence[Way] = WAYS) -> Verdict:
        """What the tests say of the project with `text` in the place of a file.

        Parameters:
            file: its path inside the project.
            lines: the lines of the present text, from 1, that may differ; None finds them. Verdicts with the same lines share control runs.
            ways: the ways to run the tests that are allowed; the first that works is taken. Lines that run at import always need "whole".

        Raises: NotJudged for a test file, for a file that is no Python file of the project, and where other lines differ, too.
        """
        asked = self._asked(file, text, lines, ways)
        if isinstance(asked, Verdict):
            return asked
        everything = list(self.baseline().outcomes)
        return self._by_first_way(
            asked.ways, asked.tests, lambda way: self._judge_by(way, asked, everything if way == "whole" else asked.tests)
        )

    def profile(
        self, file: str, text: str, lines: range | None = None, *, most: int = MAX_PROFILED, seed: int = 0, ways: Sequence[Way] = WAYS
    ) -> Profile:
        """What each test that touches the changed lines says of the project with `text` in the place of a file, with its kind of error.

        Parameters (the others as in `verdict`):
            most: run no more tests than this. Where more touch the lines, which of them are run is the same for every text that differs in
                the same lines.
            seed: of that choice.

        It agrees with the verdict of the same text, where both are known. Raises NotJudged.
        """
        if most < 1:
            raise ValueError(f"a profile of {most} tests says nothing: at least 1 is needed")
        asked = self._asked(file, text, lines, ways)
        if isinstance(asked, Verdict):
            return profile_of(asked)
        return self._told(asked, chosen_tests(asked.tests, asked.tiers, most, seed))

    def told_by(self, tests: Sequence[str], file: str, text: str, *, ways: Sequence[Way] = WAYS, most_ends: int = MAX_ENDS) -> Profile:
        """What some tests of the baseline say of the project with `text` in the place of a file, whatever lines they touch.

        tests: in the order of the suite. most_ends: after so many ends of their process no more are run. Raises NotJudged.
        """
        file = self._named(file)
        return self._told(_Trial(file, self.source(file), text, list(tests), (), ways), list(tests), most_ends)

    def _told(self, asked: _Trial, tests: list[str], most_ends: int = MAX_ENDS) -> Profile:
        """The profile by some of the tests, by the first way that works."""
        found = self._by_first_way(asked.ways, tests, lambda way: self._profile_by(way, asked, tests, most_ends))
        return profile_of(found) if isinstance(found, Verdict) else found

    def doubts(self, tests: Sequence[str], file: str, text: str, ways: Sequence[Way]) -> Mapping[str, tuple[TestOutcome | None, str]]:
        """Of some tests that pass with a text, those that may not: the outcome that each has instead, None where it is unknown, and why.

        Those that compare with a written value are run twice in fresh processes, as they are and with another value. Only the value tells
        the two runs apart. Each has to pass the first and not the second. Raises NotJudged.
        """
        found, file = with_other_values(self.suite.copied, tests), self._named(file)
        if not (asked := [test for test in tests if test in found.tests]):
            return {}
        present = _Trial(file, self.source(file), text, asked, (), ways, found.present)
        said = self._told(present, asked)
        if not said.tests:
            return dict.fromkeys(asked, (None, said.reason))
        try:
            report, ended = self._run_changed(said.way, replace(present, test_files=found.altered), asked, to_the_end=True)
        except OSError as error:
            return dict.fromkeys(asked, (None, f"the machine failed: {error}"))
        passed = next((test for test in asked if report.outcomes.get(test) == "passed"), None)
        if forged := tampering_in(report) or (passed and f"{passed} passes whatever value it expects: the run was tampered with"):
            return dict.fromkeys(tests, ("failed", forged))
        missing = f"not run with another value: {ended.why or 'the run ended early'}"
        again = {test.test: (test.outcome, test.why or NOT_AGAIN) for test in said.tests if test.outcome != "passed"}
        return {test: (None, missing) for test in asked if test not in report.tests} | again

    def _asked(self, file: str, text: str, lines: range | None, ways: Sequence[Way]) -> _Trial | Verdict:
        """What to run for a changed text, or the verdict that needs no run. Raises NotJudged."""
        file = self._named(file)
        old = self.source(file)
        if lines is not None and not only_within(old, text, lines):
            raise NotJudged(f"{file}: the text differs from the present one outside of lines {lines.start} to {lines.stop - 1}")
        if old == text:
            return Verdict(True, "the text is the present one", 0, 0.0, "none")
        if trouble := self.unparsable(text):
            # a file that the project's Python never could compile is not the change's fault, and no test imports it
            label = None if self._is_older and self.unparsable(old) else False
            return Verdict(label, f"does not parse: {trouble}", 0, 0.0, "none")
        for known in (self.baseline, self.coverage):
            if (found := known()).trouble:
                return Verdict(None, found.trouble, 0, 0.0, "none", found.infrastructure)
        baseline, coverage = self.baseline(), self.coverage()
        self._named(file)  # again: which files hold tests is known only now
        region = lines if lines is not None else changed_lines(old, text)
        asked, further = with_statements(old, region), affected_lines(old, text, region)
        tiers = coverage.touching(file, asked), coverage.fresh
        if not coverage.imported.get(file, frozenset()).isdisjoint({*asked, *further}):
            return _Trial(file, old, text, list(baseline.outcomes), tiers, WAYS[-1:])
        if not tiers[0]:
            return Verdict(None, f"no stable test touches lines {asked.start} to {asked.stop - 1} of {file}", 0, 0.0, "none")
        touching = coverage.touching(file, {*asked, *further}) | coverage.fresh
        return _Trial(file, old, text, [test for test in baseline.outcomes if test in touching], tiers, ways)

    def _named(self, file: str) -> str:
        path = PurePosixPath(file)
        if path.is_absolute() or ".." in path.parts or path.suffix != ".py":
            raise NotJudged(f"{file}: name a .py file by its path inside the project")
        if is_test_file(str(path)) or (self._coverage is not None and str(path) in self._coverage.modules):
            raise NotJudged(f"{file}: a test can't be what its own suite judges")
        found = self.suite.copied.folder / path
        if not found.is_file():
            raise NotJudged(f"{file}: the project has no such file")
        if not found.resolve().is_relative_to(self.suite.copied.folder.resolve()):
            raise NotJudged(f"{file}: too large a file to be changed")
        return str(path)

    def unparsable(self, text: str) -> str:
        """Why the project's Python can't compile a text; empty where it can. It is asked only where this one may say something else."""
        if trouble := unwritable(text):
            return trouble
        if trouble := uncompilable(text):
            same = self.suite.interpreter.python[:2] == sys.version_info[:2]
            return trouble if same or self.suite.uncompilable(text) else ""
        if self._is_older and (trouble := self.suite.uncompilable(text)):
            major, minor, _ = self.suite.interpreter.python
            return f"the project's tests run on Python {major}.{minor}, which can't compile it ({trouble})"
        return ""

    @property
    def _is_older(self) -> bool:
        """Whether the project's Python is older than this one, and may refuse what this one compiles."""
        return self.suite.interpreter.python[:2] < sys.version_info[:2]

    def _by_first_way(self, ways: Sequence[Way], tests: Sequence[str], judge: Callable[[Way], _T]) -> _T | Verdict:
        """The verdict of the first way whose control run (the same tests without the change) reproduces the baseline."""
        reason, failed = "the unchanged program does not have its outcomes again when its tests are run", False
        for way in ways:
            try:
                # the whole suite's control run is expensive: it is made only before a False
                control = "steady" if way == "whole" else self._control(way, tests)
                if control == "steady":
                    return judge(way)
                failed |= control == "failed"
            except OSError as error:
                return Verdict(None, f"the machine failed: {error}", 0, 0.0, way, infrastructure=True)
        return Verdict(None, reason, 0, 0.0, "none", failed)

    def _judge_by(self, way: Way, asked: _Trial, tests: list[str], *, again: bool = False) -> Verdict:
        """Judge one way.

        A failure that the machine may have caused is tried once more (`again`) after a new control run.
        """
        begun = time.monotonic()
        report, ended = self._run_changed(way, asked, tests)
        told = len(report.tests), time.monotonic() - begun, way
        if ended.infrastructure:
            return Verdict(None, ended.why, *told, infrastructure=True)
        found = difference(report, ended, self.baseline().outcomes, tests)
        if found is None:
            return Verdict(True, "each test has its outcome", *told)
        control = self._control(way, tests, anew=ended.doubtful)
        if control != "steady":
            return Verdict(None, f"{found}; {NOT_STEADY}", *told, infrastructure=control == "failed")
        if ended.doubtful and not again:
            return self._judge_by(way, asked, tests, again=True)
        return Verdict(False, found, *told)

    def _profile_by(self, way: Way, asked: _Trial, tests: list[str], most_ends: int = MAX_ENDS) -> Profile | Verdict:
        """The profile one way; a verdict where nothing is known."""
        seconds = 0.0

        def run(some: Sequence[str]) -> tuple[Report, ProcessEnd]:
            nonlocal seconds
            begun = time.monotonic()
            report, ended = self._run_changed(way, asked, some, to_the_end=True)
            seconds += time.monotonic() - begun
            return report, ended

        outcomes = self.baseline().outcomes
        found, failed = run_to_the_end(tests, outcomes, run, lambda: self._control(way, tests, anew=True), most_ends)
        profile = summed_up(found, len(asked.tests) - len(tests), seconds, way, infrastructure=failed)
        if profile.tests_pass is False and (control := self._control(way, tests)) != "steady":
            return Verdict(None, f"{profile.reason}; {NOT_STEADY}", len(tests), seconds, way, infrastructure=control == "failed")
        return profile

    def _control(self, way: Way, tests: Sequence[str], *, anew: bool = False) -> Control:
        """Run the tests in this way without a change: "steady" where they have the baseline's outcomes.

        "failed" where the machine may have caused the difference. The other results are kept for the next request; anew: run again all the
        same.
        """
        key = way, frozenset(tests)
        if anew or key not in self._controls:
            report, ended = self._run(way, tests)
            steady = not ended.infrastructure and difference(report, ended, self.baseline().outcomes, tests) is None
            if not steady and (ended.infrastructure or ended.doubtful):
                return "failed"  # not kept: the next attempt may succeed
            self._controls[key] = steady
        return "steady" if self._controls[key] else "unsteady"

    def _run_changed(self, way: Way, asked: _Trial, tests: Sequence[str], *, to_the_end: bool = False) -> tuple[Report, ProcessEnd]:
        """Run tests with the changed text. Raises OSError where it can't be written."""
        # Both just before the run, so that the times of the files are the same in any two runs.
        with in_place(self.suite.copied, asked.test_files), self._changed(asked.file, asked.text):
            return self._run(way, tests, to_the_end=to_the_end)

    def _run(self, way: Way, tests: Sequence[str], *, to_the_end: bool = False) -> tuple[Report, ProcessEnd]:
        """Run tests, up to the first whose outcome is not the baseline's, or to the end."""
        expected = {} if to_the_end else {test: self.baseline().outcomes[test] for test in tests}
        report, ended, _ = self.suite.run(select=tests, expected=expected, times=self.baseline(), whole=way == "whole")
        return report, ended

    def _changed(self, file: str, text: str) -> AbstractContextManager[None]:
        """Put the text into the copy while a block runs, where the tests import it. Raises OSError."""
        return replaced((self.suite.copied.folder / file).resolve(), encoded(text), self._folder.path)

"""The tests of a project, as a judge of changes of its files. They run in the sandbox, on a copy, or not at all."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import platformdirs

from ...analysis.python.source_text import without_warnings
from ...inference.regular_file import read_regular_file
from .verified import Judge, Verification, verification_of

if TYPE_CHECKING:
    from ...analysis.oracle.comparison import Comparison
    from ...analysis.oracle.spectrum import Suspect
    from ...analysis.python.statements import Function

# A run of the whole suite may take so long. There are three at first, one of them to see the lines that each test runs.
MAX_SUITE_S = 60.0
_RUNS = 2
# Where pytest looks for its settings.
_SETTINGS = ("pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")
_MAX_SETTINGS_BYTES = 1 << 20
_ROOTS = ("pyproject.toml", "setup.py", "setup.cfg", "pytest.ini", "tox.ini", ".git")


class NoTests(Exception):
    """The tests of a project can't be run. The message says why, in a sentence for people."""


def project_of(file: Path) -> Path:
    """The nearest folder at or above a file's that is a project's root by what is in it; the file's own where none is."""
    folder = file.absolute().parent
    return next((each for each in (folder, *folder.parents) if any((each / name).exists() for name in _ROOTS)), folder)


def default_cache() -> Path:
    """Where it is kept what the tests of projects say."""
    return platformdirs.user_cache_path("assay") / "oracle"


def _has_tests(project: Path) -> bool:
    """Whether a file is named as tests are, by pytest's customs, or pytest's settings name others. What tools make is not looked at."""
    from ...analysis.oracle.copying import files_of
    from ...analysis.oracle.jailed.assay_oracle.files import is_test_file

    settings = b"".join(_settings_in(project / name) for name in _SETTINGS)
    return (
        b"python_files" in settings
        or b"doctest" in settings
        or any(file.suffix == ".py" and is_test_file(str(file.relative_to(project))) for file in files_of(project))
    )


def _settings_in(file: Path) -> bytes:
    """What stands in a file of settings; nothing where there is none."""
    try:
        return read_regular_file(file, _MAX_SETTINGS_BYTES)
    except OSError:
        return b""


def in_place_of(file: Path, texts: Iterable[str]) -> dict[Path, str]:
    """The first text that parses, for a file that does not as it is saved: no test that imports that says which lines it touches."""
    try:
        saved = file.read_bytes()  # which names its encoding
    except OSError:
        return {}
    return {} if _parses(saved) else next(({file: text} for text in texts if _parses(text)), {})


def _parses(source: str | bytes) -> bool:
    try:
        with without_warnings():
            ast.parse(source.removeprefix("\ufeff") if isinstance(source, str) else source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _stamps(project: Path) -> dict[str, tuple[int, int, int]]:
    """What changes whenever a file of a project does."""
    from ...analysis.oracle.copying import files_of

    found = {}
    for file in files_of(project):
        with suppress(OSError):
            seen = file.lstat()
            found[str(file)] = seen.st_size, seen.st_mtime_ns, seen.st_ino
    return found


def _told(compare: Callable[[], Comparison]) -> Verification:
    from ...analysis.oracle.sources import NotJudged

    try:
        return verification_of(compare())
    except NotJudged as error:
        return Verification(None, 0, 0.0, why=str(error))


@dataclass(frozen=True, slots=True)
class Fault:
    """A test that fails, what it says, and the lines (from 1) of the function of a file that may be why."""

    test: str
    why: str
    first: int
    last: int


def _function_at(text: str, line: int, most: int) -> tuple[int, int]:
    """The first and last line of the innermost function with a line, at most so many of them; the line alone outside of functions."""
    from ...analysis.python.source_text import UnreadableSource
    from ...analysis.python.statements import parse_statements

    around: list[Function] = []
    with suppress(UnreadableSource):  # code for another Python
        around = [each for each in parse_statements(text).functions if each.first_line <= line <= each.last_line]
    first, last = (around[-1].first_line, around[-1].last_line) if around else (line, line)
    if last - first >= most:
        first = max(first, line - most // 2)
        last = min(last, first + most - 1)
    return first, last


class ProjectTests(AbstractContextManager["ProjectTests"]):
    """The tests of a project, as they are when this is made.

    python: what runs them; by default that of the activated environment, or of the project's own. cache: a folder for what the tests say of
    the unchanged project. max_suite_s: seconds that a run of the whole suite may take. instead: as `in_place_of` has it. tell: is told, in
    lines for people, what is left out. Raises NoTests.
    """

    def __init__(
        self,
        project: Path,
        *,
        python: Path | None = None,
        cache: Path | None = None,
        max_suite_s: float = MAX_SUITE_S,
        instead: Mapping[Path, str] | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        if sys.platform != "linux":
            raise NoTests(f"no tests are run on this system ({sys.platform}): the sandbox for them needs Linux")
        self.project = project.resolve()
        if not self.project.is_dir():
            raise NoTests(f"{project} is not a folder")
        if Path.home().resolve().is_relative_to(self.project):
            raise NoTests(f"{project} holds your home folder, of which no copy is made: name the project's own folder")
        if not _has_tests(self.project):
            raise NoTests(f"{project} has no Python tests: no file named test_*.py or *_test.py, and no folder of tests")
        # Before the copy is made: what changes meanwhile is seen later.
        self._stamps = _stamps(self.project)
        from ...analysis.oracle.copying import NotCopied, left_out_notes
        from ...analysis.oracle.interpreter import UnusableInterpreter, interpreter_of
        from ...analysis.oracle.oracle import Oracle
        from ...analysis.oracle.suite import SUITE_LIMITS
        from ...analysis.sandbox.isolation.best_level import NoIsolation, best_level
        from ...analysis.sandbox.isolation.jail import Jail

        self._said: set[str] = set()

        def say(remark: str) -> None:
            self._said.add(remark)
            tell(remark)

        try:
            self._oracle = Oracle(
                self.project,
                python or interpreter_of(self.project),
                Jail(best_level()),
                cache=cache,
                runs=_RUNS,
                allowed=replace(SUITE_LIMITS, cpu_s=max_suite_s, wall_s=max_suite_s),
                some_pass=False,
                instead={self._inside(file): text for file, text in (instead or {}).items()},
                tell=say,
            )
        except NoIsolation as error:
            raise NoTests(f"no tests are run without a sandbox: {str(error).partition(chr(10))[0]} (assay doctor says more)") from None
        except (NotCopied, UnusableInterpreter) as error:
            raise NoTests(str(error)) from None
        except OSError as error:
            raise NoTests(f"{error.filename or project}: {error.strerror}") from None
        for note in left_out_notes(self._oracle.suite.copied.left_out):
            say(note)

    def measure(self) -> int:
        """Run the suite as it is, unless the cache knows it; how many tests have a steady outcome. Raises NoTests."""
        for known in (self._oracle.baseline, self._oracle.coverage):
            try:
                trouble = known().trouble
            except OSError as error:
                raise NoTests(f"{error.filename}: {error.strerror}") from None
            if trouble:
                raise NoTests(f"the tests of {self.project.name} can't be relied on: {trouble}")
        return len(self._oracle.baseline().outcomes)

    def judge(self, file: Path, before: str) -> Judge:
        """Judges texts of a file beside the one that stands there, which may not be saved. Raises NoTests for a file of no project."""
        from ...analysis.oracle.comparison import Comparisons

        comparisons = Comparisons(self._oracle, self._inside(file), before)
        return lambda text: _told(lambda: comparisons.with_text(text))

    def run(self, file: Path, text: str, lines: range) -> Verification:
        """What the tests that touch some lines (from 1) say of the text that stands there, beside that on the disk. Raises NoTests."""
        from ...analysis.oracle.comparison import Comparisons

        comparisons = Comparisons(self._oracle, self._inside(file), text)
        return _told(lambda: comparisons.of_lines(lines))

    def faults(self, file: Path, text: str, most_lines: int) -> list[Fault]:
        """The failing tests that run a file, each with the function that is most suspicious; none where none fails.

        After `measure`. Raises NoTests, also where the text is not saved, and where tests fail and no line of the file may be why.
        """
        from ...analysis.oracle.comparison import Comparisons
        from ...analysis.oracle.sources import NotJudged, as_source

        try:
            name, lines = self._inside(file), self.lines_of(self._inside(file))
        except NotJudged as error:
            raise NoTests(str(error)) from None
        if as_source(text) != "\n".join(lines):
            raise NoTests("the file has changes that are not saved: save it, for its tests run on what is saved")
        said = Comparisons(self._oracle, name, text).of_lines(range(1, len(lines) + 1))
        if not said.tests:
            raise NoTests(said.why)
        failing, found = [each for each in said.tests if each.failed and each.fails], list[Fault]()
        for test in failing:
            line = next((each.line for each in self.suspects([test.test]) if each.file == name), None)
            if line is not None:
                found.append(Fault(test.test, test.why, *_function_at(text, line, most_lines)))
        if failing and not found:
            raise NoTests(f"{failing[0].test} fails, and no line of {file.name} is known to be why")
        return found

    def failing(self) -> list[str]:
        """The tests that fail each time. After `measure`."""
        return [test for test, outcome in self._oracle.baseline().outcomes.items() if outcome in ("failed", "error")]

    def uncollected(self) -> dict[str, str]:
        """The files of tests that can't be collected, with the error and its place. After `measure`."""
        return dict(self._oracle.baseline().broken)

    def remarks(self) -> list[str]:
        """What a person should know of how the tests were run, a sentence each, less what `tell` was told. After `measure`."""
        baseline = self._oracle.baseline()
        return [remark for remark in (*baseline.notes, *baseline.not_run()) if remark not in self._said]

    def suspects(self, tests: Sequence[str]) -> list[Suspect]:
        """The lines that failing tests run, the most suspicious first. After `measure`; other failing tests count neither way."""
        from ...analysis.oracle.spectrum import suspects

        return suspects(self._oracle.coverage().tests, tests, without=self.failing())

    def lines_of(self, file: str) -> tuple[str, ...]:
        """The lines of a file of `suspects`, as the tests ran them. Raises NotJudged."""
        return tuple(self._oracle.source(file).split("\n"))

    def is_of(self, file: Path | None) -> bool:
        """Whether no file of the project has changed since this was made, but the one that is judged."""
        now = _stamps(self.project)
        own = None if file is None else str(file.resolve())
        return all(path == own or self._stamps.get(path) == now.get(path) for path in {*self._stamps, *now})

    def _inside(self, file: Path) -> str:
        if file.suffix != ".py":
            raise NoTests(f"{file.name} is not a Python file: which tests touch its lines is not known")
        try:
            return file.resolve().relative_to(self.project).as_posix()
        except ValueError:
            raise NoTests(f"{file} is not in the project {self.project}, whose tests would be run") from None

    def close(self) -> None:
        """Remove the copy."""
        self._oracle.close()

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

"""The copy of a project that a run works from, and what its test suite is like: run before anything is asked, and told to the user."""

from __future__ import annotations

import filecmp
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import msgspec

from ...analysis.oracle.baseline import MIN_WALL_S, NO_TESTS, UNSTEADY, WALL_FACTOR, Baseline
from ...analysis.oracle.copying import MAX_NAMED, NotCopied, copy_project, left_out_notes
from ...analysis.oracle.oracle import Oracle
from ...analysis.oracle.scratch_folder import ScratchFolder
from ...calibration.atomic_write import write_atomically
from ..errors import RunError, StudyError
from ..progress import counted, duration, to_stderr
from ..run import Run

_LINK_OUT = "a link out of the project"


@contextmanager
def frozen(project: Path) -> Iterator[tuple[Path, dict[str, str]]]:
    """A folder that holds the project as it is now, until the block ends, and what it lacks of the project, by path with the reason.

    Workers copy that folder, so they all see the same, whatever is saved in an editor meanwhile. A project with files that are too large to
    be copied is used as it is. Raises NotCopied.
    """
    place = ScratchFolder()
    try:
        copied = copy_project(project, place.path / "project")
        yield project if copied.linked else copied.folder, copied.left_out
    finally:
        place.close()


def changed_since(project: Path, frozen: Path) -> list[str]:
    """Paths of the files that differ between the project as it is now and its frozen copy.

    Empty where the project itself was used, and where it can no longer be copied.
    """
    if frozen == project:
        return []
    place = ScratchFolder()
    try:
        now = place.path / "now"
        copy_project(project, now)
        paths = {path.relative_to(root) for root in (frozen, now) for path in root.rglob("*") if path.is_symlink() or path.is_file()}
        return sorted(str(path) for path in paths if not _same(frozen / path, now / path))
    except NotCopied:
        return []
    finally:
        place.close()


def _same(one: Path, other: Path) -> bool:
    if one.is_symlink() or other.is_symlink():
        return one.is_symlink() and other.is_symlink() and one.readlink() == other.readlink()
    return one.is_file() and other.is_file() and filecmp.cmp(one, other, shallow=False)


def advice_on_links(left_out: Mapping[str, str]) -> str:
    """What to do about links out of the project; empty where there are none."""
    links = [path for path, reason in left_out.items() if reason == _LINK_OUT]
    if not links:
        return ""
    named = ", ".join(links[:MAX_NAMED]) + (" and others" if len(links) > MAX_NAMED else "")
    return f". Links out of the project are not followed ({named}): where the tests need one, put what it leads to in its place"


# Tests that are named.
_MAX_NAMED = 5
_FILE = "suite.json"


@dataclass(frozen=True, slots=True)
class Suite:
    """What the tests said of the project as it is."""

    tests: int
    flaky: int
    files: int
    covered_lines: int
    seconds: float

    @property
    def max_place_s(self) -> float:
        """How long a worker may take for a place: five verdicts with their controls, each by the whole suite, within its bounds."""
        return 600 + 10 * (MIN_WALL_S + WALL_FACTOR * self.seconds)

    def keep(self, run: Run) -> None:
        """Write it down in the run's folder, for the report."""
        with write_atomically(run.folder / _FILE) as out:
            out.write(json.dumps(asdict(self)).encode())


def suite_of(run: Run) -> Suite:
    """What `Suite.keep` wrote. Raises RunError."""
    path = run.folder / _FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=Suite)
    except (OSError, msgspec.DecodeError, RecursionError) as error:
        raise RunError(f"{path}: can't be read ({error}); the command that began the run writes it again") from None


def measured(oracle: Oracle, left_out: Mapping[str, str]) -> Suite:
    """Run the suite, unless that was done for this very code, and say what it is worth.

    left_out: what the copy lacks, by path with the reason. Raises StudyError where the suite can't judge a change.
    """
    for note in left_out_notes(left_out):
        to_stderr(f"note: {note}")
    if not oracle.is_measured:
        to_stderr("running the tests as they are, to know which are steady and what they touch (kept for the next time)")
    baseline = oracle.baseline()
    for note in baseline.notes:
        to_stderr(f"note: {note}")
    if baseline.trouble:
        raise StudyError(_advice(baseline, oracle.suite.interpreter.path) + advice_on_links(left_out))
    for note in baseline.not_run():
        to_stderr(f"note: {note}")
    coverage = oracle.coverage()
    if coverage.trouble:
        raise StudyError(coverage.trouble)
    failing = [(test, outcome) for test, outcome in baseline.outcomes.items() if outcome in ("failed", "error")]
    for test, outcome in failing[:_MAX_NAMED]:
        to_stderr(f"note: {outcome} as the project is: {test}")
    if len(failing) > _MAX_NAMED:
        to_stderr(f"note: and {len(failing) - _MAX_NAMED:,} more that do not pass as the project is")
    seconds = baseline.start_wall_s + sum(baseline.wall_s.values())
    found = Suite(
        len(baseline.outcomes), len(baseline.flaky), len(coverage.tests), sum(map(len, coverage.tests.values())), round(seconds, 3)
    )
    passed = sum(outcome == "passed" for outcome in baseline.outcomes.values())
    to_stderr(
        f"{counted(found.tests, 'test')} with a steady outcome ({passed:,} pass), {found.flaky:,} without, {duration(seconds)} in all; "
        f"they execute {counted(found.covered_lines, 'line')} of {counted(found.files, 'file')}"
    )
    return found


def _advice(baseline: Baseline, python: Path) -> str:
    """Why the suite can't judge a change, and what there is to do."""
    if UNSTEADY in baseline.trouble:
        named = "; ".join(f"{test} ({outcomes})" for test, outcomes in list(baseline.flaky.items())[:_MAX_NAMED])
        return f"{baseline.trouble}: {named}. Such a suite can't say what a change did: make these steady, or take them out of it"
    if baseline.infrastructure:
        return f"{baseline.trouble}. That is the sandbox or the machine, not the tests: see assay doctor"
    if baseline.trouble == NO_TESTS:
        return f"{baseline.trouble} that pytest collects in the project's root"
    return f"{baseline.trouble}. The tests were run by {python}: name another with --python, or let one be made with --make-environment"

"""What a project's test suite is like: run before anything is asked, and told to the user."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ...analysis.oracle.baseline import NO_TESTS, UNSTEADY, Baseline
from ...analysis.oracle.copying import left_out_notes
from ...analysis.oracle.oracle import Oracle
from ...analysis.oracle.suite import MIN_WALL_S, WALL_FACTOR
from ...calibration.atomic_write import write_atomically
from ..errors import RunError, StudyError
from ..progress import counted, duration, to_stderr
from ..run import Run
from .project_copy import advice_on_links

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
        found: dict[str, Any] = json.loads(path.read_bytes())
        if any(type(value) not in (int, float) for value in found.values()):
            raise TypeError("not all numbers")
        return Suite(**found)
    except (OSError, ValueError, TypeError, AttributeError, RecursionError) as error:
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

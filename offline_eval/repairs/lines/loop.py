"""The step loop at lines of projects, whose tests judge mutants."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ....analysis.oracle.changes import changed_lines
from ...sets.suites import Judge, Suite, Unjudged
from ..loop import SLOW_S, looped, mutants
from .proposing import Line


@dataclass(frozen=True, slots=True)
class Buggy:
    """A line with a bug, and the tests of its project."""

    line: Line
    suite: Suite

    @property
    def id(self) -> str:
        """The line's."""
        return self.line.id


def loop(judge: Judge, buggy: Buggy) -> dict[str, Any]:
    """The record of a bug. Raises Unjudged where the machine failed, and Changed where the project is another than it was."""
    place = buggy.line.place
    oracle = judge.oracle(buggy.suite)

    def test(text: str) -> tuple[bool | None, int]:
        if text == place.text:  # needs no run: its tests are those of the line
            return True, len(oracle.covered(place.file).get(place.line, ()))
        verdict = oracle.verdict(place.file, text, changed_lines(place.text, text))
        if verdict.infrastructure:
            raise Unjudged(verdict.reason)
        return verdict.label, verdict.tests

    baseline = oracle.baseline()
    slow_s = SLOW_S + 2 * (baseline.start_wall_s + sum(baseline.wall_s.values()))
    return {"id": buggy.id, **looped(mutants(buggy.line.text, place.line), place.text, test, slow_s=slow_s)}

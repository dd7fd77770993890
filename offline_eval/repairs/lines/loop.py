"""The step loop at lines of projects, whose tests judge mutants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


@dataclass(frozen=True, slots=True)
class Looping:
    """Makes the worker's function. contents: as `Judging`'s."""

    contents: Mapping[str, str]

    def __call__(self) -> Callable[[Buggy], dict[str, Any]]:
        """The function."""
        return Looper(Judge(self.contents))


@dataclass(frozen=True, slots=True)
class Looper:
    """Tests candidates; holds the oracle of the project that was asked about last."""

    judge: Judge

    def __call__(self, buggy: Buggy) -> dict[str, Any]:
        """The record of a bug. Raises Unjudged where the machine failed, and Changed where the project is another than it was."""
        place = buggy.line.place
        oracle, file = self.judge.oracle(buggy.suite), place.path.partition("/")[2]

        def test(text: str) -> tuple[bool | None, int]:
            if text == place.text:  # needs no run: its tests are those of the line
                return True, len(oracle.covered(file).get(place.line, ()))
            verdict = oracle.verdict(file, text, changed_lines(place.text, text))
            if verdict.infrastructure:
                raise Unjudged(verdict.reason)
            return verdict.label, verdict.tests

        baseline = oracle.baseline()
        slow_s = SLOW_S + 2 * (baseline.start_wall_s + sum(baseline.wall_s.values()))
        return {"id": buggy.id, **looped(mutants(buggy.line.text, place.line), place.text, test, slow_s=slow_s)}

    def close(self) -> None:
        """Put the oracle away."""
        self.judge.close()

"""The result of testing a program: its outcome, one of a closed set, and the reason."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ProgramOutcome(StrEnum):
    """What became of a program and its tests.

    NOT_JUDGEABLE: the test can't decide; at fault is the test, neither the program nor the machine.
    """

    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out_of_memory"
    NOT_JUDGEABLE = "not_judgeable"
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True, slots=True)
class Result:
    """The result of testing one program.

    reason: one line for people. output: what the program printed, cut to the limit. cpu_s, wall_s: CPU and clock seconds that it took.
    report: what a test for Python told of itself (`judge.REPORT`), as far as it came.
    """

    outcome: ProgramOutcome
    reason: str = ""
    output: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0
    report: str = ""

    @property
    def label(self) -> bool | None:
        """The label `tests_pass`: True, False, or None where the sandbox or the test is at fault, which says nothing about the program."""
        unknown = (ProgramOutcome.INFRASTRUCTURE, ProgramOutcome.NOT_JUDGEABLE)
        return None if self.outcome in unknown else self.outcome is ProgramOutcome.PASSED

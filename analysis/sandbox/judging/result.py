"""How the run of a program ended, in one of a closed set of ways."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Ending(StrEnum):
    """What became of a program and its tests."""

    PASSED = "passed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CRASHED = "crashed"
    OUT_OF_MEMORY = "out_of_memory"
    INFRASTRUCTURE = "infrastructure"


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on one program. reason: one line for people. output: what it printed, cut to the limit. cpu_s, wall_s: its seconds."""

    ending: Ending
    reason: str = ""
    output: str = ""
    cpu_s: float = 0.0
    wall_s: float = 0.0

    @property
    def label(self) -> bool | None:
        """tests_pass: True, False, or None where the sandbox failed, which says nothing about the program."""
        return None if self.ending is Ending.INFRASTRUCTURE else self.ending is Ending.PASSED

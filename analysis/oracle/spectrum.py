"""Which lines a failure may come from, by which tests run them: those that the failing tests run, and few others do. Pure.

References: Abreu, Zoeteweij & van Gemund (2006), who take Ochiai's coefficient for it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Suspect:
    """A line (from 1) of a file that failing tests run. failing, passing: how many of either run it. ochiai: from 0 to 1."""

    file: str
    line: int
    failing: int
    passing: int
    ochiai: float


def ochiai(failing: int, passing: int, all_failing: int) -> float:
    """failing / √(all_failing · (failing + passing)): the cosine between the tests that fail and those that run the line."""
    return failing / math.sqrt(all_failing * (failing + passing)) if failing else 0.0


def suspects(
    tests: Mapping[str, Mapping[int, Collection[str]]], failing: Collection[str], *, without: Collection[str] = ()
) -> list[Suspect]:
    """The lines that a failing test runs, the most suspicious first, and where they are alike in the order of files and lines.

    tests: those that run a line, by file and line (`Coverage.tests`). without: tests that count neither way, such as others that fail.
    """
    failed, left_out = frozenset(failing), frozenset(without) - frozenset(failing)
    found = []
    for file, by_line in tests.items():
        for line, running in by_line.items():
            if count := len(failed.intersection(running)):
                others = len(running) - count - len(left_out.intersection(running))
                found.append(Suspect(file, line, count, others, ochiai(count, others, len(failed))))
    return sorted(found, key=lambda each: (-each.ochiai, each.file, each.line))

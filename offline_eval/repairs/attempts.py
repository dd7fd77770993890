"""Lines that were repaired, with what tests said: who repairs what at which rank, with tests and without. Pure functions.

A repair is verified by a part of the tests, those that are seen; the rest are held back, so that it is known how often a verified repair is
wrong all the same.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...calibration.samples import Event
from .candidates import By, Candidate, of
from .samples import passes

# Of the candidates of an attempt, by its id; higher ones come first.
Order = Callable[[str, Candidate], float]


@dataclass(frozen=True, slots=True)
class Attempt:
    """A line that was to be repaired.

    group: what is independent of others: its project, or its program. source, kind: of its bug. failing: the tests that fail for it.
    known: how many tests of it are known. labels: of the candidates' texts, by `text_id`; None where there are no tests. loop: what testing
    mutants made of it; None where that is not done.
    """

    id: str
    group: str
    source: str
    kind: str
    candidates: Sequence[Candidate]
    failing: Sequence[str]
    known: int
    labels: Mapping[str, Any] | None
    loop: Mapping[str, Any] | None = None

    def ranked(self, by: By, order: Order | None = None) -> list[Candidate]:
        """The candidates of a source, the best first. order: another one than that in which they are shown."""
        found = of(by, self.candidates)
        return found if order is None else sorted(found, key=lambda each: order(self.id, each), reverse=True)

    def is_right(self, candidate: Candidate, event: Event) -> bool | None:
        """Whether the event happens; None where the tests did not tell."""
        return candidate["exact"] if event == "exact_match" else passes(candidate, self.labels)


def repaired_within(attempt: Attempt, candidates: Sequence[Candidate], event: Event, most: int) -> bool | None:
    """Whether one of the first candidates is right; None where only an unknown one may be."""
    said = [attempt.is_right(each, event) for each in candidates[:most]]
    return True if True in said else None if None in said else False


def seen_tests(attempt: Attempt, seed: int) -> Callable[[str], bool]:
    """Whether a test is among those that are seen: of those that fail for the bug half, and one at least; of the others about half."""

    def number(test: str) -> int:
        return int.from_bytes(hashlib.sha256(f"{seed}:{attempt.id}:{test}".encode()).digest()[:8])

    failing = sorted(attempt.failing, key=number)
    kept, held = set(failing[: math.ceil(len(failing) / 2)]), set(failing)
    return lambda test: test in kept if test in held else number(test) % 2 == 0


def is_verified(attempt: Attempt, candidate: Candidate, seen: Callable[[str], bool]) -> bool | None:
    """Whether a candidate passes the tests that are seen; None where that is unknown."""
    if candidate["exact"]:
        return True
    label = None if attempt.labels is None else attempt.labels.get(candidate["text_id"])
    if label is None or label["error"] == "unparsed":
        return None if label is None else False
    if not label["changed"] and label["tests_pass"] is not True:
        return None  # what decides was not among the tests that are known by name
    told = [test["error"] for test in label["changed"] if seen(test["test"])]
    return False if any(told) else None if None in told else True


def first_verified(attempt: Attempt, candidates: Sequence[Candidate], seen: Callable[[str], bool]) -> int | None:
    """The number, from 0, of the first candidate that passes the tests that are seen; None where none does."""
    return next((number for number, each in enumerate(candidates) if is_verified(attempt, each, seen)), None)

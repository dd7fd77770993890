"""The step loop: mutation and test without a model. The rules' candidates, in the order of the document, until the tests pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from ...analysis.python.source_text import UnreadableSource
from ...analysis.repairs.candidates import candidates
from ..study import Step
from ..suggested import without_trailing_space

MAX_TRIED = 60
# Mutants whose tests wait for something that never comes take this much longer than the tests take without them, and may be all there are.
SLOW_S, MAX_SLOW = 8.0, 3


class Looped(TypedDict):
    """What became of a bug. tried: how many candidates were tested, until one passed or there were no more. tests: that were run.

    passed: whether one did. exact: whether that is the text before the bug. gave_up: whether it ended because `MAX_SLOW` were too slow.
    """

    id: str
    tried: int
    tests: int
    passed: bool
    exact: bool
    gave_up: bool


LOOPED = Step("looped", "bug", Looped)


def mutants(wrong: str, line: int) -> list[str]:
    """The file with each candidate of the rules for a line, from 1, in the order of the document."""
    start = sum(len(each) + 1 for each in wrong.split("\n")[: line - 1])
    try:
        return [each.of(wrong) for each in candidates(wrong, "python", (start, start), most=MAX_TRIED)]
    except UnreadableSource:
        return []


def looped(texts: Sequence[str], right: str, test: Callable[[str], tuple[bool | None, int]], *, slow_s: float = SLOW_S) -> dict[str, Any]:
    """The record of a bug but for its id. test: whether a text passes, and how many tests were run for it. slow_s: what is too slow."""
    tried, tests, slow, passed, exact = 0, 0, 0, False, False
    for text in texts:
        before = time.perf_counter()
        verdict, ran = test(text)
        tried, tests, slow = tried + 1, tests + ran, slow + (time.perf_counter() - before > slow_s)
        if passed := verdict is True:
            exact = without_trailing_space(text) == without_trailing_space(right)
        if passed or slow == MAX_SLOW:
            break
    gave_up = slow == MAX_SLOW and not passed
    return {"tried": tried, "tests": tests, "passed": passed, "exact": exact, "gave_up": gave_up}

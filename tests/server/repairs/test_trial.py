"""Tests that run while repairs are still found."""

from __future__ import annotations

import asyncio
from functools import partial

from assay.server.repairs.found import Found
from assay.server.repairs.lines import Lines
from assay.server.repairs.trial import Trial
from assay.suggestion.repair.request import Repairs
from assay.suggestion.repair.verified import Verification, is_more_wanted

from .repair_of import OLD, repair_of

TEXT = f"{OLD}\n"
ONE, TWO, THREE, FOUR = (repair_of(name, name) for name in ("one", "two", "three", "four"))
LATE = "the time was up"


class Suite:
    """Tests that pass with the last words of a text; each run is waited for. asked: the words, in order."""

    def __init__(self, *right: str) -> None:
        self.asked: list[str] = []
        self.may_end = asyncio.Event()
        self._right = right

    async def judge(self, text: str) -> Verification:
        self.asked.append(text.strip())
        await self.may_end.wait()
        return Verification(text.strip() in self._right, 1, 0.1)


def trial(tests: Suite, passing: int | None = 1, *, begins: bool = True) -> Trial:
    return Trial(TEXT, tests.judge, partial(is_more_wanted, most=3, passing=passing), lambda _: None, begins=begins)


async def until_idle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_the_best_that_is_there_is_tried_while_more_are_found() -> None:
    tests, stopped = Suite("three"), asyncio.Event()
    tests.may_end.set()
    tried = trial(tests)
    tried.when_enough(stopped.set)
    tried.offer([TWO])
    await until_idle()
    assert tests.asked == ["two"]
    assert not stopped.is_set()
    tried.offer([ONE, TWO, THREE, FOUR])
    await stopped.wait()
    assert tests.asked == ["two", "one", "three"], "no more are tried once enough pass"
    assert tried.is_enough
    verified = await tried.of_all([ONE, TWO, THREE, FOUR], 9.0, LATE)
    assert [(repair.suggestion.id, said.passed) for repair, said in verified.judged] == [("one", False), ("two", False), ("three", True)]
    assert (verified.left, verified.why) == ((FOUR,), "")


async def test_nothing_is_tried_before_all_are_there_where_the_user_was_not_asked_yet() -> None:
    tests = Suite("one")
    tests.may_end.set()
    tried = trial(tests, begins=False)
    tried.offer([ONE])
    await until_idle()
    assert not tests.asked
    verified = await tried.of_all([ONE], 9.0, LATE)
    assert verified.passing == 1


async def test_what_is_still_tried_when_the_time_is_up_is_left() -> None:
    tests = Suite()
    verified = await trial(tests).of_all([ONE, TWO], 0.01, LATE)
    assert tests.asked == ["one"]
    assert (verified.judged, verified.left, verified.why) == ((), (ONE, TWO), LATE)


async def test_what_the_tests_said_of_the_same_text_is_not_asked_again() -> None:
    tests = Suite("two")
    tests.may_end.set()
    lines = Lines("file:///a.py", 1, 0, 1, "")
    tried = trial(tests, passing=None)
    tried.know(Found(lines, Repairs((ONE,), (), {}, None), {"one": Verification(True, 1, 0.1)}, (ONE, TWO)))
    assert not tried.is_enough
    verified = await tried.of_all([ONE, TWO], 9.0, LATE)
    assert tests.asked == ["two"]
    assert verified.passing == 2

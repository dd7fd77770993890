from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from assay.offline_eval.pool.threads import run


@dataclass
class Waits:
    """Squares numbers after a pause; counts how many are under way."""

    pause_s: float = 0.0
    fails: frozenset[int] = frozenset()
    under_way: int = 0
    most: int = 0
    begun: list[int] = field(default_factory=list)
    closed: int = 0
    closes: bool = True
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self) -> Callable[[int], int]:
        return Work(self)


@dataclass
class Work:
    of: Waits

    def __call__(self, number: int) -> int:
        with self.of.lock:
            self.of.begun.append(number)
            self.of.under_way += 1
            self.of.most = max(self.of.most, self.of.under_way)
        time.sleep(self.of.pause_s)
        with self.of.lock:
            self.of.under_way -= 1
        if number in self.of.fails:
            raise ValueError(f"{number} is not liked")
        return number * number

    def close(self) -> None:
        with self.of.lock:
            self.of.closed += 1
        if not self.of.closes:
            raise OSError("the server hung up")


def test_every_item_is_answered_once_and_no_more_are_under_way_than_there_are_threads() -> None:
    start = Waits(pause_s=0.01, fails=frozenset({2}))
    found = {each.item: each for each in run(start, range(20), 3)}
    assert found[2].lost == "ValueError: 2 is not liked"
    assert {n: each.answer for n, each in found.items() if n != 2} == {n: n * n for n in range(20) if n != 2}
    assert sorted(start.begun) == list(range(20))
    assert start.most == 3
    assert start.closed == 3


def test_items_are_taken_as_threads_come_free_and_none_after_the_iterator_is_closed() -> None:
    start = Waits(pause_s=0.02)
    answers = run(start, iter(range(1000)), 2)
    next(answers)
    answers.close()
    time.sleep(0.1)
    assert len(start.begun) <= 5


def test_where_no_more_items_can_be_made_those_before_are_finished_and_the_reason_is_raised() -> None:
    def items() -> Iterator[int]:
        yield from range(5)
        raise OSError("the disk is gone")

    found = []
    with pytest.raises(OSError, match="the disk is gone"):
        found.extend(each.answer for each in run(Waits(pause_s=0.01), items(), 2))
    assert sorted(found) == [n * n for n in range(5)]


def test_a_server_that_answers_more_questions_as_fast_gets_more_and_no_more_than_it_may() -> None:
    start = Waits(pause_s=0.05)
    assert len(list(run(start, range(300), 2, most=12))) == 300
    assert start.most == 12
    assert start.closed == 12


def test_a_server_that_takes_one_question_at_a_time_gets_few() -> None:
    turn, begun = threading.Lock(), list[int]()

    def begin() -> Callable[[int], int]:
        begun.append(1)

        def do(number: int) -> int:
            with turn:
                time.sleep(0.005)
            return number

        return do

    assert len(list(run(begin, range(600), 2, most=64))) == 600
    assert len(begun) <= 16, "it is never faster"

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.inference.model import Generation, StopReason, Timings, Token
from assay.server.requests import scheduler
from assay.server.requests.scheduler import Priority, Scheduler, Superseded, Want, agrees, fits, typed_since

TRUTH = "return total + 1\n"
AT = Want("file:///a.py", "def f(total):\n    ", "\n\nprint(f(1))\n", "line")


def generation(text: str) -> Generation:
    tokens = tuple(Token(ord(c), c.encode(), -0.1, -3.0, 0.2) for c in text)
    return Generation(text, tokens, StopReason.LINE, Timings(1.0, 1.0, 10, 0))


class Writer:
    """Writes what it is told to, one character at each step of the event loop's clock; keeps what it was asked, and how that ended."""

    def __init__(self, text: str = "return total + 1", step_s: float = 0.002) -> None:
        self.text, self.step_s = text, step_s
        self.asked: list[Want] = []
        self.cancelled: list[Want] = []
        self.running = self.most_running = 0

    async def work(self, want: Want, tell: Callable[[str], None]) -> tuple[Generation, ...]:
        self.asked.append(want)
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        try:
            # what is missing of the line, whatever of it was typed
            typed = want.prefix.rpartition("    ")[2]
            text = self.text[len(typed) :] if self.text.startswith(typed) else "other"
            for end in range(1, len(text) + 1):
                await asyncio.sleep(self.step_s)
                tell(text[:end])
            return (generation(text),)
        except asyncio.CancelledError:
            self.cancelled.append(want)
            raise
        finally:
            self.running -= 1


def typing(typed: str, **changes: object) -> Want:
    return replace(AT, prefix=AT.prefix + typed, **changes)  # type: ignore[arg-type]


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.001)


@pytest.fixture
def done() -> list[tuple[Want, tuple[Generation, ...]]]:
    return []


@pytest.fixture
def writer() -> Writer:
    return Writer()


@pytest.fixture
def one(writer: Writer, done: list[tuple[Want, tuple[Generation, ...]]]) -> Scheduler:
    return Scheduler(writer.work, lambda want, generations: done.append((want, generations)))


async def test_a_running_generation_goes_on_while_what_is_typed_agrees_with_it(one: Scheduler, writer: Writer) -> None:
    first = asyncio.create_task(one.ask(AT))
    await asyncio.sleep(0.006)
    second = asyncio.create_task(one.ask(typing("ret")))
    found = await second
    assert (found.typed, found.joined, found.generations[0].text) == ("ret", True, "return total + 1")
    assert (await first).typed == ""
    assert writer.asked == [AT]


async def test_what_is_typed_faster_than_the_model_writes_waits_for_it(one: Scheduler, writer: Writer) -> None:
    asyncio.create_task(one.ask(AT)).add_done_callback(lambda task: task.exception())
    await asyncio.sleep(0)
    assert (await one.ask(typing("return t"))).typed == "return t"
    assert len(writer.asked) == 1


async def test_a_running_generation_that_no_longer_agrees_is_cancelled_and_asked_anew(one: Scheduler, writer: Writer) -> None:
    first = asyncio.create_task(one.ask(AT))
    await asyncio.sleep(0.006)
    second = await one.ask(typing("x"))
    with pytest.raises(Superseded):
        await first
    assert second.generations[0].text == "other"
    assert (writer.asked, writer.cancelled) == ([AT, typing("x")], [AT])


async def test_what_was_typed_ahead_of_the_model_is_asked_anew_when_the_model_writes_something_else(one: Scheduler, writer: Writer) -> None:
    asyncio.create_task(one.ask(AT)).add_done_callback(lambda task: task.exception())
    await asyncio.sleep(0)
    found = await one.ask(typing("rx"))
    assert (found.typed, found.generations[0].text) == ("", "other")
    assert writer.cancelled == [AT]


async def test_of_those_that_wait_only_the_latest_is_worked_on(one: Scheduler, writer: Writer) -> None:
    waiting = [asyncio.create_task(one.ask(replace(typing("x" * n), delay_s=0.02))) for n in range(5)]
    outcomes = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(outcome) is Superseded for outcome in outcomes] == [True] * 4 + [False]
    assert [want.prefix for want in writer.asked] == [typing("xxxx").prefix]


async def test_an_invoked_request_goes_before_an_automatic_one_of_the_same_text(one: Scheduler, writer: Writer) -> None:
    elsewhere = asyncio.create_task(one.ask(replace(AT, kind="block")))
    automatic = asyncio.create_task(one.ask(replace(AT, delay_s=0.01)))
    await asyncio.sleep(0)
    invoked = asyncio.create_task(one.ask(replace(AT, priority=Priority.INVOKED, count=3)))
    later = asyncio.create_task(one.ask(replace(AT, kind="block")))
    await asyncio.gather(elsewhere, automatic, invoked, later, return_exceptions=True)
    assert invoked.exception() is None
    assert next(w for w in writer.asked if w.count == 3)
    assert [type(task.exception()) for task in (elsewhere, automatic)] == [Superseded, Superseded]
    assert (later.exception(), writer.asked[-1].kind) == (None, "block")


async def test_a_request_is_as_urgent_as_who_joined_it(one: Scheduler, writer: Writer) -> None:
    automatic = asyncio.create_task(one.ask(AT))
    await asyncio.sleep(0.006)
    invoked = asyncio.create_task(one.ask(replace(AT, priority=Priority.INVOKED)))
    await asyncio.sleep(0)
    other = asyncio.create_task(one.ask(replace(AT, kind="block")))
    for task in (automatic, invoked, other):
        assert (await task).generations[0].text == "return total + 1"
    assert (writer.asked, writer.cancelled) == ([AT, replace(AT, kind="block")], [])


async def test_a_cancelled_request_leaves_the_generation_to_the_next_one_that_fits(one: Scheduler, writer: Writer) -> None:
    first = asyncio.create_task(one.ask(AT))
    await asyncio.sleep(0.006)
    first.cancel()
    assert (await one.ask(typing("r"))).joined
    assert writer.cancelled == []


async def test_a_generation_that_nobody_waits_for_ends_soon(
    one: Scheduler, writer: Writer, done: list[tuple[Want, tuple[Generation, ...]]]
) -> None:
    writer.step_s = 10.0
    first = asyncio.create_task(one.ask(AT))
    await asyncio.sleep(0.006)
    first.cancel()
    await until(lambda: not one.busy)
    assert (writer.cancelled, done, one.busy) == ([AT], [], False)


async def test_a_generation_that_was_finished_is_told_though_nobody_waits(
    one: Scheduler, done: list[tuple[Want, tuple[Generation, ...]]]
) -> None:
    first = asyncio.create_task(one.ask(AT))
    await asyncio.sleep(0.006)
    first.cancel()
    await until(lambda: bool(done))
    assert [(want, made[0].text) for want, made in done] == [(AT, "return total + 1")]


async def test_what_is_prepared_waits_for_nothing_and_gives_way_to_every_request(one: Scheduler, writer: Writer) -> None:
    one.prepare(AT)
    await asyncio.sleep(0.006)
    one.prepare(typing("never"))
    assert (await one.ask(typing("re"))).joined
    one.prepare(AT)
    await asyncio.sleep(0.006)
    await one.ask(replace(AT, uri="file:///b.py"))
    assert writer.asked == [AT, AT, replace(AT, uri="file:///b.py")]
    assert writer.cancelled == [AT]


async def test_two_that_ask_the_same_get_one_generation(one: Scheduler, writer: Writer) -> None:
    waiting = replace(AT, delay_s=0.01)
    both = await asyncio.gather(one.ask(waiting), one.ask(waiting))
    assert both[0].generations is both[1].generations
    assert len(writer.asked) == 1


async def test_an_error_of_the_model_reaches_who_waits_and_the_next_request_works() -> None:
    async def work(want: Want, tell: Callable[[str], None]) -> tuple[Generation, ...]:
        if want == AT:
            raise ValueError("broken")
        return (generation("x"),)

    one = Scheduler(work, lambda *_: None)
    with pytest.raises(ValueError, match="broken"):
        await one.ask(AT)
    assert (await one.ask(typing("y"))).generations[0].text == "x"


async def test_after_the_end_every_request_is_superseded(one: Scheduler, writer: Writer) -> None:
    running = asyncio.create_task(one.ask(AT))
    await asyncio.sleep(0.006)
    await one.close()
    for task in (running, asyncio.create_task(one.ask(AT))):
        with pytest.raises(Superseded):
            await task
    assert writer.running == 0


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_whatever_comes_every_request_ends_once_one_job_runs_at_a_time_and_answers_agree(seed: int) -> None:
    rng = random.Random(seed)

    async def session() -> None:
        writer = Writer(step_s=0.0005)
        one = Scheduler(writer.work, lambda *_: None)
        tasks: list[tuple[Want, asyncio.Task[scheduler.Answer]]] = []
        typed = ""
        for _ in range(25):
            action = rng.random()
            if action < 0.5:
                typed = TRUTH[: len(typed) + 1] if rng.random() < 0.8 else typed + "x"
            elif action < 0.6:
                typed = typed[:-1]
            elif action < 0.7 and tasks:
                rng.choice(tasks)[1].cancel()
            elif action < 0.75:
                one.prepare(typing(typed))
            want = typing(typed, priority=rng.choice((Priority.AUTOMATIC, Priority.INVOKED)), delay_s=rng.choice((0.0, 0.001)))
            tasks.append((want, asyncio.create_task(one.ask(want))))
            await asyncio.sleep(rng.choice((0, 0.0005, 0.003)))
        outcomes = await asyncio.wait_for(asyncio.gather(*(task for _, task in tasks), return_exceptions=True), 60)
        assert writer.most_running == 1
        for (want, _), outcome in zip(tasks, outcomes, strict=True):
            assert isinstance(outcome, (scheduler.Answer, Superseded, asyncio.CancelledError))
            if isinstance(outcome, scheduler.Answer) and outcome.typed:
                assert want.prefix.endswith(outcome.typed)
                assert outcome.generations[0].text.startswith(outcome.typed)
        last = outcomes[-1]
        assert isinstance(last, scheduler.Answer), last
        await one.close()
        assert writer.running == 0

    asyncio.run(session())


@pytest.mark.parametrize(
    ("change", "typed"),
    [
        ({}, ""),
        ({"prefix": AT.prefix + "re"}, "re"),
        ({"prefix": AT.prefix[:-1]}, None),
        ({"prefix": AT.prefix + "f(", "suffix": ")" + AT.suffix}, "f("),
        ({"suffix": "x" + AT.suffix}, None),
        ({"uri": "file:///b.py"}, None),
        ({"prefix": AT.prefix + "x" * 1_001}, None),
    ],
)
def test_what_was_typed_since(change: dict[str, str], typed: str | None) -> None:
    assert typed_since(AT, replace(AT, **change)) == typed  # type: ignore[arg-type]


def test_what_was_typed_is_found_in_a_window_that_has_moved() -> None:
    long = replace(AT, prefix="".join(f"line_{n} = {n}\n" for n in range(200)))
    assert typed_since(long, replace(long, prefix=long.prefix[512:] + "abc")) == "abc"
    assert typed_since(long, replace(long, prefix="y" + long.prefix[513:] + "abc")) is None


def test_newlines_of_the_document_agree_with_the_models() -> None:
    assert agrees("a\r\nb", "a\nb c")
    assert not agrees("a\r\nb", "ab")


def test_a_line_typed_along_a_block_is_answered_by_the_block_and_not_the_other_way_round() -> None:
    block = replace(AT, kind="block")
    assert fits(block, "return", typing("re"))
    assert not fits(block, "return", AT)
    assert not fits(AT, "return", typing("re", kind="block"))

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.inference.model import Generation, StopReason, Timings, Token
from assay.server.model.request import GenerationRequest, GenerationResult
from assay.server.model.scheduler import Scheduler, Superseded, typed_since

from ..wanted import wanted

TRUTH = "return total + 1\n"
AT = wanted("def f(total):\n    ", "\n\nprint(f(1))\n")


def generation(text: str) -> Generation:
    tokens = tuple(Token(ord(c), c.encode(), -0.1, -3.0, 0.2) for c in text)
    return Generation(text, tokens, StopReason.LINE, Timings(1.0, 1.0, 10, 0))


class Writer:
    """Writes what it is told to, one character at each step of the event loop's clock; keeps what it was asked, and how that ended."""

    def __init__(self, text: str = "return total + 1", step_s: float = 0.002) -> None:
        self.text, self.step_s = text, step_s
        self.asked: list[GenerationRequest] = []
        self.cancelled: list[GenerationRequest] = []
        self.done: list[tuple[GenerationRequest, str]] = []
        self.running = self.most_running = 0

    async def work(self, want: GenerationRequest, tell: Callable[[str], None]) -> GenerationResult:
        self.asked.append(want)
        self.running += 1
        self.most_running = max(self.running, self.most_running)
        try:
            # what is missing of the line, whatever of it was typed
            typed = want.place.prefix.rpartition("    ")[2]
            text = self.text[len(typed) :] if self.text.startswith(typed) else "other"
            for end in range(1, len(text) + 1):
                await asyncio.sleep(self.step_s)
                tell(text[:end])
            self.done.append((want, text))
            return GenerationResult((generation(text),), want.place.kind)
        except asyncio.CancelledError:
            self.cancelled.append(want)
            raise
        finally:
            self.running -= 1


def changed(request: GenerationRequest, **changes: Any) -> GenerationRequest:
    """With other fields of the request or of its place."""
    of_place = {name: changes.pop(name) for name in ("prefix", "suffix", "kind") if name in changes}
    return replace(request, place=replace(request.place, **of_place), **changes)


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.001)


def typing(typed: str, **changes: Any) -> GenerationRequest:
    return changed(AT, prefix=AT.place.prefix + typed, **changes)


@pytest.fixture
def writer() -> Writer:
    return Writer()


@pytest.fixture
def one(writer: Writer) -> Scheduler:
    return Scheduler(writer.work)


async def test_a_running_generation_goes_on_while_what_is_typed_agrees_with_it(one: Scheduler, writer: Writer) -> None:
    first = asyncio.create_task(one.ask(AT))
    await asyncio.sleep(0.006)
    second = asyncio.create_task(one.ask(typing("ret")))
    found = await second
    assert (found.typed, found.source, found.generations[0].text) == ("ret", "running", "urn total + 1")
    assert (await first).typed == ""
    assert writer.asked == [AT]


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
    assert [want.place.prefix for want in writer.asked] == [typing("xxxx").place.prefix]


async def test_an_invoked_request_goes_before_an_automatic_one_of_the_same_text(one: Scheduler, writer: Writer) -> None:
    elsewhere = asyncio.create_task(one.ask(changed(AT, kind="block")))
    automatic = asyncio.create_task(one.ask(changed(AT, delay_s=0.01)))
    await asyncio.sleep(0)
    invoked = asyncio.create_task(one.ask(changed(AT, invoked=True, count=3)))
    later = asyncio.create_task(one.ask(changed(AT, kind="block")))
    await asyncio.gather(elsewhere, automatic, invoked, later, return_exceptions=True)
    assert invoked.exception() is None
    assert next(w for w in writer.asked if w.count == 3)
    assert [type(task.exception()) for task in (elsewhere, automatic)] == [Superseded, Superseded]
    assert (later.exception(), writer.asked[-1].place.kind) == (None, "block")


async def test_a_request_is_as_urgent_as_who_joined_it(one: Scheduler, writer: Writer) -> None:
    automatic = asyncio.create_task(one.ask(AT))
    await asyncio.sleep(0.006)
    invoked = asyncio.create_task(one.ask(changed(AT, invoked=True)))
    await asyncio.sleep(0)
    other = asyncio.create_task(one.ask(changed(AT, kind="block")))
    for task in (automatic, invoked, other):
        assert (await task).generations[0].text == "return total + 1"
    assert (writer.asked, writer.cancelled) == ([AT, changed(AT, kind="block")], [])


async def test_a_generation_that_nobody_waits_for_ends_soon(one: Scheduler, writer: Writer) -> None:
    writer.step_s = 10.0
    first = asyncio.create_task(one.ask(AT))
    await asyncio.sleep(0.006)
    first.cancel()
    await until(lambda: bool(writer.cancelled))
    assert (writer.cancelled, writer.done, one.busy) == ([AT], [], False)


async def test_what_is_prepared_waits_for_nothing_and_gives_way_to_every_request(one: Scheduler, writer: Writer) -> None:
    one.prepare(AT)
    await asyncio.sleep(0.006)
    one.prepare(typing("re"))
    assert (await one.ask(typing("re"))).source == "running"
    one.prepare(AT)
    await asyncio.sleep(0.006)
    await one.ask(changed(AT, uri="file:///b.py"))
    assert writer.asked == [AT, AT, changed(AT, uri="file:///b.py")]
    assert writer.cancelled == [AT]


async def test_preparing_elsewhere_ends_what_was_prepared_and_nothing_that_is_waited_for(one: Scheduler, writer: Writer) -> None:
    here, elsewhere = changed(AT, speculative=True), changed(AT, uri="file:///b.py", speculative=True)
    one.prepare(here)
    await asyncio.sleep(0.006)
    one.prepare(elsewhere)
    await until(lambda: bool(writer.done))
    asked = asyncio.create_task(one.ask(AT))
    await asyncio.sleep(0.006)
    one.prepare(elsewhere)
    assert (await asked).source == "model"
    assert writer.asked == [here, elsewhere, AT]
    assert writer.cancelled == [here]


async def test_an_error_of_the_model_reaches_who_waits_and_the_next_request_works() -> None:
    async def work(want: GenerationRequest, tell: Callable[[str], None]) -> GenerationResult:
        if want == AT:
            raise ValueError("broken")
        return GenerationResult((generation("x"),), "line")

    one = Scheduler(work)
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
        one = Scheduler(writer.work)
        tasks: list[tuple[GenerationRequest, asyncio.Task[GenerationResult]]] = []
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
            want = typing(typed, invoked=rng.choice((False, True)), delay_s=rng.choice((0.0, 0.001)))
            tasks.append((want, asyncio.create_task(one.ask(want))))
            await asyncio.sleep(rng.choice((0, 0.0005, 0.003)))
        outcomes = await asyncio.wait_for(asyncio.gather(*(task for _, task in tasks), return_exceptions=True), 60)
        assert writer.most_running == 1
        for (want, _), outcome in zip(tasks, outcomes, strict=True):
            assert isinstance(outcome, (GenerationResult, Superseded, asyncio.CancelledError))
            if isinstance(outcome, GenerationResult):
                line = want.place.prefix.rpartition("    ")[2] + (outcome.generations[0].text if outcome.generations else "")
                assert line == writer.text or line.endswith("other")
                assert want.place.prefix.endswith(outcome.typed)
        last = outcomes[-1]
        assert isinstance(last, GenerationResult), last
        await one.close()
        assert writer.running == 0

    asyncio.run(session())


def test_what_was_typed_is_found_in_a_window_that_has_moved() -> None:
    long = changed(AT, prefix="".join(f"line_{n} = {n}\n" for n in range(200)))
    assert typed_since(long, changed(long, prefix=long.place.prefix[512:] + "abc")) == "abc"
    assert typed_since(long, changed(long, prefix="y" + long.place.prefix[513:] + "abc")) is None


async def test_what_the_editor_closed_while_the_model_wrote_is_not_suggested_again(one: Scheduler, writer: Writer) -> None:
    writer.text = "f(x)"
    first = asyncio.create_task(one.ask(AT))
    await asyncio.sleep(0.004)
    found = await one.ask(typing("f(", suffix=")" + AT.place.suffix))
    assert (found.typed, found.source, [generation.text for generation in found.generations]) == ("f(", "running", ["x"])
    assert (await first).generations[0].text == "f(x)"


async def test_what_a_time_limit_cut_off_before_it_had_a_text_is_given_with_its_timings() -> None:
    cut_off = replace(generation(""), stopped_by=StopReason.TIME, timings=Timings(850.0, 50.0, 10, 0))

    async def work(request: GenerationRequest, _: Callable[[str], None]) -> GenerationResult:
        return GenerationResult((cut_off,), request.place.kind, timed_out=True)

    scheduler = Scheduler(work)
    result = await scheduler.ask(AT)
    assert result.timed_out
    assert result.generations == (cut_off,)
    await scheduler.close()

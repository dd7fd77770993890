"""Requests to a real model in its process, without an editor."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from tiny_gguf import scripted, write_tiny_gguf

from assay.calibration.confidence import uncalibrated
from assay.calibration.trust import Trust
from assay.inference.completion.settings import Settings
from assay.inference.model import Generation, StopReason, Timings, Token
from assay.inference.opening import ModelChoice
from assay.server.confidence.calibrators import Calibrators
from assay.server.features.completions import inline_item
from assay.server.model.cache import GenerationCache
from assay.server.model.ipc import arguments_of, model_part
from assay.server.model.live import LiveModel
from assay.server.model.request import GenerationRequest, GenerationResult, ReadAlong
from assay.server.requests.offers import identity_of
from assay.server.requests.request_ending import RequestCounts
from assay.server.requests.requests import Requests
from assay.server.settings.settings import DEFAULTS, LiveSettings
from assay.server.tracking.event_writer import EventWriter, LogTarget
from assay.suggestion.positions import Position, Range
from assay.suggestion.suggestion import Place, Suggestion

from ..client import wait_until
from ..logged import requests_of

AT = Range(Position(0, 2), Position(0, 2))
ASK = GenerationRequest("file:///a.py", Place("x?", "", AT, language="python"), invoked=True, count=DEFAULTS.alternatives)
BY_ITSELF = replace(ASK, invoked=False, count=1)
SHARED = pytest.mark.asyncio(loop_scope="module")


async def texts(requests: Requests, ask: GenerationRequest) -> list[str]:
    return [suggestion.text for suggestion in await requests.suggestions(ask, lambda: True)]


@asynccontextmanager
async def loaded(model: Path) -> AsyncIterator[LiveModel]:
    live = LiveModel(ModelChoice(str(model)), Settings(), on_state=lambda _: None)
    await live.start()
    try:
        await live.loaded()
        yield live
    finally:
        await live.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def answering(answering_gguf: Path) -> AsyncIterator[LiveModel]:
    """One process with the model that answers, for all tests here that need no other."""
    async with loaded(answering_gguf) as live:
        yield live


@asynccontextmanager
async def requests_to(
    live: LiveModel, settings: Callable[[], LiveSettings] = lambda: DEFAULTS, log_file: Path | None = None, **more: Any
) -> AsyncIterator[tuple[Requests, LiveModel, EventWriter, threading.Event]]:
    """Requests, their loaded model, what writes their log, and what the thread waits for that reads a project's calibrators."""
    may_read, events = threading.Event(), EventWriter(None if log_file is None else LogTarget(log_file))
    may_read.set()
    calibrators = Calibrators(lambda *_: Trust(may_read.wait()))
    live.cache.forget()
    try:
        yield Requests(live, calibrators, RequestCounts(), events, settings, **more), live, events, may_read
        await wait_until(lambda: not live.scheduler.busy)
    finally:
        await calibrators.close()


def ended(log: EventWriter, file: Path) -> list[dict[str, Any]]:
    """How the requests ended; the log is closed then."""
    log.close()
    return requests_of(file)


@SHARED
async def test_a_request_waits_for_calibrators_no_longer_than_it_may(answering: LiveModel, tmp_path: Path) -> None:
    settings, given = DEFAULTS, list[int]()
    (tmp_path / ".assay" / "calibrators").mkdir(parents=True)
    (tmp_path / ".assay" / "calibrators" / "a.json").touch()

    def on_given(_: GenerationRequest, suggestions: Sequence[Suggestion]) -> None:
        given.append(len(suggestions))

    async with requests_to(answering, lambda: settings, tmp_path / "log", on_given=on_given) as (requests, _, log, may_read):
        assert await texts(requests, ASK)
        settings = replace(DEFAULTS, max_ms=300)
        may_read.clear()
        try:
            assert await texts(requests, replace(ASK, root=tmp_path)) == []
        finally:
            may_read.set()
            settings = DEFAULTS
        last = ended(log, tmp_path / "log")[-1]
        assert (last["outcome"], last["reason"]) == ("timed_out", "the calibrators were not read after 300 ms")
        assert given[1:] == [0], "an editor takes away what it showed where it is given nothing, for whatever reason"
        assert (await texts(requests, replace(ASK, root=tmp_path)))[0] == " answer"


async def test_a_character_that_is_not_seen_comes_by_itself_only_where_the_file_has_it_and_the_log_says_so(tmp_path: Path) -> None:
    hidden = "x = 1\u200f".encode()
    model = write_tiny_gguf(tmp_path / "model.gguf", scripted(hidden, b"\n", prompt=b"?"))
    async with loaded(model) as live, requests_to(live, log_file=tmp_path / "log") as (requests, _, log, _):
        assert await texts(requests, BY_ITSELF) == []
        assert hidden.decode() in await texts(requests, ASK)
        place = replace(BY_ITSELF.place, language="plaintext", suffix="\ny = 2\u200f\n")
        assert await texts(requests, replace(BY_ITSELF, place=place)) == [hidden.decode()]
        reasons = [(each["outcome"], each["reason"]) for each in ended(log, tmp_path / "log")]
        assert reasons[0] == ("empty", "the text has a character that a reader does not see")
        assert reasons[1][0] == "produced"


@SHARED
@pytest.mark.slow
async def test_what_a_request_waits_on_purpose_is_not_counted(answering: LiveModel) -> None:
    async with requests_to(answering, lambda: replace(DEFAULTS, max_ms=3_000, delay=3_200.0)) as (requests, _, _, _):
        assert await texts(requests, BY_ITSELF) == [" answer"]


@pytest.mark.parametrize(("ends", "closed"), [("\n", ""), ("\r\n", ")"), ("\n", "\n}")])
def test_a_generation_is_the_same_one_at_each_keystroke(ends: str, closed: str) -> None:
    text = "\n    g(x, [1])\n    return f(x" + (closed or ")")
    made = Generation(text, tuple(Token(0, c.encode(), -0.1, -3.0, 0.2) for c in text), StopReason.BLOCK, Timings(1.0, 1.0, 10, 0))
    memory, prefix, suffix = GenerationCache(), ends.join(f"line {number}" for number in range(100)), f"{ends}last"
    memory.keep("u", prefix, suffix, "block", (made,))
    identities = {}
    for count in range(len(text) - 4):
        typed = text[:count].replace("\n", ends)
        gained = closed.replace("\n", ends) if count > 20 else ""
        found = memory.find("u", prefix + typed, gained + suffix, "block")
        ask = GenerationRequest("u", Place(prefix + typed, gained + suffix, AT), invoked=False)
        (rest,) = found.generations
        identities[count] = identity_of(ask, GenerationResult((rest,), "block", found.typed, "memory"), rest)
    assert len(set(identities.values())) == 1
    other = GenerationRequest("u", Place(prefix + "!", suffix, AT), invoked=False)
    assert identity_of(other, GenerationResult((made,), "block"), made) not in identities.values()


async def test_behind_an_accepted_suggestion_its_next_kind_is_prepared_unless_files_are_to_be_read(tmp_path: Path) -> None:
    model = write_tiny_gguf(tmp_path / "model.gguf", scripted(b"(x):", b"\n", prompt=b"f"))
    chosen = [DEFAULTS]
    ask = GenerationRequest("u", Place("def f", "", AT, language="python"), memory=ReadAlong(DEFAULTS.memory))
    async with loaded(model) as live, requests_to(live, lambda: chosen[0]) as (requests, *_):
        (suggestion,) = await requests.suggestions(ask, lambda: True)
        assert (suggestion.kind, suggestion.text) == ("line", "(x):")
        await wait_until(lambda: not live.scheduler.busy)
        assert requests.accepted(suggestion.id) is not None
        await wait_until(lambda: not live.scheduler.busy)
        assert live.cache.find("u", "def f(x):", "", "function") is not None
        live.cache.forget()
        (suggestion,) = await requests.suggestions(ask, lambda: True)
        await wait_until(lambda: not live.scheduler.busy)
        chosen[0] = replace(DEFAULTS, memory="off")
        assert requests.accepted(suggestion.id) is not None
        assert not live.scheduler.busy


def made_of(text: str) -> Generation:
    return Generation(text, tuple(Token(0, c.encode(), -0.1, -3.0, 0.2) for c in text), StopReason.LINE, Timings(1.0, 1.0, 10, 0))


@SHARED
async def test_what_was_prepared_as_another_choice_does_not_come_by_itself(answering: LiveModel, tmp_path: Path) -> None:
    place = Place("def f(x):\n    y = x + 1\n    ", "\n    return y\n", AT, language="python")
    async with requests_to(answering, lambda: replace(DEFAULTS, speculate=False), tmp_path / "log") as (requests, live, log, _):
        said_already, other = made_of("return y"), made_of("z = g(y)")
        live.cache.keep("u", place.prefix, place.suffix, "line", (said_already, other, other, other))
        assert await texts(requests, GenerationRequest("u", place, invoked=False)) == []
        assert await texts(requests, GenerationRequest("u", place, invoked=True, count=DEFAULTS.alternatives)) == ["z = g(y)"]
    assert [each["outcome"] for each in ended(log, tmp_path / "log")] == ["empty", "produced"]


@SHARED
@pytest.mark.parametrize(("others", "source"), [((), "model"), (("return x",), "memory")])
async def test_who_asks_gets_more_than_what_typing_left(answering: LiveModel, tmp_path: Path, others: Sequence[str], source: str) -> None:
    before, after = "def f(x):\n    y = x + 1\n    ", "\n    return y\n"
    async with requests_to(answering, lambda: replace(DEFAULTS, speculate=False), tmp_path / "log") as (requests, live, log, _):
        live.cache.keep("u", before, after, "line", tuple(made_of(text) for text in ("return z", *others, "z = 1")))
        along = GenerationRequest("u", Place(before + "re", after, AT, language="python"), invoked=True, count=DEFAULTS.alternatives)
        await requests.suggestions(along, lambda: True)
    assert [each["source"] for each in ended(log, tmp_path / "log")] == [source]


@SHARED
async def test_where_the_model_adds_nothing_it_is_not_asked_twice(answering: LiveModel, tmp_path: Path) -> None:
    async with requests_to(answering, log_file=tmp_path / "log") as (requests, live, log, _):
        live.cache.keep(ASK.uri, ASK.place.prefix, "", "line", (made_of(" "),))
        assert await texts(requests, ASK) == []
    assert [(each["outcome"], each["source"]) for each in ended(log, tmp_path / "log")] == [("empty", "memory")]


@SHARED
async def test_who_dismisses_suggestions_waits_longer_for_the_next(answering: LiveModel, tmp_path: Path) -> None:
    async with requests_to(answering, lambda: replace(DEFAULTS, speculate=False), tmp_path / "log") as (requests, _, log, _):
        (first,) = await requests.suggestions(BY_ITSELF, lambda: True)
        requests.rejected("another")
        for _number in range(3):
            requests.rejected(first.id)
        assert await texts(requests, replace(BY_ITSELF, uri="file:///b.py"))
    before, after = [each["timings_ms"]["waited"] for each in ended(log, tmp_path / "log")]
    assert before < 20 < 150 < after


@SHARED
async def test_what_the_model_saw_is_told_while_it_prepares_what_may_be_asked_next(answering: LiveModel) -> None:
    async with requests_to(answering) as (requests, live, _, _):
        first, *_ = await requests.suggestions(ASK, lambda: True)
        given = requests.find(first.id)
        live.prepare(replace(given.request, place=replace(given.request.place, prefix="y?")), again=True)
        assert live.scheduler.busy
        assert [seen.part for seen in (await requests.explain(given)).seen] == ["the text before the cursor"]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
def test_neovim_is_given_lines_as_it_parts_them(ends: str) -> None:
    suggestion = Suggestion("0" * 12, f"if x:{ends}    y()", AT, "block", uncalibrated("exact_match"), {}, {})
    assert inline_item(suggestion, line_feeds=True)["insertText"] == "if x:\n    y()"
    assert inline_item(suggestion, line_feeds=False)["insertText"] == suggestion.text


@SHARED
async def test_on_a_busy_machine_comes_what_is_finished_when_the_time_is_up(answering: LiveModel, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = list[GenerationRequest]()

    async def complete(request: GenerationRequest, **_: Any) -> tuple[Generation, ...]:
        asked.append(request)
        return replace(made_of(""), stopped_by=StopReason.TIME), made_of("z = g(y)")

    async with requests_to(answering) as (requests, live, _, _):
        monkeypatch.setattr(live.process, "complete", complete)
        began = time.monotonic()
        assert await texts(requests, ASK) == ["z = g(y)"]
    waiting_since = model_part(replace(asked[0], max_ms=None)) | {"ends_at": time.monotonic() + 0.5}
    assert began + 8 < (asked[0].ends_at or 0) < began + DEFAULTS.max_ms / 1e3 - 0.9, "the answer arrives before the time is up"
    assert arguments_of(waiting_since)["max_ms"] <= 500


@SHARED
async def test_whoever_asks_and_gets_nothing_in_time_is_told_so_once(answering: LiveModel) -> None:
    settings, told = DEFAULTS, list[str]()
    async with requests_to(answering, lambda: settings, on_late=told.append) as (requests, live, _, _):
        assert live.process.pid is not None
        for _number in range(2):
            os.kill(live.process.pid, signal.SIGSTOP)
            settings = replace(DEFAULTS, max_ms=100)
            for ask in (BY_ITSELF, ASK, ASK):
                assert await texts(requests, replace(ask, uri=f"file:///{_number}.py")) == []
            os.kill(live.process.pid, signal.SIGCONT)
            settings = DEFAULTS
            assert await texts(requests, ASK)
    assert told == 2 * ["no suggestion: the model had nothing ready after 0.1 s (assay.maxMs)"]


@SHARED
async def test_of_several_suggestions_what_breaks_the_file_comes_last(answering: LiveModel) -> None:
    place = replace(ASK.place, prefix="x = (")
    async with requests_to(answering) as (requests, live, _, _):
        broken, whole = (replace(made_of(text), parses=parses) for text, parses in (("]", False), ("1)", True)))
        live.cache.keep(ASK.uri, place.prefix, place.suffix, "line", (broken, broken, broken, whole))
        assert await texts(requests, replace(ASK, place=place)) == ["1)", "]"]


@SHARED
@pytest.mark.slow
async def test_of_old_suggestions_the_texts_around_are_let_go_and_what_is_known_of_them_stays(answering: LiveModel) -> None:
    async with requests_to(answering) as (requests, live, _, _):
        first, *_ = await requests.suggestions(ASK, lambda: True)
        for number in range(40):
            await requests.suggestions(replace(BY_ITSELF, place=replace(ASK.place, prefix=f"{number}?")), lambda: True)
        given = requests.find(first.id)
        assert (given.request.place.prefix, given.has_texts, given.suggestion) == ("", False, first)
        told = await requests.explain(given)
        assert (told.seen, told.tokens) == ((), 2)
        await wait_until(lambda: not live.scheduler.busy)
        assert requests.accepted(first.id) is given
        assert not live.scheduler.busy

"""Requests to a real model in its process, without an editor."""

from __future__ import annotations

import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from assay.inference.completion import Settings
from assay.inference.opening import ModelChoice
from assay.server.calibrators import Calibrators
from assay.server.engine import Place
from assay.server.live import LiveModel
from assay.server.outcomes import Ending
from assay.server.positions import Position, Range
from assay.server.request_log import RequestLog
from assay.server.requests import Ask, Requests
from assay.server.settings import DEFAULTS, LiveSettings

AT = Range(Position(0, 2), Position(0, 2))
ASK = Ask("file:///a.py", Place("x?", "", AT, language="python"), invoked=True)


async def texts(requests: Requests, ask: Ask) -> list[str]:
    return [suggestion.text for suggestion in await requests.answer(ask, lambda: True)]


@asynccontextmanager
async def requests_to(
    model: Path, settings: Callable[[], LiveSettings] = lambda: DEFAULTS
) -> AsyncIterator[tuple[Requests, LiveModel, RequestLog, ThreadPoolExecutor]]:
    """Requests, their model, their log, and the thread that reads calibrators."""
    executor, log = ThreadPoolExecutor(1), RequestLog()
    calibrators = Calibrators(executor)
    live = LiveModel(ModelChoice(str(model)), Settings(), on_state=lambda _: None)
    await live.start()
    try:
        yield Requests(live, calibrators, log, settings), live, log, executor
    finally:
        await live.close()
        await calibrators.close()
        executor.shutdown()


async def test_a_request_waits_for_calibrators_no_longer_than_it_may(answering_gguf: Path, tmp_path: Path) -> None:
    settings, may_read = DEFAULTS, threading.Event()
    async with requests_to(answering_gguf, lambda: settings) as (requests, _, log, executor):
        assert await texts(requests, ASK)
        settings = replace(DEFAULTS, max_ms=300)
        executor.submit(may_read.wait)
        try:
            assert await texts(requests, replace(ASK, root=tmp_path)) == []
        finally:
            may_read.set()
        assert (log.latest()[-1].ending, log.latest()[-1].reason) == (Ending.TIMED_OUT, "the calibrators were not read after 300 ms")
        assert (await texts(requests, replace(ASK, root=tmp_path)))[0] == " answer"


async def test_what_a_request_waits_on_purpose_is_not_counted(answering_gguf: Path) -> None:
    async with requests_to(answering_gguf, lambda: replace(DEFAULTS, max_ms=1_000, delay=1_200.0)) as (requests, live, _, _):
        await live.loaded()
        assert await texts(requests, replace(ASK, invoked=False)) == [" answer"]

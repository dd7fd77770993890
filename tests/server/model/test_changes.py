"""Settings and models that change under a running server: a real server process and a real client."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tiny_gguf import scripted, write_tiny_gguf

from assay.inference.completion.settings import Settings
from assay.inference.opening import ModelChoice
from assay.server.model import live as model_watch
from assay.server.model.live import LiveModel
from assay.server.model.process import State

from ..client import URI, RpcError, place, started, wait_until
from ..logged import requests_of
from ..wanted import wanted


@asynccontextmanager
async def followed(model: str, on_state: Callable[[State], None] = lambda _: None, **more: Any) -> AsyncIterator[LiveModel]:
    live = LiveModel(ModelChoice(model), Settings(), on_state=on_state, **more)
    await live.start()
    try:
        yield live
    finally:
        await live.close()


@pytest.mark.slow
async def test_a_replaced_model_is_loaded_and_its_old_words_forgotten(answering_gguf: Path, tiny_gguf: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    shutil.copy(tiny_gguf, path)
    async with started(path) as client:
        before = (await client.ready())["model"]["id"]
        client.open(URI, "x?")
        await client.complete(URI, 0, 2)
        shutil.copy(answering_gguf, tmp_path / "new")
        (tmp_path / "new").replace(path)
        await client.heard("$/assay/didChangeStatus", "has changed")
        await client.heard("$/assay/didChangeStatus", "ready")
        assert (await client.ready())["model"]["id"] != before
        (item,) = await client.complete(URI, 0, 2)
        assert item["insertText"] == " answer"


@pytest.mark.slow
async def test_of_a_model_that_is_replaced_when_its_process_dies_no_old_word_is_given_as_the_new_ones(
    answering_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_watch, "LOOK_S", 3600.0)  # as long as the watch has not looked
    path, states = tmp_path / "model.gguf", list[State]()
    shutil.copy(answering_gguf, path)
    async with followed(str(path), on_state=states.append) as live:
        before = (await live.loaded()).fingerprint.id
        request = wanted("x?", invoked=True)
        assert (await live.generate(request)).generations[0].text == " answer"
        for other in (False, True):
            assert live.remembered(request) is not None
            if other:
                write_tiny_gguf(tmp_path / "new", scripted(b" another", b"\n"))
                (tmp_path / "new").replace(path)
            assert live.process.pid is not None
            os.kill(live.process.pid, signal.SIGKILL)
            await wait_until(lambda: live.process.state != "ready")
            assert ((await live.loaded()).fingerprint.id != before) == other
        assert live.remembered(request) is None
        assert (await live.generate(request)).generations[0].text == " another"
        assert states == ["ready", "loading", "ready", "loading", "ready"]


@pytest.mark.slow
async def test_a_request_waits_for_the_model_to_load_as_long_as_it_may_and_no_longer(answering_gguf: Path, log: Path) -> None:
    async with started(answering_gguf, options={"maxMs": 300, "log": {"path": str(log)}}) as client:
        while (pid := (await client.request("assay/status"))["process"]) is None:
            pass
        os.kill(pid, signal.SIGSTOP)
        client.open(URI, "x?")
        assert await client.complete(URI, 0, 2) == []
        assert (await client.outcomes())["timed_out"] == 1
        with pytest.raises(RpcError, match="the model is still loading"):
            await client.request("assay/context", place(URI, 0, 2))
        client.notify("workspace/didChangeConfiguration", {"settings": {"maxMs": 30_000}})
        early = client.ask("textDocument/inlineCompletion", place(URI, 0, 2) | {"context": {"triggerKind": 1}})
        assert (await client.request("assay/status"))["state"] == "loading"
        os.kill(pid, signal.SIGCONT)
        assert (await client.answer(early))["items"][0]["insertText"] == " answer"
        await client.leave()
    assert requests_of(log)[0]["reason"] == "the model is still loading after 300 ms"


@pytest.mark.slow
async def test_a_request_before_the_settings_is_answered_and_changes_leave_one_process(answering_gguf: Path, tiny_gguf: Path) -> None:
    async with started(tiny_gguf, "x?", uri=URI, configuration=True, answers=False) as client:
        early = client.ask("textDocument/inlineCompletion", place(URI, 0, 2))
        while not (asked := [request for request in client.requests if request["method"] == "workspace/configuration"]):
            await asyncio.sleep(0.01)
        client.answers = True
        client.send({"id": asked[0]["id"], "result": [{"model": str(answering_gguf), "context": {"prefixTokens": 8}}]})
        assert await client.answer(early) is not None
        await client.heard("$/assay/didChangeStatus", "ready")
        for count in range(6):
            client.configuration = {"model": str((answering_gguf, tiny_gguf)[count % 2])}
            client.notify("workspace/didChangeConfiguration", {"settings": None})
            await asyncio.sleep(0.02)
        await asyncio.sleep(1.0)
        pid = (await client.ready())["process"]
        children = Path(f"/proc/{client.process.pid}/task/{client.process.pid}/children")
        if children.exists():
            await wait_until(lambda: children.read_text().split() == [str(pid)])


@pytest.mark.slow
async def test_a_suggestion_stays_known_when_the_log_or_the_model_changes(answering_gguf: Path, tiny_gguf: Path, log: Path) -> None:
    async with started(answering_gguf, "x?") as client:
        item = (await client.complete(URI, 0, 2, invoked=True))[0]
        suggestion = item["command"]["arguments"][0]
        assert (await client.request("assay/explain", {"id": suggestion["id"]}))["seen"]
        client.notify("workspace/didChangeConfiguration", {"settings": {"log.path": str(log)}})
        while (await client.request("assay/status"))["log"]["path"] != str(log):
            await asyncio.sleep(0.02)
        assert (await client.outcomes())["produced"] == 1
        before = (await client.request("assay/status"))["model"]["id"]
        client.notify("workspace/didChangeConfiguration", {"settings": {"log.path": str(log), "model": str(tiny_gguf)}})
        while (status := await client.request("assay/status"))["model"] is None or status["model"]["id"] == before:
            await asyncio.sleep(0.05)
        assert (await client.request("assay/explain", {"id": suggestion["id"]}))["seen"] == []
        client.insert(URI, 2, 0, 2, item["insertText"])
        await client.request("workspace/executeCommand", {"command": "assay.accepted", "arguments": [suggestion]})
        where = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
        assert await client.request("textDocument/hover", where) is not None
        await client.complete(URI, 0, 9, invoked=True)
        assert sum((await client.outcomes()).values()) == 2
        await client.leave()
    assert requests_of(log)[-1]["model"] != before

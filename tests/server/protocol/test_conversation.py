from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ..client import TIMEOUT_S, URI, Client, RpcError, client_of, place, span, started, wait_until

pytestmark = pytest.mark.slow


async def test_a_whole_conversation(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
        assert (await code_of(client, "assay/status")) == -32002
        capabilities = (await client.initialize())["capabilities"]
        assert capabilities["inlineCompletionProvider"] is not None
        assert capabilities["textDocumentSync"]["change"] == 2
        assert capabilities["positionEncoding"] == "utf-16"
        assert capabilities["notebookDocumentSync"] == {"notebookSelector": [{"notebook": "*"}], "save": True}
        assert set(capabilities["executeCommandProvider"]["commands"]) == {
            "assay.accepted",
            "assay.acceptedPart",
            "assay.chooseRepair",
            "assay.forbidTests",
            "assay.pause",
            "assay.rejected",
            "assay.repair",
            "assay.repairTests",
            "assay.runTests",
            "assay.setDial",
            "assay.shown",
        }
        assert (await code_of(client, "initialize", {"capabilities": {}, "processId": None, "rootUri": None})) == -32600
        assert (await code_of(client, "no/such", {"a": 1})) == -32601
        assert (await code_of(client, "workspace/executeCommand", {"command": "no.such"})) == -32602
        client.open(URI, "x = 1\nresult?")
        (item,) = await client.complete(URI, 1, 7)
        assert item["insertText"] == " answer"
        assert item["range"] == span(1, 7, 1, 7)
        assert item["command"]["command"] == "assay.accepted"
        (suggestion,) = item["command"]["arguments"]
        assert (suggestion["text"], suggestion["range"]) == (" answer", item["range"])
        assert (suggestion["confidence"]["status"], suggestion["confidence"]["event"]) == ("borrowed", "exact_match")
        assert 0.9 < suggestion["confidence"]["low"] <= suggestion["confidence"]["probability"] < 1
        assert suggestion["confidence"]["band"] == "likely"
        assert suggestion["measures"]["token_count"] == 2
        assert suggestion["measures"]["total_logprob"] <= 0
        assert set(suggestion) == {"id", "text", "range", "kind", "confidence", "measures", "timings_ms"}
        client.change(URI, 2, {"range": span(0, 0, 1, 0), "text": ""}, {"range": span(0, 7, 0, 7), "text": "\nmore?"})
        (second,) = await client.complete(URI, 1, 5)
        assert (second["insertText"], second["range"]) == (" answer", span(1, 5, 1, 5))
        assert second["command"]["arguments"][0]["id"] != suggestion["id"]
        assert await client.request("workspace/executeCommand", second["command"] | {"title": None}) is None
        pid = (await client.request("assay/status"))["process"]
        assert await client.request("shutdown") is None
        assert (await code_of(client, "assay/status")) == -32600
        client.notify("exit")
        assert await asyncio.wait_for(client.process.wait(), TIMEOUT_S) == 0
        assert not is_alive(pid)


async def test_what_is_malformed_is_answered_and_a_lost_file_waits_for_its_whole_text(answering_gguf: Path) -> None:
    document, start, context = {"uri": URI}, {"line": 0, "character": 0}, {"triggerKind": 1}
    malformed: list[Any] = [
        None,
        [],
        {"textDocument": document, "position": {"line": "x", "character": 0}, "context": context},
        {"textDocument": document, "position": {"line": 0, "character": -1}, "context": context},
        {"textDocument": document, "position": start, "context": {"triggerKind": 0}},
    ]
    not_json, not_a_request = -32700, -32600
    bodies = {
        b"{": not_json,
        b"\xff": not_json,
        b"[" * 100_000: not_json,
        b"[]": not_a_request,
        b'{"jsonrpc":"2.0"}': not_a_request,
        b'{"jsonrpc":"2.0","id":[],"method":"x"}': not_a_request,
        b'{"jsonrpc":"2.0","id":null,"method":3}': not_a_request,
    }
    async with started(answering_gguf, "a?") as client:
        number = client.ask("textDocument/inlineCompletion", place(URI, 0, 2))
        client.change(URI, 2, {"range": span(0, 0, 0, 1), "text": "bb"})
        assert (await client.answer(number))["items"] == [], "its text has changed meanwhile"
        for params in malformed:
            with pytest.raises(RpcError, match=r"textDocument/inlineCompletion: .*params") as error:
                await client.request("textDocument/inlineCompletion", params)
            assert error.value.code == -32602
        for body, code in bodies.items():
            client.raw(body)
            with pytest.raises(RpcError) as error:
                await client.answer(None)
            assert error.value.code == code, body
        client.open("file:///other.py", "b?")
        client.change(URI, 3, {"range": {"start": {"line": 0, "character": 0}}, "text": "x"})
        message = await client.heard("window/showMessage", "lost track")
        assert URI in message["message"]
        assert await client.complete(URI, 0, 2) == []
        assert await client.complete("file:///other.py", 0, 2) != []
        client.change(URI, 4, {"text": "c?"})
        assert await client.complete(URI, 0, 2) != []


async def test_requests_before_the_model_is_loaded_wait_for_it_and_loading_is_reported(answering_gguf: Path) -> None:
    async with started(answering_gguf, "a?", progress=True) as client:
        number = client.ask("textDocument/inlineCompletion", place(URI, 0, 2))
        assert (await client.request("assay/status"))["state"] == "loading"
        assert (await client.answer(number))["items"][0]["insertText"] == " answer"
        assert (await client.request("assay/status"))["state"] == "ready"
        assert [request["method"] for request in client.requests] == ["window/workDoneProgress/create"]
        await client.heard("$/progress", '"kind": "begin"')
        assert "is loaded" in (await client.heard("$/progress", '"kind": "end"'))["value"]["message"]


async def test_answers_that_come_late_or_to_nothing_do_no_harm(answering_gguf: Path) -> None:
    async with started(answering_gguf, "a?", uri=URI, progress=True, answers=False) as client:
        number = client.ask("textDocument/inlineCompletion", place(URI, 0, 2))
        client.send({"id": number, "result": None})
        client.send({"id": "never asked", "result": None})
        assert (await client.answer(number))["items"][0]["insertText"] == " answer"
        await client.heard("window/logMessage", "is loaded")  # in the log, because the progress was not answered for 2 s
        (create,) = client.requests
        client.send({"id": create["id"], "result": None})
        assert (await client.request("assay/status"))["state"] == "ready"
        assert await client.leave() == 0


async def test_a_model_that_can_not_be_loaded_is_said_once_and_requests_are_answered_empty(tmp_path: Path) -> None:
    async with started(tmp_path / "none.gguf", "a?") as client:
        assert await client.complete(URI, 0, 2) == []
        status = await client.ready()
        assert status["state"] == "failed"
        message = await client.heard("window/showMessage")
        assert "none.gguf: no such model file" in message["message"]
        assert await client.complete(URI, 0, 2) == []
        assert sum(n["method"] == "window/showMessage" for n in client.notifications) == 1
        assert await client.leave() == 0


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="stops a process by signal")
async def test_cheap_requests_are_prompt_while_the_model_works_and_when_it_is_killed_one_request_is_lost(answering_gguf: Path) -> None:
    async with started(answering_gguf, "a?", options={"delay": 0}) as client:
        pid = (await client.ready())["process"]
        os.kill(pid, signal.SIGSTOP)  # a completion that lasts until we say
        numbers = [client.ask("textDocument/inlineCompletion", place(URI, 0, 2)) for _ in range(20)]
        # all that follows would wait for ever behind the model
        assert (await client.request("assay/status"))["state"] == "ready"
        for number in numbers:
            client.notify("$/cancelRequest", {"id": number})
        for number in numbers:
            with pytest.raises(RpcError) as cancelled:
                await client.answer(number)
            assert cancelled.value.code == -32800
        os.kill(pid, signal.SIGCONT)
        assert len(await client.complete(URI, 0, 2)) == 1
        os.kill(pid, signal.SIGSTOP)
        client.change(URI, 2, {"text": "b?"})
        asked = client.ask("textDocument/inlineCompletion", place(URI, 0, 2))
        while not (await client.request("assay/status"))["busy"]:
            await asyncio.sleep(0)
        await asyncio.sleep(0.05)
        os.kill(pid, signal.SIGKILL)  # by the user or for want of memory
        assert (await client.answer(asked))["items"] == []
        assert (await client.outcomes())["failed"] == 1
        assert len(await client.complete(URI, 0, 2)) == 1
        assert (await client.request("assay/status"))["process"] not in (pid, None)
        assert "SIGKILL" in (await client.heard("window/logMessage", "started again"))["message"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="ends a process by signal")
@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda client: client.process.stdin.close(), 1),
        (lambda client: client.notify("exit"), 1),  # without a shutdown
        (lambda client: client.process.kill(), -signal.SIGKILL),
        (lambda client: client.process.send_signal(signal.SIGINT), 130),
        (lambda client: client.process.send_signal(signal.SIGTERM), -signal.SIGTERM),
    ],
    ids=["the client goes away", "exit", "SIGKILL", "SIGINT", "SIGTERM"],
)
async def test_however_the_server_ends_its_model_ends(tiny_gguf: Path, end: Callable[[Client], object], code: int) -> None:
    async with started(tiny_gguf) as client:
        pid = (await client.ready())["process"]
        end(client)
        assert await asyncio.wait_for(client.process.wait(), TIMEOUT_S) == code
        await wait_until(lambda: not is_alive(pid))


async def test_settings_are_asked_for_where_told_so_and_what_is_wrong_in_them_is_told_once(answering_gguf: Path) -> None:
    options = {"kind": "page", "kinds": "line", "diagnostics": True}
    async with started(answering_gguf, tells_settings_to="registered", options=options) as client:
        for said in ("assay.kind can't be", "assay.kinds"):
            await client.heard("window/showMessage", said)
        await client.ready()
        (request,) = (request for request in client.requests if request["method"] == "client/registerCapability")
        (registration,) = request["params"]["registrations"]
        assert (registration["method"], registration["registerOptions"]["section"]) == ("workspace/didChangeConfiguration", "assay")
        async with asyncio.timeout(TIMEOUT_S):
            while (lag := (await client.request("assay/status"))["loop_lag"])["beats"] <= 5:
                await asyncio.sleep(0.05)
        assert 0 <= lag["p99_ms"] <= lag["worst_ms"]
        assert lag["worst_work_ms"] >= 0
        client.notify("workspace/didChangeConfiguration", {"settings": {"assay": {"showAbove": 2}}})
        await client.heard("window/showMessage", "assay.showAbove can't be 2")
        client.open(URI, "a?")
        assert await client.complete(URI, 0, 2)
        assert sum("assay.kind can" in str(heard) for heard in client.notifications) == 1


async def code_of(client: Client, method: str, params: Any = None) -> int:
    with pytest.raises(RpcError) as error:
        await client.request(method, params)
    return error.value.code


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True

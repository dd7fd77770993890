from __future__ import annotations

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from ..client import TIMEOUT_S, URI, Client, RpcError, client_of, place, span, started

pytestmark = pytest.mark.slow


async def test_a_whole_conversation(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
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
            "assay.runTests",
            "assay.setDial",
            "assay.shown",
        }
        client.open(URI, "x = 1\nresult?")
        (item,) = await client.complete(URI, 1, 7)
        assert item["insertText"] == " answer"
        assert item["range"] == span(1, 7, 1, 7)
        assert item["command"]["command"] == "assay.accepted"
        (suggestion,) = item["command"]["arguments"]
        assert suggestion["text"] == " answer"
        assert suggestion["range"] == item["range"]
        assert suggestion["confidence"]["status"] == "borrowed"
        assert suggestion["confidence"]["event"] == "exact_match"
        assert 0.9 < suggestion["confidence"]["low"] <= suggestion["confidence"]["probability"] < 1
        assert suggestion["confidence"]["band"] == "likely"
        assert suggestion["measures"]["token_count"] == 2
        assert suggestion["measures"]["total_logprob"] <= 0
        assert set(suggestion) == {"id", "text", "range", "kind", "confidence", "measures", "timings_ms"}
        client.change(URI, 2, {"range": span(0, 0, 1, 0), "text": ""}, {"range": span(0, 7, 0, 7), "text": "\nmore?"})
        (second,) = await client.complete(URI, 1, 5)
        assert second["insertText"] == " answer"
        assert second["range"] == span(1, 5, 1, 5)
        assert second["command"]["arguments"][0]["id"] != suggestion["id"]
        client.change(URI, 3, {"range": span(1, 4, 1, 4), "text": "x"})
        number = client.ask("textDocument/inlineCompletion", place(URI, 1, 6))
        client.notify("$/cancelRequest", {"id": number})
        with pytest.raises(RpcError) as cancelled:
            await client.answer(number)
        assert cancelled.value.code == -32800
        assert await client.request("workspace/executeCommand", second["command"] | {"title": None}) is None
        pid = (await client.request("assay/status"))["process"]
        assert await client.leave() == 0
        assert not is_alive(pid)


async def test_malformed_params_are_answered_with_invalid_params(tiny_gguf: Path) -> None:
    document, start, context = {"uri": URI}, {"line": 0, "character": 0}, {"triggerKind": 1}
    malformed: list[Any] = [
        None,
        [],
        {},
        {"textDocument": document, "position": {"line": "x", "character": 0}, "context": context},
        {"textDocument": document, "position": {"line": 0, "character": -1}, "context": context},
        {"textDocument": document, "position": start, "context": {"triggerKind": 0}},
    ]
    async with started(tiny_gguf) as client:
        for params in malformed:
            with pytest.raises(RpcError, match=r"textDocument/inlineCompletion: .*params") as error:
                await client.request("textDocument/inlineCompletion", params)
            assert error.value.code == -32602
        client.open(URI, "")
        assert await client.request("assay/status")


async def test_what_is_no_message_is_answered_and_the_server_goes_on(tiny_gguf: Path) -> None:
    not_json, not_a_request = -32700, -32600
    bodies = {
        b"{": not_json,
        b"\xff": not_json,
        b"[" * 100_000: not_json,
        b"[]": not_a_request,
        b"3": not_a_request,
        b'{"jsonrpc":"2.0"}': not_a_request,
        b'{"jsonrpc":"2.0","id":[],"method":"x"}': not_a_request,
        b'{"jsonrpc":"2.0","id":null,"method":3}': not_a_request,
    }
    async with started(tiny_gguf) as client:
        for body, code in bodies.items():
            client.raw(body)
            with pytest.raises(RpcError) as error:
                await client.answer(None)
            assert error.value.code == code, body
        assert await client.request("assay/status")


async def test_unknown_methods_and_requests_out_of_turn_are_answered(tiny_gguf: Path) -> None:
    async with client_of(tiny_gguf) as client:
        assert (await code_of(client, "assay/status")) == -32002
        await client.initialize()
        assert (await code_of(client, "initialize", {"capabilities": {}, "processId": None, "rootUri": None})) == -32600
        assert (await code_of(client, "no/such", {"a": 1})) == -32601
        assert (await code_of(client, "workspace/executeCommand", {"command": "no.such"})) == -32602
        assert await client.request("shutdown") is None
        assert (await code_of(client, "assay/status")) == -32600


async def test_a_malformed_change_stops_suggestions_for_that_file_until_it_is_sent_whole(answering_gguf: Path) -> None:
    async with started(answering_gguf, "a?") as client:
        client.open("file:///other.py", "b?")
        client.change(URI, 2, {"range": {"start": {"line": 0, "character": 0}}, "text": "x"})
        message = await client.heard("window/showMessage", "lost track")
        assert URI in message["message"]
        assert await client.complete(URI, 0, 2) == []
        assert await client.complete("file:///other.py", 0, 2) != []
        client.change(URI, 3, {"text": "c?"})
        assert await client.complete(URI, 0, 2) != []
        client.change(URI, 4, {"text": 3})
        assert await client.complete(URI, 0, 2) == []


async def test_a_completion_of_a_text_that_changed_meanwhile_is_empty(answering_gguf: Path) -> None:
    async with started(answering_gguf, "a?") as client:
        number = client.ask("textDocument/inlineCompletion", place(URI, 0, 2))
        client.change(URI, 2, {"range": span(0, 0, 0, 1), "text": "bb"})
        assert (await client.answer(number))["items"] == []


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
async def test_cheap_requests_and_cancels_are_prompt_while_the_model_works(answering_gguf: Path) -> None:
    async with started(answering_gguf, "a?") as client:
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


# Killed by the user or for want of memory; ggml's failed assertion; an error in native code.
@pytest.mark.parametrize("number", ["SIGKILL", "SIGABRT", "SIGSEGV"])
@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="stops a process by signal")
async def test_when_the_model_process_is_killed_one_request_is_lost_and_the_next_works(answering_gguf: Path, number: str) -> None:
    async with started(answering_gguf, "a?", options={"delay": 0}) as client:
        pid = (await client.ready())["process"]
        os.kill(pid, signal.SIGSTOP)
        asked = client.ask("textDocument/inlineCompletion", place(URI, 0, 2))
        while not (await client.request("assay/status"))["busy"]:
            await asyncio.sleep(0)
        await asyncio.sleep(0.05)
        os.kill(pid, getattr(signal, number))
        os.kill(pid, signal.SIGCONT)
        assert (await client.answer(asked))["items"] == []
        assert (await client.outcomes())["failed"] == 1
        assert len(await client.complete(URI, 0, 2)) == 1
        assert (await client.request("assay/status"))["process"] not in (pid, None)
        assert number in (await client.heard("window/logMessage", "started again"))["message"]


async def test_when_the_client_goes_away_the_server_and_its_model_end(tiny_gguf: Path) -> None:
    async with started(tiny_gguf) as client:
        pid = (await client.ready())["process"]
        client.process.stdin.close()
        assert await asyncio.wait_for(client.process.wait(), TIMEOUT_S) == 1
        assert not is_alive(pid)


async def test_when_the_server_is_killed_its_model_ends(tiny_gguf: Path) -> None:
    async with started(tiny_gguf) as client:
        pid = (await client.ready())["process"]
        client.process.kill()
        deadline = time.monotonic() + TIMEOUT_S
        while is_alive(pid):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="ends a process by signal")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)])
async def test_a_signal_ends_the_server_and_its_model(tiny_gguf: Path, number: signal.Signals, code: int) -> None:
    async with started(tiny_gguf) as client:
        pid = (await client.ready())["process"]
        client.process.send_signal(number)
        assert await asyncio.wait_for(client.process.wait(), TIMEOUT_S) == code
        deadline = time.monotonic() + TIMEOUT_S
        while is_alive(pid):
            assert time.monotonic() < deadline
            await asyncio.sleep(0.05)


async def test_exit_without_shutdown_is_exit_code_1(tiny_gguf: Path) -> None:
    async with started(tiny_gguf) as client:
        client.notify("exit")
        assert await asyncio.wait_for(client.process.wait(), TIMEOUT_S) == 1


async def test_a_setting_that_can_not_be_or_is_not_known_is_told_once_and_its_default_used(answering_gguf: Path) -> None:
    async with started(answering_gguf, options={"kind": "page", "kinds": "line"}) as client:
        for said in ("assay.kind can't be", "assay.kinds"):
            await client.heard("window/showMessage", said)
        client.notify("workspace/didChangeConfiguration", {"settings": {"assay": {"showAbove": 2}}})
        await client.heard("window/showMessage", "assay.showAbove can't be 2")
        client.open(URI, "a?")
        assert await client.complete(URI, 0, 2)
        assert sum("assay.kind can" in str(heard) for heard in client.notifications) == 1


async def test_who_tells_of_changed_settings_only_where_asked_is_asked(answering_gguf: Path) -> None:
    async with started(answering_gguf, tells_settings_to="registered") as client:
        await client.ready()
        (request,) = (request for request in client.requests if request["method"] == "client/registerCapability")
        (registration,) = request["params"]["registrations"]
        assert (registration["method"], registration["registerOptions"]["section"]) == ("workspace/didChangeConfiguration", "assay")


async def test_the_lateness_of_the_event_loop_is_measured_when_asked_for(tiny_gguf: Path) -> None:
    async with started(tiny_gguf, options={"diagnostics": True}) as client:
        await client.ready()
        async with asyncio.timeout(TIMEOUT_S):
            while (lag := (await client.request("assay/status"))["loop_lag"])["beats"] <= 5:
                await asyncio.sleep(0.05)
        assert 0 <= lag["p99_ms"] <= lag["worst_ms"]
        assert lag["worst_work_ms"] >= 0


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

"""Suggestions as items of the menu, for an editor without ghost text: a real server process and a real client."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import pytest

from ..client import URI, client_of, place, span, started
from ..logged import requests_of

pytestmark = pytest.mark.slow


async def test_a_client_without_inline_completion_gets_an_item_of_the_menu(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
        params = {"processId": None, "rootUri": None, "capabilities": {}}
        assert (await client.request("initialize", params))["capabilities"]["completionProvider"] is not None
        client.notify("initialized", {})
        client.open(URI, "x?")
        where = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 2}}
        (item,) = (await client.request("textDocument/completion", where))["items"]
        assert item["textEdit"]["newText"] == " answer"
        assert re.fullmatch(r"◆ likely 9\d-100 % exact match", item["labelDetails"]["description"])
        assert "Least certain" in item["documentation"]["value"]
    async with client_of(answering_gguf) as client:
        assert (await client.initialize())["capabilities"].get("completionProvider") is None


@pytest.mark.parametrize(("name", "letters"), [("Neovim", True), ("helix", False)])
async def test_the_menu_comes_where_a_line_may_go_on_in_neovim_behind_letters(answering_gguf: Path, name: str, letters: bool) -> None:
    async with client_of(answering_gguf) as client:
        params = {"processId": None, "rootUri": None, "capabilities": {}, "clientInfo": {"name": name}}
        triggers = set((await client.request("initialize", params))["capabilities"]["completionProvider"]["triggerCharacters"])
        assert set(" (.=") < triggers
        assert (set("aZ0_") < triggers) == letters


async def test_the_menu_is_registered_and_taken_back_as_the_setting_changes_where_the_editor_allows_it(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
        result = await client.initialize(configuration=True, registers=True)
        assert result["capabilities"].get("completionProvider") is None
        methods = [("on", "client/registerCapability"), ("off", "client/unregisterCapability"), ("on", "client/registerCapability")]
        client.open(URI, "x?")
        for setting, method in methods:
            client.requests.clear()
            client.configuration = {"plainCompletion": setting}
            client.notify("workspace/didChangeConfiguration", {"settings": None})
            while method not in (sent := {request["method"]: request["params"] for request in client.requests}):
                await asyncio.sleep(0.01)
            (one,) = next(iter(sent[method].values()))
            assert one["method"] == "textDocument/completion"
            where = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 2}}
            assert len((await client.request("textDocument/completion", where))["items"]) == (setting == "on")
    async with started(answering_gguf, registers=True) as client:
        await client.ready()
        assert not [request for request in client.requests if request["method"] == "client/registerCapability"]


async def test_the_menu_comes_when_the_editor_wants_it_also_where_nothing_else_comes_by_itself(answering_gguf: Path) -> None:
    async with started(answering_gguf, "x?", options={"automatic": False, "plainCompletion": "on"}) as client:
        assert await client.complete(URI, 0, 2) == []
        for how in ({}, {"context": {"triggerKind": 1}}, {"context": {"triggerKind": 3}}):
            where = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 2}, **how}
            assert len((await client.request("textDocument/completion", where))["items"]) == 1


async def test_what_is_selected_in_the_menu_counts_as_typed(answering_gguf: Path) -> None:
    async with started(answering_gguf, "pri") as client:
        selected = {"range": span(0, 0, 0, 3), "text": "print?"}
        params = place(URI, 0, 3) | {"context": {"triggerKind": 2, "selectedCompletionInfo": selected}}
        (item,) = (await client.request("textDocument/inlineCompletion", params))["items"]
        assert (item["insertText"], item["range"]) == ("print? answer", span(0, 0, 0, 3))
        (suggestion,) = item["command"]["arguments"]
        assert (suggestion["text"], suggestion["range"]) == (item["insertText"], item["range"])
        selected["text"] = "\ud800?"  # half a character, which only JSON's escapes can say
        (item,) = (await client.request("textDocument/inlineCompletion", params))["items"]
        assert item["insertText"] == "\ud800? answer"


async def test_a_selected_item_of_the_menu_decides_what_is_asked_and_is_accepted_too(answering_gguf: Path, log: Path) -> None:
    async with started(answering_gguf, 'x = "', options={"inStrings": False, "log": {"path": str(log)}}) as client:
        selected = {"range": span(0, 4, 0, 5), "text": "y\n?"}
        params = place(URI, 0, 5) | {"context": {"triggerKind": 2, "selectedCompletionInfo": selected}}
        (item,) = (await client.request("textDocument/inlineCompletion", params))["items"]
        client.change(URI, 2, {"range": item["range"], "text": item["insertText"]})
        await client.request("workspace/executeCommand", {"command": "assay.accepted", "arguments": item["command"]["arguments"]})
        found = [await client.request("textDocument/hover", place(URI, line, 0)) is not None for line in range(2)]
        assert found == [True, True]
        client.open("file:///project/b.py", "de")
        selected = {"range": span(0, 0, 0, 2), "text": "def f():"}
        params = place("file:///project/b.py", 0, 2) | {"context": {"triggerKind": 2, "selectedCompletionInfo": selected}}
        await client.request("textDocument/inlineCompletion", params)
        await client.leave()
    assert requests_of(log)[-1]["kind"] == "function"

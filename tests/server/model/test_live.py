"""The live engine through a real server process: a model that always answers " answer" behind a question mark, and a real client."""

from __future__ import annotations

import asyncio
import hashlib
import re
from pathlib import Path

import pytest

from assay import __version__
from assay.calibration.log.events import RequestEnded, ServerStarted, hash_of

from ..client import URI, RpcError, client_of, place, span, started
from ..logged import bytes_of, events_of, requests_of

pytestmark = pytest.mark.slow


async def test_typing_along_is_answered_from_memory_and_logged_without_code_or_path(answering_gguf: Path, tmp_path: Path) -> None:
    project, log = tmp_path / "project", tmp_path / "log.sqlite3"
    uri, text = (project / "a.py").as_uri(), "y = 1\n" * 200 + "x?"
    async with started(answering_gguf, text, uri=uri, root=project, name="an editor", options={"log.path": str(log)}) as client:
        (whole,) = await client.complete(uri, 200, 2)
        client.insert(uri, 2, 200, 2, " ans")
        (rest,) = await client.complete(uri, 200, 6)
        client.change(uri, 3, {"range": span(200, 4, 200, 6), "text": ""})
        (longer,) = await client.complete(uri, 200, 4)
        client.change(uri, 4, {"range": span(0, 0, 0, 0), "text": "import os\n"})
        (moved,) = await client.complete(uri, 201, 4)
        assert [item["insertText"] for item in (whole, rest, longer, moved)] == [" answer", "wer", "nswer", "nswer"]
        assert moved["range"] == span(201, 4, 201, 4)
        said = [item["command"]["arguments"][0] for item in (whole, rest)]
        assert said[1]["measures"]["total_logprob"] >= said[0]["measures"]["total_logprob"]
        assert said[1]["measures"]["length"] == 3
        # a request at no place ends as one that found nothing
        assert await client.complete("file:///other.py", 0, 0, invoked=True) == []
        selected = {"range": span(200, 0, 201, 0), "text": "print?"}
        params = place(uri, 201, 2) | {"context": {"triggerKind": 2, "selectedCompletionInfo": selected}}
        assert (await client.request("textDocument/inlineCompletion", params))["items"] == []
        assert (await client.request("assay/status"))["log"] == {"path": str(log), "dropped": 0, "trouble": None}
        assert (await client.outcomes())["empty"] == 2
        await client.leave()
    began, *events = events_of(log)
    assert began == ServerStarted(version=__version__, client="an editor")
    *given, nowhere, menu = [event for event in events if isinstance(event, RequestEnded)]
    assert [event.source for event in given] == ["model", "memory", "memory", "memory"]
    assert [event.task for event in given] == ["line_rest"] * 4
    assert all(event.outcome == "produced" and event.propensity == 1 for event in given)
    first = given[0]
    assert (first.id, first.rank) == (said[0]["id"], 1)
    assert (first.document, first.project) == (hash_of(uri), hash_of(project.as_uri()))
    assert (first.text_sha256, first.characters) == (hashlib.sha256(b" answer").hexdigest(), len(" answer"))
    assert (nowhere.outcome, nowhere.trigger, nowhere.text_sha256) == ("empty", "invoked", "")
    assert (menu.outcome, menu.trigger) == ("empty", "automatic")
    assert "not open" in nowhere.reason
    assert "menu" in menu.reason
    assert b"answer" not in bytes_of(log)
    assert b"project/" not in bytes_of(log)


async def test_an_editor_that_cancels_and_asks_again_at_each_key_gets_the_generation_that_ran(answering_gguf: Path, log: Path) -> None:
    async with started(answering_gguf, options={"log.path": str(log), "delay": 0}) as client:
        await client.ready()
        client.open(URI, "x?")
        first = client.ask("textDocument/inlineCompletion", place(URI, 0, 2))
        client.notify("$/cancelRequest", {"id": first})
        client.insert(URI, 2, 0, 2, " a")
        (item,) = await client.complete(URI, 0, 4)
        assert item["insertText"] == "nswer"
        with pytest.raises(RpcError):
            await client.answer(first)
        await client.leave()
    assert [line["outcome"] for line in requests_of(log)] == ["cancelled", "produced"]
    assert requests_of(log)[1]["source"] in ("running", "memory")


async def test_no_suggestion_in_a_word_a_language_that_is_off_or_a_secret_file(answering_gguf: Path) -> None:
    options = {"disabledLanguages": ["markdown"], "context": {"suffixTokens": 0}, "inStrings": False}
    async with started(answering_gguf, "x?word", options=options) as client:
        assert await client.complete(URI, 0, 2) == []
        client.open("file:///project/a.md", "x?", language="markdown")
        assert await client.complete("file:///project/a.md", 0, 2, invoked=True) == []
        await client.heard("$/assay/didChangeStatus", "turned off in this language")
        # by the name, whatever the scheme
        for uri in ("file:///project/.env", "untitled:/project/.env", "git:/project/.env?x", "vscode-remote://host/project/.env"):
            client.open(uri, "KEY=x?")
            assert await client.complete(uri, 0, 6, invoked=True) == []
            with pytest.raises(RpcError, match="secrets"):
                await client.request("assay/context", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 6}})
        await client.heard("$/assay/didChangeStatus", "may hold secrets")
        assert (await client.outcomes())["empty"] == 6
        # a cell behind more than is looked at is not taken for a string that began there
        client.open_notebook('"""' + "some words of a text\n" * 2_000 + '"""\n', "def f():\n    x?")
        (item,) = await client.complete("cell:1", 1, 6)
        assert item["insertText"] == " answer"


async def test_an_accepted_suggestion_is_explained_by_hover_where_it_has_moved_to(answering_gguf: Path) -> None:
    async with started(answering_gguf, "x?") as client:
        (item,) = await client.complete(URI, 0, 2)
        client.insert(URI, 2, 0, 2, item["insertText"])
        await client.request("workspace/executeCommand", {"command": "assay.accepted", "arguments": item["command"]["arguments"]})
        client.change(URI, 3, {"range": span(0, 0, 0, 0), "text": "import os\n\n"})
        where = {"textDocument": {"uri": URI}, "position": {"line": 2, "character": 0}}
        said = (await client.request("textDocument/hover", where))["contents"]["value"]
        assert re.match(r"\*\*◆ likely 9\d-100 % exact match\*\*\n\nSource: shipped with Assay \(`exact_match-line", said)
        assert "Probability: >99 %, borrowed from 5 models; " in said
        assert "Least certain of 2 tokens" in said
        assert await client.request("textDocument/hover", where | {"position": {"line": 0, "character": 0}}) is None


async def test_a_suggestion_is_explained_and_what_the_model_saw_is_told(tiny_gguf: Path) -> None:
    async with started(tiny_gguf, "import os\nx?\nprint(x)\n") as client:
        (item, *_) = await client.complete(URI, 1, 2, invoked=True)
        (suggestion,) = item["command"]["arguments"]
        told = await client.request("assay/explain", {"id": suggestion["id"]})
        assert told["confidence"]["status"] == "borrowed"
        assert [seen["part"] for seen in told["seen"]] == ["the text before the cursor", "the text after the cursor"]
        assert all(seen["tokens"] > 0 for seen in told["seen"])
        context = await client.request("assay/context", {"textDocument": {"uri": URI}, "position": {"line": 1, "character": 2}})
        assert (context["prefix"]["text"], context["suffix"]["text"]) == ("import os\nx?", "\nprint(x)\n")
        for wrong in ({"id": "none"}, {}, None, {"id": 3}):
            with pytest.raises(RpcError) as error:
                await client.request("assay/explain", wrong)
            assert error.value.code == -32602
        with pytest.raises(RpcError):
            await client.request("assay/context", {"textDocument": {"uri": "file:///closed.py"}})


async def test_who_wants_no_log_has_none_and_one_that_can_not_be_written_is_told(
    answering_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "home"))
    log = tmp_path / "no" / "log.sqlite3"
    # a folder that can't be looked at does no harm either
    async with client_of(answering_gguf) as client:
        client.configuration = {"log": {"events": False}}
        await client.initialize(configuration=True, root=Path("/") / ("x" * 300))
        client.open(URI, "x?")
        assert await client.complete(URI, 0, 2)
        assert (await client.request("assay/status"))["log"] is None
        assert (await client.outcomes())["produced"] == 1
        assert not (tmp_path / "home").exists()
        client.configuration = {"log": {"path": str(log)}}
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        while (await client.request("assay/status"))["log"] is None:
            await asyncio.sleep(0.02)
        assert await client.complete(URI, 0, 2)
        told = await client.heard("window/showMessage", "can't be logged")
        assert told["message"] == f"Assay: events can't be logged: {log}: there is no folder {log.parent}"
        assert (await client.request("assay/status"))["log"]["trouble"]
        folder = {"uri": tmp_path.as_uri(), "name": "a"}
        for event in ({"added": [folder], "removed": []}, {"added": [], "removed": [folder]}):
            client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        assert await client.complete(URI, 0, 2)
        assert await client.leave() == 0
    assert not log.parent.exists()


async def test_what_was_written_with_another_context_is_forgotten(answering_gguf: Path, log: Path) -> None:
    async with started(answering_gguf, "x?", options={"log.path": str(log), "context": {"prefixTokens": 8}}) as client:
        assert await client.complete(URI, 0, 2)
        client.notify("workspace/didChangeConfiguration", {"settings": {"context": {"prefixTokens": 80}}})
        while len({line["prompt"] for line in requests_of(log)}) < 2:
            await client.complete(URI, 0, 2)
        await client.leave()
    first = next(line for line in requests_of(log) if line["prompt"] != requests_of(log)[0]["prompt"])
    assert first["source"] == "model"

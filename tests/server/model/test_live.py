"""The live engine through a real server process: a model that always answers " answer" behind a question mark, and a real client."""

from __future__ import annotations

import asyncio
import hashlib
import math
import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tiny_gguf import scripted, write_tiny_gguf

from assay import __version__
from assay.calibration.log.events import RequestEnded, ServerStarted, hash_of
from assay.inference.completion.settings import Settings
from assay.inference.opening import ModelChoice, open_model
from assay.server.model import file_watch as model_watch
from assay.server.model import live as live_module
from assay.server.model.live import LiveModel
from assay.server.model.process import State
from assay.suggestion.complete import complete_several

from .. import client as client_module
from ..client import TIMEOUT_S, Client, RpcError, client_of, place, span
from ..logged import bytes_of, events_of, requests_of
from ..wanted import wanted

URI = "file:///project/a.py"


def typed(client: Client, version: int, line: int, column: int, text: str) -> None:
    client.change(URI, version, {"range": span(line, column, line, column), "text": text})


async def outcomes(client: Client) -> dict[str, int]:
    found: dict[str, int] = (await client.request("assay/status"))["outcomes"]
    return found


async def test_typing_along_and_taking_back_is_answered_from_memory_with_the_rest_and_its_own_confidence(
    answering_gguf: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log.sqlite3"
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"log": {"path": str(log)}})
        client.open(URI, "y = 1\n" * 200 + "x?")
        (whole,) = await client.complete(URI, 200, 2)
        typed(client, 2, 200, 2, " ans")
        (rest,) = await client.complete(URI, 200, 6)
        client.change(URI, 3, {"range": span(200, 4, 200, 6), "text": ""})
        (longer,) = await client.complete(URI, 200, 4)
        client.change(URI, 4, {"range": span(0, 0, 0, 0), "text": "import os\n"})
        (moved,) = await client.complete(URI, 201, 4)
        assert [item["insertText"] for item in (whole, rest, longer, moved)] == [" answer", "wer", "nswer", "nswer"]
        assert moved["range"] == span(201, 4, 201, 4)
        said = [item["command"]["arguments"][0] for item in (whole, rest)]
        assert said[1]["measures"]["total_logprob"] >= said[0]["measures"]["total_logprob"]
        assert said[1]["measures"]["length"] == 3
        await client.leave()
    assert [line["source"] for line in requests_of(log)] == ["model", "memory", "memory", "memory"]
    assert [line["task"] for line in requests_of(log)] == ["line_rest"] * 4
    assert all(line["outcome"] == "produced" and line["propensity"] == 1 for line in requests_of(log))
    assert b"answer" not in bytes_of(log)


async def test_an_editor_that_cancels_and_asks_again_at_each_key_gets_the_generation_that_ran(answering_gguf: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite3"
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"log.path": str(log), "delay": 0})
        await client.ready()
        client.open(URI, "x?")
        first = client.ask("textDocument/inlineCompletion", place(URI, 0, 2))
        client.notify("$/cancelRequest", {"id": first})
        typed(client, 2, 0, 2, " a")
        (item,) = await client.complete(URI, 0, 4)
        assert item["insertText"] == "nswer"
        with pytest.raises(RpcError):
            await client.answer(first)
        await client.leave()
    assert [line["outcome"] for line in requests_of(log)] == ["cancelled", "produced"]
    assert requests_of(log)[1]["source"] in ("running", "memory")


async def test_of_many_keys_in_a_row_each_request_ends_once_and_the_last_is_answered(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
        await client.initialize()
        await client.ready()
        client.open(URI, "x")
        asked = []
        for count in range(1, 40):
            typed(client, 1 + count, 0, count, "?")
            asked.append(client.ask("textDocument/inlineCompletion", place(URI, 0, 1 + count)))
        answers = [await client.answer(number) for number in asked]
        assert answers[-1]["items"][0]["insertText"] == " answer"
        assert all(not answer["items"] for answer in answers[:-2])
        ended = await outcomes(client)
        assert sum(ended.values()) == len(asked)
        assert ended["produced"] + ended["superseded"] == len(asked)


async def test_the_dial_hides_what_is_not_likely_enough_but_not_from_who_asks(answering_gguf: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite3"
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"showUncalibrated": False, "log": {"path": str(log)}, "explore": 0})
        client.open(URI, "x?")
        assert await client.complete(URI, 0, 2) == []
        items = await client.complete(URI, 0, 2, invoked=True)
        assert items[0]["insertText"] == " answer"
        client.notify("workspace/didChangeConfiguration", {"settings": {"assay": {"showUncalibrated": True}}})
        assert await client.complete(URI, 0, 2)
        await client.leave()
    hidden, shown, _ = requests_of(log)[:3]
    assert (hidden["outcome"], hidden["propensity"], hidden["trigger"]) == ("hidden", 0, "automatic")
    assert (shown["outcome"], shown["propensity"], shown["trigger"]) == ("produced", 1, "invoked")


async def test_who_asks_gets_different_suggestions_the_likeliest_first(tiny_gguf: Path) -> None:
    async with client_of(tiny_gguf) as client:
        await client.initialize(options={"alternatives": 4})
        client.open(URI, "def f(x):\n    return x")
        items = await client.complete(URI, 1, 12, invoked=True)
        texts = [item["insertText"] for item in items]
        assert 1 < len(texts) <= 4
        assert len(set(texts)) == len(texts)


async def test_of_alternatives_that_show_one_text_the_first_is_shown(tmp_path: Path) -> None:
    forked = replace(scripted(b" answer", b"\n", b"?", b" answer ", b"\n"), pieces=(b" answer", b" answer "))
    path = write_tiny_gguf(tmp_path / "forked.gguf", forked)
    with open_model(path) as model:
        drawn = complete_several(model, "x?", "", count=2)
    assert {generation.text for generation in drawn} == {" answer", " answer "}
    async with client_of(path) as client:
        await client.initialize(options={"alternatives": 2})
        client.open(URI, "x?")
        (item,) = await client.complete(URI, 0, 2, invoked=True)
        assert item["insertText"] == " answer"
        (said,) = item["command"]["arguments"]
        assert math.exp(said["measures"]["agreement"]) < 1


@pytest.mark.slow
async def test_one_suggestion_comes_by_itself_also_when_more_are_prepared_and_typing_on_another_is_answered_by_it(
    tiny_gguf: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log.sqlite3"
    async with client_of(tiny_gguf) as client:
        await client.initialize(options={"log": {"path": str(log)}})
        client.open(URI, "def f(x):\n    return x")
        items = await client.complete(URI, 1, 12, invoked=True)
        assert len(items) > 1
        assert len(await client.complete(URI, 1, 12)) == 1
        other = items[-1]["insertText"]
        typed(client, 2, 1, 12, other[0])
        if len(other) > 1 and (rest := await client.complete(URI, 1, 13)):
            assert len(rest) == 1
        await client.leave()
    assert [line["source"] for line in requests_of(log)][1] == "memory"


async def test_no_suggestion_in_a_word_a_language_that_is_off_or_a_secret_file(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"disabledLanguages": ["markdown"]})
        client.open(URI, "x?word")
        assert await client.complete(URI, 0, 2) == []
        for uri, language, why in (
            ("file:///project/.env", "python", "may hold secrets"),
            ("file:///project/a.md", "markdown", "turned off in this language"),
        ):
            document = {"uri": uri, "languageId": language, "version": 1, "text": "x?"}
            client.notify("textDocument/didOpen", {"textDocument": document})
            assert await client.complete(uri, 0, 2, invoked=True) == []
            await client.heard("$/assay/didChangeStatus", why)
        assert (await outcomes(client))["empty"] == 3


async def test_what_is_refused_for_a_whole_document_is_refused_before_its_text_is_read(
    answering_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = "import assay.server.documents.notebooks as n\ndef broken(*_): raise KeyError('text')\nn.Notebooks.around = broken\n"
    monkeypatch.setattr(client_module, "SERVE", broken + client_module.SERVE)
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"disabledLanguages": ["markdown"]})
        documents = [("file:///project/a.md", "markdown", True), ("file:///project/.env", "python", True), (URI, "python", False)]
        for uri, language, invoked in documents:
            document = {"uri": uri, "languageId": language, "version": 1, "text": "x?"}
            client.notify("textDocument/didOpen", {"textDocument": document})
            if uri != URI:
                assert await client.complete(uri, 0, 2, invoked=invoked) == []
        with pytest.raises(RpcError):
            await client.complete(URI, 0, 2)
        client.notify("workspace/didChangeConfiguration", {"settings": {"assay": {"automatic": False}}})
        assert await client.complete(URI, 0, 2) == []
        await client.request("workspace/executeCommand", {"command": "assay.pause", "arguments": [{"minutes": 5}]})
        assert await client.complete(URI, 0, 2) == []
        ended = await outcomes(client)
        assert (ended["empty"], ended["failed"], sum(ended.values())) == (4, 1, 5)


async def test_an_accepted_suggestion_is_explained_by_hover_where_it_has_moved_to(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
        await client.initialize()
        client.open(URI, "x?")
        (item,) = await client.complete(URI, 0, 2)
        typed(client, 2, 0, 2, item["insertText"])
        await client.request("workspace/executeCommand", {"command": "assay.accepted", "arguments": item["command"]["arguments"]})
        client.change(URI, 3, {"range": span(0, 0, 0, 0), "text": "import os\n\n"})
        where = {"textDocument": {"uri": URI}, "position": {"line": 2, "character": 0}}
        said = (await client.request("textDocument/hover", where))["contents"]["value"]
        assert said.startswith("**○ no evidence**")
        assert "Least certain of 2 tokens" in said
        assert await client.request("textDocument/hover", where | {"position": {"line": 0, "character": 0}}) is None


async def test_a_suggestion_is_explained_and_what_the_model_saw_is_told(tiny_gguf: Path) -> None:
    async with client_of(tiny_gguf) as client:
        await client.initialize()
        client.open(URI, "import os\nx?\nprint(x)\n")
        (item, *_) = await client.complete(URI, 1, 2, invoked=True)
        (suggestion,) = item["command"]["arguments"]
        told = await client.request("assay/explain", {"id": suggestion["id"]})
        assert told["confidence"]["status"] == "uncalibrated"
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


async def test_a_client_without_inline_completion_gets_an_item_of_the_menu(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
        params = {"processId": None, "rootUri": None, "capabilities": {}}
        assert (await client.request("initialize", params))["capabilities"]["completionProvider"] is not None
        client.notify("initialized", {})
        client.open(URI, "x?")
        where = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 2}}
        (item,) = (await client.request("textDocument/completion", where))["items"]
        assert item["textEdit"]["newText"] == " answer"
        assert item["labelDetails"]["description"] == "○ no evidence"
        assert "Least certain" in item["documentation"]["value"]
    async with client_of(answering_gguf) as client:
        assert (await client.initialize())["capabilities"].get("completionProvider") is None


@pytest.mark.parametrize(("name", "letters"), [("Neovim", True), ("helix", False)])
async def test_the_menu_comes_by_itself_where_a_line_may_go_on_and_in_neovim_also_behind_letters(
    answering_gguf: Path, name: str, letters: bool
) -> None:
    async with client_of(answering_gguf) as client:
        params = {"processId": None, "rootUri": None, "capabilities": {}, "clientInfo": {"name": name}}
        triggers = set((await client.request("initialize", params))["capabilities"]["completionProvider"]["triggerCharacters"])
        assert set(" (.=") < triggers
        assert (set("aZ0_") < triggers) == letters


async def test_a_request_that_can_not_even_be_understood_ends_as_failed(answering_gguf: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = "import assay.server.features.suggestions_at as f\ndef broken(path): raise KeyError(path)\nf.is_secret_path = broken\n"
    monkeypatch.setattr(client_module, "SERVE", broken + client_module.SERVE)
    async with client_of(answering_gguf) as client:
        await client.initialize()
        client.open(URI, "x?")
        with pytest.raises(RpcError) as error:
            await client.complete(URI, 0, 2)
        assert error.value.code == -32603
        assert (await outcomes(client))["failed"] == 1


@pytest.mark.slow
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
    async with client_of(answering_gguf) as client:
        await client.initialize(registers=True)
        await client.ready()
        assert not [request for request in client.requests if request["method"] == "client/registerCapability"]


async def test_the_menu_comes_when_the_editor_wants_it_also_where_nothing_else_comes_by_itself(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"automatic": False, "plainCompletion": "on"})
        client.open(URI, "x?")
        assert await client.complete(URI, 0, 2) == []
        for how in ({}, {"context": {"triggerKind": 1}}, {"context": {"triggerKind": 3}}):
            where = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 2}, **how}
            assert len((await client.request("textDocument/completion", where))["items"]) == 1


async def test_a_request_at_no_place_ends_as_one_that_found_nothing(answering_gguf: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite3"
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"log": {"path": str(log)}})
        client.open(URI, "a\nx?")
        assert await client.complete("file:///other.py", 0, 0, invoked=True) == []
        selected = {"range": span(0, 0, 1, 0), "text": "print?"}
        params = place(URI, 1, 2) | {"context": {"triggerKind": 2, "selectedCompletionInfo": selected}}
        assert (await client.request("textDocument/inlineCompletion", params))["items"] == []
        ended = await outcomes(client)
        assert ended["empty"] == sum(ended.values()) == 2
        await client.leave()
    assert [(line["outcome"], line["trigger"]) for line in requests_of(log)] == [("empty", "invoked"), ("empty", "automatic")]
    assert "not open" in requests_of(log)[0]["reason"]
    assert "menu" in requests_of(log)[1]["reason"]


async def test_what_is_selected_in_the_menu_counts_as_typed(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
        await client.initialize()
        client.open(URI, "pri")
        selected = {"range": span(0, 0, 0, 3), "text": "print?"}
        params = place(URI, 0, 3) | {"context": {"triggerKind": 2, "selectedCompletionInfo": selected}}
        (item,) = (await client.request("textDocument/inlineCompletion", params))["items"]
        assert (item["insertText"], item["range"]) == ("print? answer", span(0, 0, 0, 3))
        (suggestion,) = item["command"]["arguments"]
        assert (suggestion["text"], suggestion["range"]) == (item["insertText"], item["range"])
        selected["text"] = "\ud800?"  # half a character, which only JSON's escapes can say
        (item,) = (await client.request("textDocument/inlineCompletion", params))["items"]
        assert item["insertText"] == "\ud800? answer"


async def test_an_item_of_the_menu_that_is_selected_decides_what_is_asked_and_is_part_of_what_is_accepted(
    answering_gguf: Path, tmp_path: Path
) -> None:
    log = tmp_path / "log.sqlite3"
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"inStrings": False, "log": {"path": str(log)}})
        client.open(URI, 'x = "')
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


@pytest.mark.slow
async def test_settings_are_asked_for_and_asked_anew_when_they_change(answering_gguf: Path, tiny_gguf: Path) -> None:
    async with client_of(tiny_gguf) as client:
        client.configuration = {"model": str(answering_gguf), "showUncalibrated": False}
        await client.initialize(configuration=True)
        assert (await client.ready())["state"] == "ready"
        client.open(URI, "x?")
        assert await client.complete(URI, 0, 2) == []
        client.configuration = {"model": str(answering_gguf)}
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        while not (items := await client.complete(URI, 0, 2)):
            await asyncio.sleep(0.05)
        assert items[0]["insertText"] == " answer"
        before = (await client.request("assay/status"))["model"]["id"]
        client.configuration = {"model": str(tiny_gguf)}
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        while (status := await client.request("assay/status"))["model"] is None or status["model"]["id"] == before:
            await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_a_model_that_is_replaced_is_loaded_and_its_old_words_forgotten(
    answering_gguf: Path, tiny_gguf: Path, tmp_path: Path
) -> None:
    path = tmp_path / "model.gguf"
    shutil.copy(tiny_gguf, path)
    async with client_of(path) as client:
        await client.initialize()
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


async def test_of_a_model_that_is_replaced_when_its_process_dies_no_old_word_is_given_as_the_new_ones(
    answering_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_watch, "LOOK_S", 3600.0)  # as long as the watch has not looked
    path, states = tmp_path / "model.gguf", list[State]()
    shutil.copy(answering_gguf, path)
    live = LiveModel(ModelChoice(str(path)), Settings(), on_state=states.append)
    await live.start()
    try:
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
            while live.process.state == "ready":
                await asyncio.sleep(0.01)
            assert ((await live.loaded()).fingerprint.id != before) == other
        assert live.remembered(request) is None
        assert (await live.generate(request)).generations[0].text == " another"
        assert states == ["ready", "loading", "ready", "loading", "ready"]
    finally:
        await live.close()


async def test_a_models_file_is_followed_on_after_an_error(
    answering_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(model_watch, "LOOK_S", 0.02)
    path, notes = tmp_path / "model.gguf", list[str]()
    shutil.copy(answering_gguf, path)

    def note(message: str) -> None:
        notes.append(message)
        raise ConnectionResetError("the editor is away")

    async def told(count: int) -> None:
        async with asyncio.timeout(TIMEOUT_S):
            while len(notes) < count or caplog.text.count("the editor is away") < count:
                await asyncio.sleep(0.02)

    live = LiveModel(ModelChoice(str(path)), Settings(), on_state=lambda _: None, on_note=note)
    await live.start()
    try:
        await live.loaded()
        path.unlink()
        await told(1)
        shutil.copy(answering_gguf, path)
        async with asyncio.timeout(TIMEOUT_S):
            while "has changed" not in live.process.reason:
                await asyncio.sleep(0)
        await live.loaded()
        path.unlink()
        await told(2)
    finally:
        await live.close()


async def test_a_file_that_can_not_be_watched_is_tried_again(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def broken(where: Path) -> model_watch.Version:
        raise RuntimeError(f"no look at {where}")

    monkeypatch.setattr(live_module, "_FOLLOW_AGAIN_S", 0.02)
    monkeypatch.setattr(model_watch, "version_of", broken)
    live = LiveModel(ModelChoice("a.gguf"), Settings(), on_state=lambda _: None)
    await live.start()
    try:
        async with asyncio.timeout(TIMEOUT_S):
            while caplog.text.count("can't be watched") < 2:
                await asyncio.sleep(0.02)
    finally:
        await live.close()


async def test_a_name_that_no_file_can_have_is_watched_in_silence(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(model_watch, "LOOK_S", 0.02)
    monkeypatch.setattr(live_module, "_FOLLOW_AGAIN_S", 0.02)
    live = LiveModel(ModelChoice("a\0.gguf"), Settings(), on_state=lambda _: None)
    await live.start()
    try:
        await asyncio.sleep(0.2)
        assert "can't be watched" not in caplog.text
    finally:
        await live.close()


async def test_a_request_waits_for_the_model_to_load_as_long_as_it_may_and_no_longer(answering_gguf: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite3"
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"maxMs": 300, "log": {"path": str(log)}})
        while (pid := (await client.request("assay/status"))["process"]) is None:
            pass
        os.kill(pid, signal.SIGSTOP)
        client.open(URI, "x?")
        assert await client.complete(URI, 0, 2) == []
        assert (await outcomes(client))["timed_out"] == 1
        with pytest.raises(RpcError, match="the model is still loading"):
            await client.request("assay/context", place(URI, 0, 2))
        client.notify("workspace/didChangeConfiguration", {"settings": {"maxMs": 30_000}})
        early = client.ask("textDocument/inlineCompletion", place(URI, 0, 2) | {"context": {"triggerKind": 1}})
        assert (await client.request("assay/status"))["state"] == "loading"
        os.kill(pid, signal.SIGCONT)
        assert (await client.answer(early))["items"][0]["insertText"] == " answer"
        await client.leave()
    assert requests_of(log)[0]["reason"] == "the model is still loading after 300 ms"


async def test_a_cell_of_a_notebook_is_completed_behind_the_cells_before_it(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
        assert (await client.initialize())["capabilities"]["notebookDocumentSync"] is not None
        cells = [{"kind": 2, "document": f"cell:{n}"} for n in range(2)]
        texts = [{"uri": f"cell:{n}", "languageId": "python", "version": 1, "text": text} for n, text in enumerate(("x = 1", "y?"))]
        notebook = {"uri": "file:///n.ipynb", "notebookType": "jupyter-notebook", "version": 1, "cells": cells}
        client.notify("notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": texts})
        (item,) = await client.complete("cell:1", 0, 2)
        assert item["insertText"] == " answer"
        context = await client.request("assay/context", {"textDocument": {"uri": "cell:1"}, "position": {"line": 0, "character": 2}})
        assert context["prefix"]["text"] == "x = 1\ny?"


async def test_a_cell_behind_more_than_is_looked_at_is_not_taken_for_a_string_that_began_there(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"inStrings": False})
        cells = [{"kind": 2, "document": f"cell:{n}"} for n in range(2)]
        long = '"""' + "some words of a text\n" * 2_000 + '"""\n'
        texts = [
            {"uri": f"cell:{n}", "languageId": "python", "version": 1, "text": text} for n, text in enumerate((long, "def f():\n    x?"))
        ]
        notebook = {"uri": "file:///n.ipynb", "notebookType": "jupyter-notebook", "version": 1, "cells": cells}
        client.notify("notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": texts})
        (item,) = await client.complete("cell:1", 1, 6)
        assert item["insertText"] == " answer"


@pytest.mark.slow
async def test_a_request_between_the_start_and_the_settings_is_answered_and_six_changes_leave_one_process(
    answering_gguf: Path, tiny_gguf: Path
) -> None:
    async with client_of(tiny_gguf) as client:
        client.answers = False
        await client.initialize(configuration=True)
        client.open(URI, "x?")
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
            while children.read_text().split() != [str(pid)]:
                await asyncio.sleep(0.05)


@pytest.mark.slow
async def test_settings_that_come_late_are_used_when_they_come_and_until_then_the_last_ones(answering_gguf: Path, tiny_gguf: Path) -> None:
    async with client_of(tiny_gguf) as client:
        client.answers = False

        def asked() -> list[dict[str, Any]]:
            return [request for request in client.requests if request["method"] == "workspace/configuration"]

        await client.initialize(configuration=True)
        await client.heard("$/assay/didChangeStatus", '"ready"')  # with the model that it was started with
        before = (await client.ready())["model"]["id"]
        client.send({"id": asked()[0]["id"], "result": [{"model": str(answering_gguf), "disabledLanguages": ["python"]}]})
        while (status := await client.request("assay/status"))["model"] is None or status["model"]["id"] == before:
            await asyncio.sleep(0.05)
        client.open(URI, "x?")
        assert await client.complete(URI, 0, 2) == []
        client.notify("workspace/didChangeConfiguration", {"settings": None})
        while len(asked()) < 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(2.2)  # longer than the server waits for an answer
        assert await client.complete(URI, 0, 2) == []
        client.send({"id": asked()[-1]["id"], "result": [{"model": str(answering_gguf)}]})
        while not (items := await client.complete(URI, 0, 2)):
            await asyncio.sleep(0.05)
        assert items[0]["insertText"] == " answer"


@pytest.mark.slow
async def test_a_suggestion_stays_known_when_the_log_or_the_model_changes(answering_gguf: Path, tiny_gguf: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite3"
    async with client_of(answering_gguf) as client:
        await client.initialize()
        client.open(URI, "x?")
        item = (await client.complete(URI, 0, 2, invoked=True))[0]
        suggestion = item["command"]["arguments"][0]
        assert (await client.request("assay/explain", {"id": suggestion["id"]}))["seen"]
        client.notify("workspace/didChangeConfiguration", {"settings": {"log.path": str(log)}})
        while (await client.request("assay/status"))["log"]["path"] != str(log):
            await asyncio.sleep(0.02)
        assert (await outcomes(client))["produced"] == 1
        before = (await client.request("assay/status"))["model"]["id"]
        client.notify("workspace/didChangeConfiguration", {"settings": {"log.path": str(log), "model": str(tiny_gguf)}})
        while (status := await client.request("assay/status"))["model"] is None or status["model"]["id"] == before:
            await asyncio.sleep(0.05)
        assert (await client.request("assay/explain", {"id": suggestion["id"]}))["seen"] == []
        typed(client, 2, 0, 2, item["insertText"])
        await client.request("workspace/executeCommand", {"command": "assay.accepted", "arguments": [suggestion]})
        where = {"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}}
        assert await client.request("textDocument/hover", where) is not None
        await client.complete(URI, 0, 9, invoked=True)
        assert sum((await outcomes(client)).values()) == 2
        await client.leave()
    assert requests_of(log)[-1]["model"] != before


async def test_what_is_logged_says_who_began_and_of_a_request_where_and_what_without_code_or_path(
    answering_gguf: Path, tmp_path: Path
) -> None:
    project, log = tmp_path / "project", tmp_path / "log.sqlite3"
    document = (project / "a.py").as_uri()
    async with client_of(answering_gguf) as client:
        await client.initialize(root=project, name="an editor", options={"log.path": str(log)})
        client.open(document, "x?")
        (item,) = await client.complete(document, 0, 2)
        await client.complete(document, 0, 1)
        assert (await client.request("assay/status"))["log"] == {"path": str(log), "dropped": 0, "trouble": None}
        await client.leave()
    began, *events = events_of(log)
    assert began == ServerStarted(version=__version__, client="an editor")
    first, second = (event for event in events if isinstance(event, RequestEnded))
    assert first.id == item["command"]["arguments"][0]["id"]
    assert (first.document, first.project, first.rank) == (hash_of(document), hash_of(project.as_uri()), 1)
    assert (first.text_sha256, first.characters) == (hashlib.sha256(b" answer").hexdigest(), len(" answer"))
    assert (second.outcome, second.text_sha256, second.characters) == ("empty", "", 0)
    assert b"answer" not in bytes_of(log)
    assert b"project/" not in bytes_of(log)


@pytest.mark.slow
async def test_nothing_is_logged_before_a_client_has_said_that_nothing_is_to_be_logged(
    answering_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "home"))
    async with client_of(answering_gguf) as client:
        client.configuration = {"log": {"events": False}}
        await client.initialize(configuration=True)
        client.open(URI, "x?")
        assert await client.complete(URI, 0, 2)
        assert (await client.request("assay/status"))["log"] is None
        assert (await outcomes(client))["produced"] == 1
        await client.leave()
    assert not (tmp_path / "home").exists()


async def test_a_log_that_can_not_be_written_is_told_once_and_suggestions_come(answering_gguf: Path, tmp_path: Path) -> None:
    log = tmp_path / "no" / "log.sqlite3"
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"log.path": str(log)})
        client.open(URI, "x?")
        assert await client.complete(URI, 0, 2)
        told = await client.heard("window/showMessage", "can't be logged")
        assert told["message"] == f"Assay: events can't be logged: {log}: there is no folder {log.parent}"
        assert (await client.request("assay/status"))["log"]["trouble"]
        await client.leave()
    assert not log.parent.exists()


async def test_what_was_written_with_another_context_is_forgotten(answering_gguf: Path, tmp_path: Path) -> None:
    log = tmp_path / "log.sqlite3"
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"log.path": str(log), "context": {"prefixTokens": 8}})
        client.open(URI, "x?")
        assert await client.complete(URI, 0, 2)
        client.notify("workspace/didChangeConfiguration", {"settings": {"context": {"prefixTokens": 80}}})
        while len({line["prompt"] for line in requests_of(log)}) < 2:
            await client.complete(URI, 0, 2)
        await client.leave()
    first = next(line for line in requests_of(log) if line["prompt"] != requests_of(log)[0]["prompt"])
    assert first["source"] == "model"


async def test_a_folder_that_can_not_be_looked_at_and_folders_that_go_do_no_harm(answering_gguf: Path, tmp_path: Path) -> None:
    async with client_of(answering_gguf) as client:
        await client.initialize(root=Path("/") / ("x" * 300))
        client.open(URI, "x?")
        assert await client.complete(URI, 0, 2)
        folder = {"uri": tmp_path.as_uri(), "name": "a"}
        for event in ({"added": [folder], "removed": []}, {"added": [], "removed": [folder]}):
            client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        assert await client.complete(URI, 0, 2)
        assert await client.leave() == 0


async def test_secrets_are_told_by_name_whatever_the_scheme_and_not_shown_as_context(answering_gguf: Path) -> None:
    async with client_of(answering_gguf) as client:
        await client.initialize(options={"context": {"suffixTokens": 0}})
        for uri in ("untitled:/project/.env", "git:/project/.env?x", "vscode-remote://host/project/.env"):
            client.open(uri, "KEY=x?")
            assert await client.complete(uri, 0, 6, invoked=True) == []
            with pytest.raises(RpcError, match="secrets"):
                await client.request("assay/context", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 6}})
        client.open(URI, "x?word")
        assert await client.complete(URI, 0, 2) == []

"""The live engine through a real server process: a model that always answers " answer" behind a question mark, and a real client."""

from __future__ import annotations

import hashlib
import math
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_gguf import scripted, write_tiny_gguf

from assay import __version__
from assay.calibration.log.events import RequestEnded, ServerStarted, hash_of
from assay.inference.opening import open_model
from assay.suggestion.complete import complete_several

from ..client import URI, RpcError, client_of, place, span, started
from ..logged import bytes_of, events_of, requests_of

pytestmark = pytest.mark.slow


async def test_typing_along_and_taking_back_is_answered_from_memory_with_the_rest(answering_gguf: Path, log: Path) -> None:
    async with started(answering_gguf, "y = 1\n" * 200 + "x?", options={"log": {"path": str(log)}}) as client:
        (whole,) = await client.complete(URI, 200, 2)
        client.insert(URI, 2, 200, 2, " ans")
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


async def test_the_dial_hides_what_is_not_likely_enough_but_not_from_who_asks(answering_gguf: Path, log: Path) -> None:
    options = {"event": "kept", "showUncalibrated": False, "log": {"path": str(log)}, "explore": 0}
    async with started(answering_gguf, "x?", options=options) as client:
        assert await client.complete(URI, 0, 2) == []
        items = await client.complete(URI, 0, 2, invoked=True)
        assert items[0]["insertText"] == " answer"
        client.notify("workspace/didChangeConfiguration", {"settings": {"assay": {"showUncalibrated": True}}})
        assert await client.complete(URI, 0, 2)
        await client.leave()
    hidden, shown, _ = requests_of(log)[:3]
    assert (hidden["outcome"], hidden["propensity"], hidden["trigger"]) == ("hidden", 0, "automatic")
    assert (shown["outcome"], shown["propensity"], shown["trigger"]) == ("produced", 1, "invoked")


async def test_of_alternatives_that_show_one_text_the_first_is_shown(tmp_path: Path) -> None:
    forked = replace(scripted(b" answer", b"\n", b"?", b" answer ", b"\n"), pieces=(b" answer", b" answer "))
    path = write_tiny_gguf(tmp_path / "forked.gguf", forked)
    with open_model(path) as model:
        drawn = complete_several(model, "x?", "", count=2)
    assert {generation.text for generation in drawn} == {" answer", " answer "}
    async with started(path, "x?", options={"alternatives": 2}) as client:
        (item,) = await client.complete(URI, 0, 2, invoked=True)
        assert item["insertText"] == " answer"
        (said,) = item["command"]["arguments"]
        assert math.exp(said["measures"]["agreement"]) < 1


async def test_one_suggestion_comes_unasked_and_typing_another_is_answered_by_it(answering_gguf: Path, log: Path) -> None:
    async with started(answering_gguf, "x?", options={"log": {"path": str(log)}}) as client:
        items = await client.complete(URI, 0, 2, invoked=True)
        assert len(items) > 1
        assert len(await client.complete(URI, 0, 2)) == 1
        other = items[-1]["insertText"]
        client.insert(URI, 2, 0, 2, other[0])
        if len(other) > 1 and (rest := await client.complete(URI, 0, 3)):
            assert len(rest) == 1
        await client.leave()
    assert [line["source"] for line in requests_of(log)][1] == "memory"


async def test_no_suggestion_in_a_word_a_language_that_is_off_or_a_secret_file(answering_gguf: Path) -> None:
    async with started(answering_gguf, "x?word", options={"disabledLanguages": ["markdown"]}) as client:
        assert await client.complete(URI, 0, 2) == []
        for uri, language, why in (
            ("file:///project/.env", "python", "may hold secrets"),
            ("file:///project/a.md", "markdown", "turned off in this language"),
        ):
            document = {"uri": uri, "languageId": language, "version": 1, "text": "x?"}
            client.notify("textDocument/didOpen", {"textDocument": document})
            assert await client.complete(uri, 0, 2, invoked=True) == []
            await client.heard("$/assay/didChangeStatus", why)
        assert (await client.outcomes())["empty"] == 3


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


async def test_a_request_at_no_place_ends_as_one_that_found_nothing(answering_gguf: Path, log: Path) -> None:
    async with started(answering_gguf, "a\nx?", options={"log": {"path": str(log)}}) as client:
        assert await client.complete("file:///other.py", 0, 0, invoked=True) == []
        selected = {"range": span(0, 0, 1, 0), "text": "print?"}
        params = place(URI, 1, 2) | {"context": {"triggerKind": 2, "selectedCompletionInfo": selected}}
        assert (await client.request("textDocument/inlineCompletion", params))["items"] == []
        ended = await client.outcomes()
        assert ended["empty"] == sum(ended.values()) == 2
        await client.leave()
    assert [(line["outcome"], line["trigger"]) for line in requests_of(log)] == [("empty", "invoked"), ("empty", "automatic")]
    assert "not open" in requests_of(log)[0]["reason"]
    assert "menu" in requests_of(log)[1]["reason"]


async def test_a_cell_behind_more_than_is_looked_at_is_not_taken_for_a_string_that_began_there(answering_gguf: Path) -> None:
    async with started(answering_gguf, options={"inStrings": False}) as client:
        client.open_notebook('"""' + "some words of a text\n" * 2_000 + '"""\n', "def f():\n    x?")
        (item,) = await client.complete("cell:1", 1, 6)
        assert item["insertText"] == " answer"


async def test_the_log_says_who_began_where_and_what_without_code_or_path(answering_gguf: Path, tmp_path: Path) -> None:
    project, log = tmp_path / "project", tmp_path / "log.sqlite3"
    document = (project / "a.py").as_uri()
    async with started(answering_gguf, "x?", uri=document, root=project, name="an editor", options={"log.path": str(log)}) as client:
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


async def test_nothing_is_logged_where_a_client_wants_no_log(answering_gguf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "home"))
    async with client_of(answering_gguf) as client:
        client.configuration = {"log": {"events": False}}
        await client.initialize(configuration=True)
        client.open(URI, "x?")
        assert await client.complete(URI, 0, 2)
        assert (await client.request("assay/status"))["log"] is None
        assert (await client.outcomes())["produced"] == 1
        await client.leave()
    assert not (tmp_path / "home").exists()


async def test_a_log_that_can_not_be_written_is_told_once_and_suggestions_come(answering_gguf: Path, tmp_path: Path) -> None:
    log = tmp_path / "no" / "log.sqlite3"
    async with started(answering_gguf, "x?", options={"log.path": str(log)}) as client:
        assert await client.complete(URI, 0, 2)
        told = await client.heard("window/showMessage", "can't be logged")
        assert told["message"] == f"Assay: events can't be logged: {log}: there is no folder {log.parent}"
        assert (await client.request("assay/status"))["log"]["trouble"]
        await client.leave()
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


async def test_a_folder_that_can_not_be_looked_at_and_folders_that_go_do_no_harm(answering_gguf: Path, tmp_path: Path) -> None:
    async with started(answering_gguf, "x?", root=Path("/") / ("x" * 300)) as client:
        assert await client.complete(URI, 0, 2)
        folder = {"uri": tmp_path.as_uri(), "name": "a"}
        for event in ({"added": [folder], "removed": []}, {"added": [], "removed": [folder]}):
            client.notify("workspace/didChangeWorkspaceFolders", {"event": event})
        assert await client.complete(URI, 0, 2)
        assert await client.leave() == 0


async def test_secrets_are_told_by_name_whatever_the_scheme_and_not_shown_as_context(answering_gguf: Path) -> None:
    async with started(answering_gguf, options={"context": {"suffixTokens": 0}}) as client:
        for uri in ("untitled:/project/.env", "git:/project/.env?x", "vscode-remote://host/project/.env"):
            client.open(uri, "KEY=x?")
            assert await client.complete(uri, 0, 6, invoked=True) == []
            with pytest.raises(RpcError, match="secrets"):
                await client.request("assay/context", {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 6}})
        client.open(URI, "x?word")
        assert await client.complete(URI, 0, 2) == []

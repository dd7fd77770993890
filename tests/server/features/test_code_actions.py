"""Code actions through a real server: what is offered at once, and the repairs of the embedded model behind it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from assay.inference.opening import EMBEDDED
from assay.server.documents.documents import Change, Document
from assay.suggestion.positions import Position, Range

from ...inference.chat_server import ChatSpeech, chatting
from ..client import Client, RpcError, client_of, span, wait_until
from ..logged import requests_of

pytestmark = pytest.mark.slow

URI = "file:///project/a.py"
# The sign of the comparison is wrong.
TEXT = """def smallest(numbers):
    best = numbers[0]
    for number in numbers:
        if number > best:
            best = number
    return best
"""
WRONG = "        if number > best:"
ROW = TEXT.split("\n").index(WRONG)
HERE = span(ROW, 8, ROW, 8)
REPAIR, CHOOSE = "Assay: repair this line", "Assay: choose a repair of this line…"
TOLD = {"range": span(ROW, 11, ROW, 24), "message": "this is never true", "source": "linter", "severity": 2}


@asynccontextmanager
async def repairing(text: str = TEXT, *, uri: str = URI, language: str = "python", **options: Any) -> AsyncIterator[Client]:
    async with client_of(EMBEDDED) as client:
        await client.initialize(
            options={"memory": "file", "repair.candidates": 3, "repair.maxMs": 600_000} | options, resolves=True, progress=True
        )
        client.open(uri, text, language=language)
        yield client


def titles(actions: list[dict[str, Any]]) -> list[str]:
    return [action["title"] for action in actions]


async def resolved(client: Client, action: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = await client.request("codeAction/resolve", action)
    return found


def edited(text: str, version: int, action: dict[str, Any], uri: str = URI) -> str:
    """The text after the one edit of an action that is for this version."""
    (change,) = action["edit"]["documentChanges"]
    assert change["textDocument"] == {"uri": uri, "version": version}
    document = Document(URI, "python", version, text, "utf-16")
    for edit in change["edits"]:
        start, end = (Position(**edit["range"][side]) for side in ("start", "end"))
        document.apply(Change(edit["newText"], Range(start, end)))
    return document.text


KINDS: tuple[tuple[list[str], bool, set[str]], ...] = (
    (["quickfix"], True, {"quickfix"}),
    (["quickfix"], False, set()),
    (["refactor"], True, {"refactor.rewrite"}),
    (["refactor.extract", "source"], True, set()),
    ([""], True, {"quickfix", "refactor.rewrite"}),
)


async def test_what_is_offered_follows_the_diagnostics_the_kinds_and_the_place_and_asks_no_model() -> None:
    async with repairing(TEXT + "\n" + "x" * 2_000 + "\n" * 300 + "y") as client:
        fix, choose = await client.actions(URI, HERE, diagnostics=[TOLD])
        assert (fix["title"], fix["kind"], fix["diagnostics"]) == (REPAIR, "quickfix", [TOLD])
        assert fix["data"]["message"] == "linter: this is never true"
        assert (choose["title"], choose["kind"], choose["command"]["command"]) == (CHOOSE, "quickfix", "assay.chooseRepair")
        assert "edit" not in fix
        rewrite, _ = await client.actions(URI, HERE)
        assert (rewrite["title"], rewrite["kind"], rewrite.get("diagnostics")) == (REPAIR, "refactor.rewrite", None)
        block, _ = await client.actions(URI, span(2, 0, 5, 0))
        assert (block["title"], block["data"]["range"]) == ("Assay: repair this block", span(2, 0, 5, 0))
        for only, told, kinds in KINDS:
            actions = await client.actions(URI, HERE, diagnostics=[TOLD] if told else [], only=only)
            assert {action["kind"] for action in actions} == kinds
        last = TEXT.count("\n")
        for nowhere in (span(last, 0, last, 0), span(last + 1, 0, last + 1, 0), span(0, 0, 250, 0), span(9_999, 0, 9_999, 0)):
            assert await client.actions(URI, nowhere) == []
        assert await client.actions("file:///project/other.py", HERE) == []
        assert await client.actions(URI, HERE, triggerKind=2) == []
        assert titles(await client.actions(URI, HERE, triggerKind=2, diagnostics=[TOLD])) == [REPAIR, CHOOSE]
        client.open("file:///project/.env", "KEY=1", language="properties")
        assert await client.actions("file:///project/.env", span(0, 0, 0, 0)) == []
        for name, language, text, why in (
            ("notes.md", "markdown", "# A title\n\nSome wrods.\n", "Markdown: there is no parser for it here"),
            ("b.py", "python", "# Some wrods.\nx = 1\n", "a comment, a docstring or a text of several lines"),
            ("blank.py", "python", "\n\n", r": choose 1 to 200 lines that have text, none longer than 1,000 characters$"),
        ):
            uri, word = f"file:///project/{name}", span(0, 0, 0, 5)
            client.open(uri, text, language=language)
            assert await client.actions(uri, word, diagnostics=[TOLD | {"range": word}]) == []
            with pytest.raises(RpcError, match=why):
                await client.request("assay/repairs", {"textDocument": {"uri": uri}, "range": word})
        for data in (None, {"uri": URI}, {"uri": 1, "version": 1, "range": HERE, "lines": ""}):
            with pytest.raises(RpcError, match=r"assay.repair: "):
                await client.request("workspace/executeCommand", {"command": "assay.repair", "arguments": [data]})
            with pytest.raises(RpcError, match=r"assay/repairs: "):
                await client.request("assay/repairs", {"textDocument": data})
            assert "edit" not in await resolved(client, {"title": "of another server", "data": data})
        assert (await client.ready())["work"] == {"prompt_tokens": 0, "decoded_tokens": 0}
        client.notify("workspace/didChangeConfiguration", {"settings": {"repair.enabled": False}})
        assert await client.actions(URI, HERE, diagnostics=[TOLD]) == []
        with pytest.raises(RpcError, match=r"turned off \(assay.repair.enabled\)"):
            await client.request("assay/repairs", {"textDocument": {"uri": URI}, "range": HERE})


async def test_what_a_light_costs_does_not_depend_on_the_file_or_on_the_model() -> None:
    def seconds(process: int) -> float:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    async with repairing(TEXT * 8_000) as client:
        for told in ([], [TOLD]):
            await client.actions(URI, span(40_000, 0, 40_000, 0), diagnostics=told)
        before = seconds(client.process.pid)
        for row in range(ROW, 48_000, 240):
            assert len(await client.actions(URI, span(row, 0, row, 0), diagnostics=[TOLD])) == 2
        assert (seconds(client.process.pid) - before) / 200 < 0.005


async def test_the_best_repair_is_an_edit_of_the_version_that_was_asked_about_and_the_others_are_listed_then(log: Path) -> None:
    async with repairing(**{"log.path": str(log), "log.text": True}) as client:
        await client.ready()
        fix, _ = await client.actions(URI, HERE)
        after = edited(TEXT, 1, await resolved(client, fix))
        assert after.split("\n")[:ROW] == TEXT.split("\n")[:ROW]
        assert after.split("\n")[ROW] != WRONG
        listed = await client.actions(URI, HERE)
        assert titles(listed)[3:] == [REPAIR, CHOOSE]
        assert all(" → " in title and "%" not in title for title in titles(listed)[:3])
        work = (await client.ready())["work"]
        assert edited(TEXT, 1, await resolved(client, listed[0])) == after
        second = edited(TEXT, 1, await resolved(client, listed[1]))
        assert second not in (TEXT, after)
        assert (await client.ready())["work"] == work
        client.change(URI, 2, {"text": second})
        assert titles(await client.actions(URI, HERE)) == [REPAIR, CHOOSE]
        # The one that was listed belongs to the text before.
        assert "edit" not in await resolved(client, listed[0])
        assert await client.heard("window/showMessage", "the lines are not there any more")
        # A text that changes while its repairs are sought is asked about anew, and no other line is edited.
        other, text = "file:///project/b.py", TEXT.replace("smallest", "least")
        client.open(other, text)
        fix, _ = await client.actions(other, HERE)
        resolving = client.ask("codeAction/resolve", fix)
        await asyncio.sleep(0.1)
        client.insert(other, 2, 0, 0, "# a line above\n")
        after = edited("# a line above\n" + text, 2, await client.answer(resolving), other)
        assert after.split("\n")[ROW + 1] != WRONG
        assert len(set(after.split("\n")) ^ set(("# a line above\n" + text).split("\n"))) == 2
        await client.leave()
    (request, *_) = requests_of(log)
    assert (request["outcome"], request["kind"], request["task"], request["trigger"]) == ("produced", "repair", "repair", "invoked")
    assert request["measures"]["rank"] == 1
    assert [other.rank for other in request["others"]] == [2, 3]


async def test_a_request_gives_way_to_a_later_one_a_cancel_and_what_is_typed() -> None:
    async with repairing(TEXT + "\n\ndef main():\n    print(small", **{"remember": False, "speculate": False, "showAbove": 0}) as client:
        await client.ready()
        params = {"textDocument": {"uri": URI, "version": 1}, "range": HERE}
        older = client.ask("assay/repairs", params)
        later = client.ask("assay/repairs", params | {"range": span(1, 0, 1, 0), "workDoneToken": "later"})
        with pytest.raises(RpcError, match="later request"):
            await client.answer(older)
        found = await client.answer(later)
        assert found["version"] == 1
        assert [repair["edit"]["range"]["start"]["line"] for repair in found["repairs"]] == [1] * len(found["repairs"])
        assert {"kind": "end", "message": "done"} in [
            each["params"]["value"]
            for each in client.notifications
            if each["method"] == "$/progress" and each["params"]["token"] == "later"
        ]
        gone = client.ask("assay/repairs", params)
        client.notify("$/cancelRequest", {"id": gone})
        with pytest.raises(RpcError) as cancelled:
            await client.answer(gone)
        assert cancelled.value.code == -32800
        repairs = client.ask("assay/repairs", {"textDocument": {"uri": URI}, "range": span(0, 0, 6, 0)})
        for _ in range(3):
            assert await client.complete(URI, TEXT.count("\n") + 3, 15)
            assert not client._answers[repairs].done()
        assert (await client.answer(repairs))["repairs"]


async def test_other_languages_broken_files_and_cells_are_repaired_too_and_surprising_tokens_are_told() -> None:
    async with repairing() as client:
        client.open("file:///project/a.js", "function smallest(a, b) {\n  return a > b ? a : b\n}\n", language="javascript")
        found = await client.request("assay/repairs", {"textDocument": {"uri": "file:///project/a.js"}, "range": span(1, 0, 1, 0)})
        assert found["not_asked"].keys() >= {"rules", "instruct"}
        assert found["repairs"]
        broken = "file:///project/broken.py"
        client.open(broken, "def double(numbers):\n    return [2 * number for number in numbers\n\n\nprint(double([1]))\n")
        found = await client.request("assay/repairs", {"textDocument": {"uri": broken}, "range": span(1, 0, 1, 0)})
        mends = [repair["mends"] for repair in found["repairs"]]
        assert mends[0]
        assert mends == sorted(mends, reverse=True)
        assert "mends the file" in found["repairs"][0]["title"]
        client.open_notebook("limit = 3\nnames = []", "for name in names:\n    if len(name) > limit:\n        print(nam)")
        found = await client.request("assay/repairs", {"textDocument": {"uri": "cell:1"}, "range": span(2, 0, 2, 0)})
        assert "`nam` → `name`" in [repair["title"] for repair in found["repairs"]]
        assert {repair["edit"]["range"]["start"]["line"] for repair in found["repairs"]} == {2}
        found = await client.request("assay/surprise", {"textDocument": {"uri": URI}, "range": span(0, 0, 6, 0)})
        assert found["version"] == 1
        assert {line["line"] for line in found["lines"]} == set(range(6))
        token = next(token for token in found["lines"][0]["tokens"] if token["surprise"] > 0)
        assert found["lines"][0]["text"][token["start"] : token["end"]] == token["text"]
        assert not any("diagnostic" in each["method"].lower() for each in client.notifications)


async def test_an_instruct_model_is_told_what_another_tool_says_and_completions_go_first_while_it_answers() -> None:
    speech = ChatSpeech(reply=lambda _: [f"```python\n{TEXT.replace('number > best', 'number < best')}```"], pause_s=0.3)
    with chatting(speech) as address:
        async with repairing(**{"repair.instruct": address, "repair.candidates": 20}) as client:
            fix, _ = await client.actions(URI, HERE, diagnostics=[TOLD])
            resolving = client.ask("codeAction/resolve", fix)
            await wait_until(lambda: speech.chats)
            assert isinstance(await client.complete(URI, 5, 11), list)
            await client.answer(resolving)
            assert any("linter: this is never true" in str(chat["messages"]) for chat in speech.chats)
            found = await client.request("assay/repairs", {"textDocument": {"uri": URI}, "range": HERE})
            assert any("instruct" in repair["sources"] for repair in found["repairs"])

"""What no client should send, and what every text may hold, against a real server process."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from assay.suggestion.positions import split_lines

from ..client import SERVE, TIMEOUT_S, URI, Client, RpcError, client_of, place, span, started

pytestmark = pytest.mark.slow

UNITS = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}
Body = tuple[bytes, Any]  # what is sent, and the id under which exactly one answer has to come; NO_ANSWER for none
NO_ANSWER = object()


def column(text: str, encoding: str) -> int:
    codec, unit = UNITS[encoding]
    return len(text.encode(codec, "surrogatepass")) // unit


# The cursor is at each "|", behind a "?", which the model answers. What is behind the cursor shows that no column is past the line's end.
TEXTS = [
    "a\r\nb?|)\r\nc\r\n",
    "a\rb?|)\rc",
    "a\n\rb?|)\r\n\nc",
    "\tif x:\n\t\ty\t?|\t)",
    "\x0c\nclass A:\x0c\n\x0c?|)\x0c",
    "x = '\u2028\u2029\x85\x0b\x1c?|)'\ny",
    "# 😀👩‍👩‍👧\n'😀'?|)",
    "# 漢字のコメント\n漢字 = é?|)",
    "\ufeff?|)",
    "a\x00b\n\x00?|)\x00",
    "a\ud800\n'\udc00\ud83d'?|)\ud800",
    "?|",
]


@pytest.mark.parametrize("encoding", UNITS)
async def test_the_model_continues_the_text_at_the_cursor_whatever_stands_around_it(answering_gguf: Path, encoding: str) -> None:
    async with client_of(answering_gguf) as client:
        result = await client.initialize(encodings=[encoding], options={"alternatives": 1})
        assert result["capabilities"]["positionEncoding"] == encoding
        for number, text in enumerate(TEXTS):
            uri = f"{URI}/{number}"
            client.open(uri, text.replace("|", ""))
            line = len(split_lines(before := text[: text.index("|")])) - 1
            end = column(split_lines(before)[-1], encoding)
            (item,) = await client.complete(uri, line, end, invoked=True)
            assert item["insertText"] == " answer"
            assert item["range"] == span(line, end, line, end)
            client.change(uri, 2, {"range": span(line, end - 1, line, end), "text": "é😀\r\n?"})
            (item,) = await client.complete(uri, line + 1, 1, invoked=True)
            assert item["insertText"] == " answer"


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="file names are Unicode there")
async def test_a_text_that_is_in_no_file_or_not_as_it_is_on_disk_is_completed(answering_gguf: Path, tmp_path: Path) -> None:
    paths = [tmp_path / "latin.py", tmp_path / os.fsdecode(b"\xff\xfe.py")]
    for path in paths:
        path.write_bytes(b"# caf\xe9 \xff\xfe\x00\n")
    files = [*(path.as_uri() for path in paths), (tmp_path / "deleted.py").as_uri(), tmp_path.as_uri(), "file:///\ud800%zz%00"]
    buffers = ["untitled:Untitled-1", "untitled:", "", "vscode-notebook-cell:Untitled-1.ipynb#X", "git:/a.py?{}", "\ud800"]
    async with started(answering_gguf, root=tmp_path) as client:
        for uri in [*files, *buffers]:
            client.open(uri, "# caf\ufffd\na?")
            assert len(await client.complete(uri, 1, 2)) == 1, uri
        assert await client.leave() == 0


async def test_no_request_is_left_without_an_answer_for_its_id_or_its_method(answering_gguf: Path) -> None:
    async with started(answering_gguf, "a?") as client:
        for number in ("\ud800", "", "0", "漢" * 1_000):
            client.send({"id": number, "method": "\udfff", "params": None})
            with pytest.raises(RpcError) as error:
                await client.answer(number)  # type: ignore[arg-type]
            assert error.value.code == -32601
        for method in ("initialized", "exit", "textDocument/didClose", "$/cancelRequest", "notebookDocument/didOpen", "$/setTrace"):
            with pytest.raises(RpcError, match=re.escape(f"{method} is a notification")) as error:
                await client.request(method, {"textDocument": {"uri": "file:///other"}})
            assert error.value.code == -32600
        client.notify("shutdown")
        client.notify("initialize", {})
        client.open(URI, "a?")
        assert len(await client.complete(URI, 0, 2)) == 1


DEEP = "[" * 3_000 + "]" * 3_000
LONG = "9" * 5_000


@pytest.mark.parametrize("params", [DEEP, LONG, f'{{"id": 1, "text": "]}}\\\\", "value": {DEEP}}}'])
async def test_a_message_that_can_not_be_decoded_is_answered_under_its_id_and_the_server_goes_on(tiny_gguf: Path, params: str) -> None:
    async with started(tiny_gguf) as client:
        bodies = {
            "first": f'{{"jsonrpc": "2.0", "id": "first", "method": "assay/explain", "params": {params}}}',
            77: f'{{"jsonrpc": "2.0", "method": "assay/explain", "params": {params}, "id": 77}}',
        }
        for number, body in bodies.items():
            client.raw(body.encode())
            with pytest.raises(RpcError, match=r"(nested|deep|digits)") as refused:
                await client.answer(number)  # type: ignore[arg-type]
            assert refused.value.code == -32700
        assert (await client.request("assay/status"))["state"] in ("loading", "ready")


@pytest.mark.parametrize("known", ["", f', "params": {DEEP}'], ids=["whole", "deep"])
async def test_a_request_whose_id_or_method_can_not_be_read_is_answered_all_the_same(tiny_gguf: Path, known: str) -> None:
    async with started(tiny_gguf) as client:
        client.raw(f'{{"jsonrpc": "2.0", "id": {LONG}, "method": "assay/status"{known}}}'.encode())
        with pytest.raises(RpcError) as refused:
            await client.answer(None)
        assert refused.value.code == -32700
        client.raw(f'{{"jsonrpc": "2.0", "id": 77, "method": "{LONG}"{known}}}'.encode())
        with pytest.raises(RpcError) as refused:
            await client.answer(77)
        assert refused.value.code in (-32700, -32601)


@pytest.mark.parametrize(
    "named",
    [
        {"rootPath": "/tmp/\ud800"},
        {"rootPath": "/tmp/\0"},
        {"rootUri": "file:///tmp/\ud800"},
        {"workspaceFolders": [{"uri": "file:///tmp/\udfff", "name": "a"}, {"uri": "file:///tmp", "name": "\udfff"}]},
    ],
)
async def test_a_folder_with_a_name_that_no_file_can_have_counts_as_none(answering_gguf: Path, named: dict[str, Any]) -> None:
    async with client_of(answering_gguf) as client:
        await client.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}, **named})
        client.notify("initialized", {})
        client.open(URI, "a?")
        assert len(await client.complete(URI, 0, 2)) == 1
        assert await client.leave() == 0


async def test_no_name_makes_a_link_in_a_message(tmp_path: Path) -> None:
    link = "[x](command:workbench.action.quit)"
    async with started(str(tmp_path / f"{link}.gguf"), options={link: 1, "event": link}) as client:
        client.change(f"file:///{link}.py", 1, {"text": ""})
        for names in ("no suggestions", "lost track", "is no setting", "assay.event"):
            said = (await client.heard("window/showMessage", names))["message"]
            assert "[x] (command:" in said
            assert link not in said


async def test_a_message_at_any_depth_has_one_answer(tiny_gguf: Path) -> None:
    async with started(tiny_gguf) as client:
        for depth in range(50, 1_100, 50):
            inner = "[" * depth + "]" * depth
            for params in (inner, '{"a":' * depth + "1" + "}" * depth, f'{{"command": "assay.pause", "arguments": [{inner}]}}'):
                for method in ("assay/explain", "workspace/executeCommand", "assay/dial", "no/such"):
                    client.raw(f'{{"jsonrpc": "2.0", "id": 77, "method": "{method}", "params": {params}}}'.encode())
                    with suppress(RpcError):
                        await client.answer(77)
            client.raw(f'{{"jsonrpc": "2.0", "method": "workspace/didChangeConfiguration", "params": {{"settings": {inner}}}}}'.encode())
        assert (await client.request("assay/status"))["state"] in ("loading", "ready")


async def test_each_request_among_ten_thousand_hostile_messages_has_one_answer(answering_gguf: Path, tmp_path: Path) -> None:
    hostile = Hostile(seed=1)
    async with listener_of(answering_gguf, tmp_path / "stderr") as client:
        await client.survive(hostile.bodies(500, initialized=False))
        await client.initialize()
        await client.survive(hostile.bodies(9_000))
        client.open("file:///after.py", "a?")
        (item,) = await client.complete("file:///after.py", 0, 2)
        assert item["insertText"] == " answer"
        assert await client.request("shutdown") is None
        await client.survive(hostile.bodies(500, initialized=False))
        client.notify("exit")
        assert await asyncio.wait_for(client.process.wait(), TIMEOUT_S) == 0
    assert "Traceback" not in (tmp_path / "stderr").read_text("utf-8", "replace")


class Listener(Client):
    """A client that counts the answers under each id."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        super().__init__(process)
        self.counts: Counter[Any] = Counter()

    async def survive(self, bodies: Iterator[Body]) -> None:
        """Send them all; wait until each that has to be answered is, and see that none is twice."""
        expected: Counter[Any] = Counter()
        self.counts.clear()
        for body, number in bodies:
            if number is not NO_ANSWER:
                expected[number] += 1
            self.raw(body)
            await self.process.stdin.drain()
        async with asyncio.timeout(2 * TIMEOUT_S):
            while expected - self.counts:
                await asyncio.sleep(0.02)
        assert self.counts == expected

    async def _take(self, message: dict[str, Any]) -> None:
        if "method" not in message and not isinstance(message["id"], int):
            assert ("result" in message) != ("error" in message)
            self.counts[message["id"]] += 1
        else:
            await super()._take(message)


@asynccontextmanager
async def listener_of(model: Path, stderr: Path) -> AsyncIterator[Listener]:
    pipe = asyncio.subprocess.PIPE
    with stderr.open("wb") as log:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVE, str(model), stdin=pipe, stdout=pipe, stderr=log)
    client = Listener(process)
    try:
        yield client
    finally:
        await client.end()


def words(text: str, *more: str) -> tuple[str, ...]:
    return (*text.split(), *more)


REQUESTS = words(
    """textDocument/inlineCompletion workspace/executeCommand assay/status initialize textDocument/hover codeLens/resolve
    textDocument/completion no/such client/registerCapability workspace/configuration rpc.x""",
    "\ud800",
    "",
)
NOTIFICATIONS = words("""$/cancelRequest $/setTrace $/progress $/no/such initialized no/such window/workDoneProgress/cancel
    workspace/didChangeConfiguration workspace/didChangeWorkspaceFolders workspace/didChangeWatchedFiles
    textDocument/didOpen textDocument/didChange textDocument/didClose textDocument/didSave
    notebookDocument/didOpen notebookDocument/didChange notebookDocument/didClose notebookDocument/didSave""")
KEYS = words("""uri textDocument position line character contentChanges text range start end version context triggerKind cells settings
    notebookDocument command arguments id token value event added removed""")


class Hostile:
    """A seeded source of messages that are malformed, come at the wrong time, or are merely unlikely."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._number = 0

    def bodies(self, count: int, *, initialized: bool = True) -> Iterator[Body]:
        """So many; without `initialized` all requests are refused, so that none may change the state of the conversation."""
        for _ in range(count):
            yield self._body(initialized)

    def _body(self, initialized: bool) -> Body:
        pick = self._random
        kind = pick.randrange(10)
        if kind == 0:
            whole = self._encoded({"jsonrpc": "2.0", "id": self._id(), "method": "assay/status", "params": self._value(3)})
            return whole[: pick.randrange(len(whole))], None
        if kind == 1:
            return pick.randbytes(pick.randrange(1, 30)), None
        if kind == 2:
            return self._wrong_envelope()
        if kind == 3:
            method = pick.choice(NOTIFICATIONS)
            number = self._id()
            return self._message(id=number, method=method, params=self._value(3)), number
        if kind in (4, 5):
            return self._message(method=pick.choice(NOTIFICATIONS), params=self._value(4)), NO_ANSWER
        if kind == 6:
            return self._message(method=pick.choice(REQUESTS), params=self._value(3)), NO_ANSWER
        if kind == 7:
            answer = pick.choice(
                [{"result": self._value(2)}, {"error": self._value(2)}, {"error": {"code": 1, "message": "no"}, "result": 1}]
            )
            return self._message(id=pick.choice([self._id(), 7, -1, "x"]), **answer), NO_ANSWER
        if kind == 8:
            return self._plausible()
        number = self._id()
        method = pick.choice([name for name in REQUESTS if initialized or name != "initialize"])
        return self._message(id=number, method=method, params=self._value(4)), number

    def _wrong_envelope(self) -> Body:
        pick = self._random
        number = self._id()
        wrong: list[tuple[Any, Any]] = [
            ([], None),
            ([self._value(2)], None),
            (3, None),
            ({"jsonrpc": "2.0"}, None),
            ({"jsonrpc": "1.0", "id": number, "method": "assay/status"}, number),
            ({"id": number, "method": "assay/status"}, number),
            ({"jsonrpc": "2.0", "id": number}, number),
            ({"jsonrpc": "2.0", "id": number, "method": self._value(2) if pick.random() < 0.5 else 3}, number),
            ({"jsonrpc": "2.0", "id": pick.choice((None, 1.5, True, [], {}, [1])), "method": "assay/status"}, None),
            ([{"jsonrpc": "2.0", "id": number, "method": "assay/status"}], None),
        ]
        message, answered = pick.choice(wrong)
        return self._encoded(message), answered

    def _plausible(self) -> Body:
        """Well formed, for documents that are open or closed, at places that are there or not."""
        pick = self._random
        number = self._id()
        uri = f"file:///project/{pick.randrange(4)}.py"
        start = {"line": pick.randrange(5), "character": pick.randrange(30)}
        end = {"line": pick.choice([0, 2, 2**31 - 1]), "character": pick.choice([0, 3, 2**31 - 1])}
        text = pick.choice(["", "x?", "\r\n", "漢\U0001f600", "\ud800", "\x00\n"])
        document = {"uri": uri, "version": pick.randrange(-5, 100)}
        item = {**document, "languageId": "python", "text": text}
        cells = [{"kind": pick.randrange(4), "document": uri}]
        array = {"start": pick.randrange(3), "deleteCount": pick.randrange(3), "cells": cells}
        edit = {"text": text} if pick.random() < 0.3 else {"range": {"start": start, "end": end}, "text": text}
        notifications: dict[str, dict[str, Any]] = {
            "textDocument/didOpen": {"textDocument": item},
            "textDocument/didClose": {"textDocument": document},
            "textDocument/didChange": {"textDocument": document, "contentChanges": [edit]},
            "notebookDocument/didOpen": {"notebookDocument": {"uri": "file:///n", "cells": cells}, "cellTextDocuments": [item]},
            "notebookDocument/didChange": {"notebookDocument": {"uri": "file:///n"}, "change": {"cells": {"structure": {"array": array}}}},
            "$/cancelRequest": {"id": pick.choice([f"r{self._number - 2}", 3, "x"])},
        }
        if pick.random() < 0.2:
            return self._message(id=number, method="textDocument/inlineCompletion", params=place(uri, **start)), number
        method = pick.choice([*notifications])
        return self._message(method=method, params=notifications[method]), NO_ANSWER

    def _id(self) -> str:
        self._number += 1
        return f"r{self._number}"

    def _message(self, **fields: Any) -> bytes:
        return self._encoded({"jsonrpc": "2.0", **fields})

    def _encoded(self, message: Any) -> bytes:
        return json.dumps(message).encode()

    def _value(self, depth: int) -> Any:
        pick = self._random
        kind = pick.randrange(8 if depth else 6)
        if kind < 2:
            return pick.choice([None, True, 0, -1, 1.5, 2**31, 10**30, float("nan"), 1e308])
        if kind < 6:
            return pick.choice(["", "x", URI, "file://[", "untitled:x", "assay.accepted", "\ud800", "\x00", "verbose", "%", "é" * 40])
        if kind == 6:
            return [self._value(depth - 1) for _ in range(pick.randrange(4))]
        return {pick.choice(KEYS): self._value(depth - 1) for _ in range(pick.randrange(5))}

"""A language client without a library: JSON-RPC over the pipes of a real server process, malformed messages included."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

SERVE = """import sys
from assay.inference.opening import ModelChoice
from assay.server.serve import serve
sys.exit(serve(ModelChoice(sys.argv[1])))"""
TIMEOUT_S = 120.0
URI = "file:///project/a.py"
NO_MEMORY = {"memory": "off"}
QUESTION = "window/showMessageRequest"


class RpcError(Exception):
    """The server answered with an error."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Client:
    """One conversation. Every notification of the server is kept in `notifications`; its requests are answered with null if `answers`."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.notifications: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.answers = True
        self.configuration: Any = None
        # What the server's requests are answered with, by their methods; null where nothing is here.
        self.replies: dict[str, Any] = {}
        self._numbers = itertools.count(1)
        self._answers: dict[int | str | None, asyncio.Future[Any]] = {}
        self._news = asyncio.Condition()
        self._reading = asyncio.create_task(self._read())

    def raw(self, body: bytes) -> None:
        """Send a body that need not be JSON."""
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))

    def send(self, message: dict[str, Any]) -> None:
        self.raw(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def notify(self, method: str, params: Any = None) -> None:
        self.send({"method": method, "params": params})

    def ask(self, method: str, params: Any = None) -> int:
        """Send a request; its answer is waited for with `answer`."""
        number = next(self._numbers)
        self._answers[number] = asyncio.get_running_loop().create_future()
        self.send({"id": number, "method": method, "params": params})
        return number

    async def answer(self, number: int | None, timeout_s: float = TIMEOUT_S) -> Any:
        """The result of a request (None: of the message that had no readable id). Raises RpcError, TimeoutError."""
        future = self._answers.setdefault(number, asyncio.get_running_loop().create_future())
        try:
            return await asyncio.wait_for(future, timeout_s)
        finally:
            self._answers.pop(number, None)

    async def request(self, method: str, params: Any = None) -> Any:
        return await self.answer(self.ask(method, params))

    async def heard(self, method: str, holds: str = "") -> dict[str, Any]:
        """The params of the first notification with this method and this text somewhere in it."""

        def found() -> dict[str, Any] | None:
            same = (n for n in self.notifications if n["method"] == method and holds in json.dumps(n["params"]))
            return next(same, None)

        async with asyncio.timeout(TIMEOUT_S), self._news:
            while (notification := found()) is None:
                await self._news.wait()
        params: dict[str, Any] = notification["params"]
        return params

    async def initialize(
        self,
        *,
        encodings: list[str] | None = None,
        progress: bool = False,
        options: Any = None,
        root: Path | None = None,
        folders: Sequence[Path] = (),
        configuration: bool = False,
        registers: bool = False,
        tells_settings_to: str = "all",
        trusted: bool | None = None,
        resolves: bool = False,
        asks: bool = False,
        name: str = "tests",
    ) -> dict[str, Any]:
        capabilities: dict[str, Any] = {
            "textDocument": {"inlineCompletion": {}},
            "notebookDocument": {"synchronization": {}},
            "window": {"workDoneProgress": progress},
        }
        if resolves:
            literals = {"codeActionKind": {"valueSet": ["quickfix", "refactor"]}}
            actions = {"codeActionLiteralSupport": literals, "resolveSupport": {"properties": ["edit"]}, "dataSupport": True}
            capabilities["textDocument"]["codeAction"] = actions
            capabilities["workspace"] = {"workspaceEdit": {"documentChanges": True}, "applyEdit": True}
        if asks:
            capabilities["window"]["showMessage"] = {"messageActionItem": {}}
        if encodings is not None:
            capabilities["general"] = {"positionEncodings": encodings}
        if configuration:
            capabilities.setdefault("workspace", {})["configuration"] = True
        if tells_settings_to == "registered":
            capabilities.setdefault("workspace", {})["didChangeConfiguration"] = {"dynamicRegistration": True}
        if registers:
            capabilities["textDocument"]["completion"] = {"dynamicRegistration": True}
        params = {"processId": os.getpid(), "rootUri": root and root.as_uri(), "capabilities": capabilities, "clientInfo": {"name": name}}
        if folders:
            params["workspaceFolders"] = [{"uri": folder.as_uri(), "name": folder.name} for folder in folders]
        # Scripted models say what a test expects only where nothing else is mixed in.
        options = NO_MEMORY if options is None else NO_MEMORY | options if isinstance(options, dict) else options
        if trusted is not None:
            options = {**options, "workspaceTrusted": trusted}
        result: dict[str, Any] = await self.request("initialize", params | {"initializationOptions": options})
        self.notify("initialized", {})
        return result

    def open(self, uri: str, text: str, version: int = 1, language: str = "python") -> None:
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": language, "version": version, "text": text}})

    def open_notebook(self, *texts: str) -> None:
        """A notebook of Python cells, whose addresses are cell:0, cell:1 and so on."""
        cells = [{"kind": 2, "document": f"cell:{number}"} for number in range(len(texts))]
        items = [{"uri": f"cell:{n}", "languageId": "python", "version": 1, "text": text} for n, text in enumerate(texts)]
        notebook = {"uri": "file:///n.ipynb", "notebookType": "jupyter-notebook", "version": 1, "cells": cells}
        self.notify("notebookDocument/didOpen", {"notebookDocument": notebook, "cellTextDocuments": items})

    def change(self, uri: str, version: int, *changes: dict[str, Any]) -> None:
        self.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": version}, "contentChanges": list(changes)})

    def insert(self, uri: str, version: int, line: int, column: int, text: str) -> None:
        self.change(uri, version, {"range": span(line, column, line, column), "text": text})

    async def complete(self, uri: str, line: int, character: int, *, invoked: bool = False) -> list[dict[str, Any]]:
        params = place(uri, line, character) | {"context": {"triggerKind": 1 if invoked else 2}}
        items: list[dict[str, Any]] = (await self.request("textDocument/inlineCompletion", params))["items"]
        return items

    async def actions(self, uri: str, place: dict[str, Any], **context: Any) -> list[dict[str, Any]]:
        """The code actions at a place. context: beside the diagnostics, which are none by default."""
        params = {"textDocument": {"uri": uri}, "range": place, "context": {"diagnostics": []} | context}
        found: list[dict[str, Any]] = await self.request("textDocument/codeAction", params)
        return found

    async def question(self, count: int = 1) -> dict[str, Any]:
        """The last of so many questions that the server has asked the user."""

        def asked() -> list[dict[str, Any]]:
            return [request for request in self.requests if request["method"] == QUESTION]

        await wait_until(lambda: len(asked()) >= count)
        return asked()[-1]

    async def ready(self) -> dict[str, Any]:
        """Wait until the model is loaded or failed; the server's status."""
        deadline = time.monotonic() + TIMEOUT_S
        while (status := await self.request("assay/status"))["state"] == "loading":
            assert time.monotonic() < deadline, "the model is still loading"
            await asyncio.sleep(0.02)
        assert isinstance(status, dict)
        return status

    async def outcomes(self) -> dict[str, int]:
        """How many requests have ended in which way."""
        found: dict[str, int] = (await self.request("assay/status"))["outcomes"]
        return found

    async def leave(self) -> int:
        """shutdown and exit; the exit code."""
        assert await self.request("shutdown") is None
        self.notify("exit")
        return await asyncio.wait_for(self.process.wait(), TIMEOUT_S)

    async def end(self) -> None:
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                self.process.kill()
            await self.process.wait()
        self._reading.cancel()
        with suppress(asyncio.CancelledError):
            await self._reading

    async def _read(self) -> None:
        with suppress(asyncio.IncompleteReadError):
            while True:
                header = await self.process.stdout.readuntil(b"\r\n\r\n")
                length = int(header.split(b"Content-Length:")[1].split(b"\r\n")[0])
                await self._take(json.loads(await self.process.stdout.readexactly(length)))
        for future in self._answers.values():
            if not future.done():
                future.set_exception(ConnectionError("the server ended without an answer"))

    async def _take(self, message: dict[str, Any]) -> None:
        if "method" in message and "id" in message:
            self.requests.append(message)
            if self.answers:
                asked = message["method"] == "workspace/configuration"
                reply = [self.configuration] if asked else self.replies.get(message["method"])
                self.send({"id": message["id"], "result": reply(message["params"]) if callable(reply) else reply})
        elif "method" in message:
            async with self._news:
                self.notifications.append(message)
                self._news.notify_all()
        else:
            assert ("result" in message) != ("error" in message), message
            future = self._answers.setdefault(message["id"], asyncio.get_running_loop().create_future())
            if "error" in message:
                future.set_exception(RpcError(message["error"]["code"], message["error"]["message"]))
            else:
                future.set_result(message["result"])


def place(uri: str, line: int, character: int) -> dict[str, Any]:
    """The params of a request for an inline completion."""
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}, "context": {"triggerKind": 2}}


def span(start_line: int, start: int, end_line: int, end: int) -> dict[str, Any]:
    """A Range."""
    return {"start": {"line": start_line, "character": start}, "end": {"line": end_line, "character": end}}


async def wait_until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(TIMEOUT_S):
        while not holds():
            await asyncio.sleep(0.02)


@asynccontextmanager
async def client_of(model: Path | str) -> AsyncIterator[Client]:
    """A client of a server that was started with this model; the process is ended at the end, whatever happened."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", SERVE, str(model), stdin=pipe, stdout=pipe)
    client = Client(process)
    try:
        yield client
    finally:
        await client.end()


@asynccontextmanager
async def started(
    model: Path | str, text: str | None = None, *, uri: str = URI, answers: bool = True, **initialize: Any
) -> AsyncIterator[Client]:
    """A client that has initialised a server with this model and, with a text, opened it as a Python document."""
    async with client_of(model) as client:
        client.answers = answers
        await client.initialize(**initialize)
        if text is not None:
            client.open(uri, text)
        yield client

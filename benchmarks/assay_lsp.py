"""Assay's language server as a contender of benchmarks/live.py, with an editor in front of it that does what VS Code does.

Each key is a didChange, a $/cancelRequest for the request before, and a request for an inline completion, without a delay of the editor.

One thing that VS Code does is left out: it continues to show a suggestion that agrees with what is typed, whatever the server says. Here a
key removes the suggestion from the screen until the server has answered for the new text, so the times are the server's.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import harness
from client import Client, RpcError, span
from replay import Buffer, Edit, GhostText, utf16

AUTOMATIC, INVOKED = 2, 1
# How long a cursor rests before the editors tell of it.
REST_S = 0.15
# As soon as nothing has changed for so long, the server is at rest.
QUIET_S, QUIET_TICKS = 0.25, 0.02
MAX_QUIET_S = 5.0
# LSP's RequestCancelled, ContentModified and ServerCancelled.
CANCELLED = (-32800, -32801, -32802)


class AssayServer:
    """The server with its editor; a `Contender`."""

    def __init__(self, name: str, client: Client) -> None:
        self.name = name
        self.shown: GhostText | None = None
        self.news = asyncio.Event()
        self._client = client
        self._buffer = Buffer("")
        self._uri = ""
        self._version = 0
        self._command: dict[str, Any] | None = None
        self._asking: tuple[int, asyncio.Task[None]] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._error: BaseException | None = None

    async def open(self, file: Path, buffer: Buffer) -> None:
        self._buffer, self._uri, self._version = buffer, file.as_uri(), 1
        self._client.open(self._uri, buffer.text)
        self._rests()

    def changed(self, edit: Edit) -> None:
        self._version += 1
        self._client.change(self._uri, self._version, {"range": span(*edit.start, *edit.end), "text": edit.text})
        self._ask(AUTOMATIC)

    def moved(self) -> None:
        """Moving the cursor hides a suggestion and asks for none."""
        self._cancel()
        self.shown = None
        self._rests()

    def invoked(self) -> None:
        self._ask(INVOKED)

    def accepted(self, edit: Edit) -> None:
        command = self._command
        self.changed(edit)
        if command is not None:
            params = {"command": command["command"], "arguments": command.get("arguments", [])}
            self._follow(self._client.answer(self._client.ask("workspace/executeCommand", params)))

    async def answered(self) -> None:
        """Wait for the answer to the last request."""
        if self._asking is not None:
            await self._asking[1]

    async def rest(self) -> None:
        self._cancel()
        self.shown = None
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._error is not None:
            raise self._error
        self._client.notify("textDocument/didClose", {"textDocument": {"uri": self._uri}})
        await self._quiet()

    def cpu_seconds(self) -> float:
        return harness.cpu_seconds(self._client.process.pid)

    def _ask(self, trigger: int) -> None:
        self._cancel()
        self.shown = None
        params = {"textDocument": {"uri": self._uri}, "position": self._position(), "context": {"triggerKind": trigger}}
        number = self._client.ask("textDocument/inlineCompletion", params)
        self._asking = number, self._follow(self._answer(number))

    def _rests(self) -> None:
        """Tell where the cursor rests, as the editors do, which wait for REST_S first."""

        async def tell() -> None:
            version, place = self._version, (self._buffer.line, self._buffer.column)
            await asyncio.sleep(REST_S)
            if (self._version, self._buffer.line, self._buffer.column) == (version, *place):
                self._client.notify("assay/cursorRests", {"textDocument": {"uri": self._uri}, "position": self._position()})

        self._follow(tell())

    def _position(self) -> dict[str, int]:
        return {"line": self._buffer.line, "character": utf16(self._buffer.before)}

    def _cancel(self) -> None:
        if self._asking is not None and not self._asking[1].done():
            self._client.notify("$/cancelRequest", {"id": self._asking[0]})
        self._asking = None

    async def _answer(self, number: int) -> None:
        try:
            items = (await self._client.answer(number) or {}).get("items", [])
        except RpcError as error:
            if error.code not in CANCELLED:
                raise
            return
        latest = self._asking is not None and self._asking[0] == number
        if latest and items and (shown := self._shown(items[0])) is not None:
            self._command = items[0].get("command")
            self.shown = shown
            self.news.set()

    def _shown(self, item: dict[str, Any]) -> GhostText | None:
        """What an editor shows of an item: nothing where the text does not begin with what it replaces."""
        before, text = self._buffer.before, str(item["insertText"])
        start = item["range"]["start"]["character"] if item.get("range") else utf16(before)
        replaced = before.encode("utf-16-le")[2 * start :].decode("utf-16-le")
        seen = text.removeprefix(replaced)
        if not text.startswith(replaced) or not seen.strip():
            return None
        suggestion = ((item.get("command") or {}).get("arguments") or [{}])[0]
        confidence = suggestion.get("confidence") or {}
        return GhostText(seen, before + seen, time.perf_counter(), confidence.get("probability"), confidence.get("calibrator"))

    async def _quiet(self) -> None:
        """Wait until the server's processes are idle."""
        deadline = time.monotonic() + MAX_QUIET_S
        used, since = self.cpu_seconds(), time.monotonic()
        while time.monotonic() < min(since + QUIET_S, deadline):
            await asyncio.sleep(QUIET_TICKS)
            if (now := self.cpu_seconds()) != used:
                used, since = now, time.monotonic()

    def _follow(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            error = task.exception()
            self._error = self._error or error


@asynccontextmanager
async def assay_server(name: str, model: Path, folders: Sequence[Path], options: dict[str, Any]) -> AsyncIterator[AssayServer]:
    """`assay serve` in its own process, with its model loaded and the workspace folders read for the project memory."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", "assay", "serve", "--model", str(model), stdin=pipe, stdout=pipe)
    client = Client(process)
    try:
        await client.initialize(encodings=["utf-16"], folders=folders, options={"memory": "project", "showAbove": 0} | options)
        status = await client.ready()
        while len(status["memory"]) < len(folders) or any(project["state"] == "reading" for project in status["memory"]):
            await asyncio.sleep(0.05)
            status = await client.ready()
        if status["state"] != "ready":
            raise RuntimeError(f"the model is not there: {status['reason']}")
        yield AssayServer(name, client)
        with suppress(TimeoutError, ConnectionError):
            await client.leave()
    finally:
        await client.end()

"""The server's side of a process that runs a project's tests: asyncio, and started when something is asked."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from ...suggestion.repair.verified import Verification
from ..model.ipc import HEADER_BYTES, frame, parse

_COMMAND = ("-P", "-m", "assay.server.verification.worker")  # -P: a workspace's json.py must not be imported in place of Python's own
# One answer may take so long, the first runs of the whole suite included. Then the process is ended.
MAX_ANSWER_S = 600.0
# A process that nobody asks holds a copy of the project.
_IDLE_S = 900.0
# Its copy is removed meanwhile.
_CLOSE_S = 6.0


class ProjectProcess:
    """Runs the tests of one project, one request after the other."""

    def __init__(self, project: Path, python: Path | None, note: Callable[[str], None]) -> None:
        """note: is told, in a sentence, what takes a while."""
        self.project = project
        self._arguments = [str(project), *([str(python)] if python else [])]
        self._note = note
        self._child: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()
        self._requests = 0
        self._idle: asyncio.TimerHandle | None = None
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The process's id while it runs."""
        return self._child.pid if self._child is not None and self._child.returncode is None else None

    async def judge(self, file: Path, before: str, text: str) -> Verification:
        """What the tests say of a text of a file beside the one that stands there."""
        return await self._verification({"op": "judge", "file": str(file), "before": before, "text": text})

    async def run(self, file: Path, text: str, lines: range) -> Verification:
        """What the tests that touch some lines (from 1) say of the text that stands there."""
        return await self._verification({"op": "run", "file": str(file), "text": text, "first": lines.start, "end": lines.stop})

    async def refresh(self) -> None:
        """Measure anew where files have changed; nothing where no process runs."""
        if self.pid is not None and not self._turn.locked():
            await self._verification({"op": "refresh"})

    async def close(self) -> None:
        """End the process: kindly, then by force."""
        self._closed = True
        await self._end()

    async def _verification(self, message: dict[str, Any]) -> Verification:
        # The answer is waited for also where nobody wants it any more: the next one must not be taken for it.
        return await asyncio.shield(asyncio.ensure_future(self._in_turn(message)))

    async def _in_turn(self, message: dict[str, Any]) -> Verification:
        async with self._turn:
            if self._closed:
                return _unknown("no tests of this project are run any more")
            # A save is no request: the process idles on.
            is_asked = message["op"] != "refresh"
            if self._idle is not None and is_asked:
                self._idle.cancel()
            try:
                answer = await asyncio.wait_for(self._ask(message), MAX_ANSWER_S)
            except TimeoutError:
                await self._end()
                return _unknown(f"the tests of {self.project.name} took longer than {MAX_ANSWER_S / 60:.0f} minutes, and were ended")
            except (OSError, ValueError, asyncio.IncompleteReadError):
                await self._end()
                return _unknown(f"the process that runs the tests of {self.project.name} ended; the next request starts it again")
            if is_asked or self._idle is None:
                self._idle = asyncio.get_running_loop().call_later(_IDLE_S, lambda: asyncio.ensure_future(self._end()))
        if "error" in answer:
            return _unknown(answer["error"])
        return _unknown("") if answer["ok"] is None else _from_json(answer["ok"])

    async def _ask(self, message: dict[str, Any]) -> dict[str, Any]:
        child = await self._started()
        assert child.stdin is not None
        assert child.stdout is not None
        self._requests += 1
        child.stdin.write(frame({"id": self._requests, **message}))
        await child.stdin.drain()
        while True:
            size = int.from_bytes(await child.stdout.readexactly(HEADER_BYTES), "big")
            answer = parse(await child.stdout.readexactly(size))
            if answer["id"] != self._requests:
                continue
            if "note" not in answer:
                return answer
            self._note(answer["note"])

    async def _started(self) -> asyncio.subprocess.Process:
        if self._child is None or self._child.returncode is not None:
            pipe = asyncio.subprocess.PIPE
            nothing = asyncio.subprocess.DEVNULL
            self._child = await asyncio.create_subprocess_exec(
                sys.executable, *_COMMAND, *self._arguments, stdin=pipe, stdout=pipe, stderr=nothing
            )
        return self._child

    async def _end(self) -> None:
        child, self._child = self._child, None
        if self._idle is not None:
            self._idle.cancel()
        if child is None or child.returncode is not None:
            return
        assert child.stdin is not None
        child.stdin.close()
        with suppress(TimeoutError):
            await asyncio.wait_for(child.wait(), _CLOSE_S)
            return
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()


def _unknown(why: str) -> Verification:
    return Verification(None, 0, 0.0, why=why)


def _from_json(told: dict[str, Any]) -> Verification:
    mends, breaks, failing = (tuple(told[key]) for key in ("mends", "breaks", "failing"))
    return Verification(told["passed"], told["tests"], told["seconds"], mends, breaks, told["why"], failing)

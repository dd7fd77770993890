"""Runs a Python process that prints a JSON object: for work that would hold the event loop for too long."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...inference.opening import ModelChoice

# How long to wait for a process that was killed.
_END_TIMEOUT_S = 2.0


class ChildProcessFailed(Exception):
    """There is no answer. The message says why, for people."""


async def json_from(*arguments: str, question: object = None) -> dict[str, Any]:
    """The JSON object that a Python process with these arguments prints. question: sent to its stdin, as JSON. As `CommandProcess.run`."""
    return await CommandProcess().run(arguments, None, lambda _: None, json.dumps(question))


# Who has typed nothing for so long thinks, or reads.
QUIET_S = 3.0
_BAR = "━─ "
# A line of a document with samples' paths and calibrators is long, but not longer.
_MAX_LINE = 1 << 20


def arguments_of(choice: ModelChoice, memory: str, minutes: float, folders: Sequence[Path], *, project: bool) -> list[str]:
    """The command `assay calibrate model` for a model as a server runs it."""
    wanted = ["--minutes", f"{minutes:g}", "--memory", memory, *(["--project"] if project else [])]
    own = from_anywhere(choice).arguments
    return ["-m", "assay", "calibrate", "model", "--json", "--background", *own, *wanted, "--", *map(str, folders)]


def from_anywhere(choice: ModelChoice) -> ModelChoice:
    """The same model for a process that runs in another folder: paths are absolute."""
    options = choice.options
    if "key_files" in options:
        options = {**options, "key_files": {address: _absolute(file) for address, file in options["key_files"].items()}}
    return replace(choice, where=None if choice.where is None else _absolute(choice.where), options=options)


def _absolute(where: str) -> str:
    """A path that this process finds; a name or an address as it is."""
    return str(Path(where).absolute()) if "://" not in where and Path(where).exists() else where


class CommandProcess:
    """Runs one process at a time. It is its group's first, so that its workers stop and end with it."""

    def __init__(self) -> None:
        self._group: int | None = None
        self._going_on: asyncio.TimerHandle | None = None

    async def run(
        self, arguments: Sequence[str], folder: Path | None, tell: Callable[[str], None], question: str | None = None
    ) -> dict[str, Any]:
        """The document that a Python process with these arguments prints.

        folder: where it runs, None for here. tell: told how far it is. question: sent to its stdin, which is closed then; without one it
        stays open, for a command in the background ends with its stdin. Cancelling ends the process. Raises ChildProcessFailed, with its
        last line on stderr, if its exit code is not 0.
        """
        pipe = asyncio.subprocess.PIPE
        try:
            # -P: a json.py in the workspace must not be imported in place of Python's own.
            child = await asyncio.create_subprocess_exec(
                sys.executable, "-P", *arguments,
                stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, limit=_MAX_LINE, process_group=0,
            )  # fmt: skip
        except OSError as error:
            raise ChildProcessFailed(f"the process can't be started: {error.strerror}") from error
        self._group = child.pid
        assert child.stdin is not None
        assert child.stdout is not None
        assert child.stderr is not None
        try:
            if question is not None:
                child.stdin.write(question.encode())
                child.stdin.close()
            out, last = await asyncio.gather(child.stdout.read(), _told(child.stderr, tell))
            code = await child.wait()
        finally:
            await self._end(child)
        if code != 0:
            raise ChildProcessFailed(last.removeprefix("assay: ") or f"the process ended with {code}")
        try:
            answer = json.loads(out)
        except ValueError as error:
            raise ChildProcessFailed("the process printed something that is not JSON") from error
        assert isinstance(answer, dict)
        return answer

    def typed(self) -> None:
        """The user types: the process stops until nothing was typed for a while."""
        if self._group is None:
            return
        if self._going_on is None:
            self._signal(signal.SIGSTOP)
        else:
            self._going_on.cancel()
        self._going_on = asyncio.get_running_loop().call_later(QUIET_S, self._go_on)

    def _go_on(self) -> None:
        self._going_on = None
        self._signal(signal.SIGCONT)

    def _signal(self, what: signal.Signals) -> None:
        if self._group is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._group, what)

    async def _end(self, child: asyncio.subprocess.Process) -> None:
        """Also its workers: a stopped one would be left."""
        if self._going_on is not None:
            self._going_on.cancel()
            self._going_on = None
        self._signal(signal.SIGKILL)
        self._group = None
        with suppress(TimeoutError):
            await asyncio.wait_for(child.wait(), _END_TIMEOUT_S)


async def _told(stream: asyncio.StreamReader, tell: Callable[[str], None]) -> str:
    """Tell the lines that a process writes for people, and return the last."""
    last = ""
    async for line in stream:
        if words := line.decode("utf-8", "replace").strip():
            last = words
            tell(words.lstrip(_BAR))
    return last

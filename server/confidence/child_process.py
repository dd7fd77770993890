"""Runs a Python process that answers one question, both as JSON: for work that would hold the event loop for too long."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from typing import Any

# How long to wait for a process that was killed.
_END_TIMEOUT_S = 2.0


class ChildProcessFailed(Exception):
    """There is no answer. The message says why, for people."""


async def json_from(*arguments: str, question: object = None) -> dict[str, Any]:
    """Run a Python process with these arguments, and return the JSON object that it prints. question: sent to its stdin, as JSON.

    Cancelling ends the process. Raises ChildProcessFailed, with its last line on stderr, if its exit code is not 0.
    """
    pipe = asyncio.subprocess.PIPE
    try:
        # -P: a json.py in the workspace must not be imported in place of Python's own.
        child = await asyncio.create_subprocess_exec(sys.executable, "-P", *arguments, stdin=pipe, stdout=pipe, stderr=pipe)
    except OSError as error:
        raise ChildProcessFailed(f"the process can't be started: {error.strerror}") from error
    try:
        out, said = await child.communicate(json.dumps(question).encode())
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            with suppress(TimeoutError):
                await asyncio.wait_for(child.wait(), _END_TIMEOUT_S)
    if child.returncode != 0:
        last = said.decode("utf-8", "replace").strip().rpartition("\n")[2].removeprefix("assay: ")
        raise ChildProcessFailed(last or f"the process ended with {child.returncode}")
    try:
        answer = json.loads(out)
    except ValueError as error:
        raise ChildProcessFailed("the process printed something that is not JSON") from error
    assert isinstance(answer, dict)
    return answer

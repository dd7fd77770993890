"""Work that takes the processor for longer than the event loop may wait, in a process of its own: one question, one answer, both JSON."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from typing import Any

# A process that was killed is gone in so long.
_END_S = 2.0


class SideProcessError(Exception):
    """There is no answer; the message says why, for people."""


async def answer_of(*arguments: str, question: object = None) -> dict[str, Any]:
    """What a Python process with these arguments prints: a JSON object. question: what it reads from stdin, as JSON.

    Cancelling ends the process. Raises SideProcessError, with what it said last, where it does not end with 0.
    """
    pipe = asyncio.subprocess.PIPE
    try:
        # -P: a workspace's json.py must not be imported in place of Python's own
        child = await asyncio.create_subprocess_exec(sys.executable, "-P", *arguments, stdin=pipe, stdout=pipe, stderr=pipe)
    except OSError as error:
        raise SideProcessError(f"the process can't be started: {error.strerror}") from error
    try:
        out, said = await child.communicate(json.dumps(question).encode())
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            with suppress(TimeoutError):
                await asyncio.wait_for(child.wait(), _END_S)
    if child.returncode != 0:
        last = said.decode("utf-8", "replace").strip().rpartition("\n")[2].removeprefix("assay: ")
        raise SideProcessError(last or f"the process ended with {child.returncode}")
    try:
        told = json.loads(out)
    except ValueError as error:
        raise SideProcessError("the process printed something that is no JSON") from error
    assert isinstance(told, dict)
    return told

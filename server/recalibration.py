"""Recalibrating from the log, in a process of its own: a fit takes seconds of the processor."""

from __future__ import annotations

import asyncio
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

# -P: a workspace's json.py must not be imported in place of Python's own
_COMMAND = ("-P", "-m", "assay", "logs", "recalibrate", "--json", "--log")
# A process that was asked to end has so long.
_END_S = 2.0


class RecalibrationError(Exception):
    """It did not come to an end; the message says why, for people."""


async def recalibrate(log: Path) -> dict[str, Any]:
    """What `assay logs recalibrate --json` prints for a log. Cancelling ends the process. Raises RecalibrationError."""
    pipe = asyncio.subprocess.PIPE
    try:
        child = await asyncio.create_subprocess_exec(
            sys.executable, *_COMMAND, str(log), stdin=asyncio.subprocess.DEVNULL, stdout=pipe, stderr=pipe
        )
    except OSError as error:
        raise RecalibrationError(f"the process can't be started: {error.strerror}") from error
    try:
        out, said = await child.communicate()
    finally:
        if child.returncode is None:
            with suppress(ProcessLookupError):
                child.kill()
            with suppress(TimeoutError):
                await asyncio.wait_for(child.wait(), _END_S)
    if child.returncode != 0:
        last = said.decode("utf-8", "replace").strip().rpartition("\n")[2].removeprefix("assay: ")
        raise RecalibrationError(last or f"the process ended with {child.returncode}")
    try:
        told = json.loads(out)
    except ValueError as error:
        raise RecalibrationError("the process printed something that is no JSON") from error
    assert isinstance(told, dict)
    return told

"""Serve requests in a warm process: each is answered by a forked child that swaps code and runs tests. All is imported and collected once.

A request: select, expected, allowance (as in plugin.py), wall_s, and change: null, or {file, old, new} with the file's absolute path
and its texts. Records: `ready` (warm, reason) once. For each request those of plugin.py, `refused` with a reason where the code can't be
swapped, `broke` where a test ended the whole child, and last `answered` (ending: exited, signalled or timed_out; status: exit code or
signal).
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from .channel import Channel
from .swap import CannotSwap, Live, swap

RunTests = Callable[[Sequence[pytest.Item], dict[str, str], dict[str, float]], None]
"""Runs tests in their order: the tests, the expected outcome of each by id, the CPU seconds that each may take."""

_MAX_POLL_S = 0.01


def serve(channel: Channel, session: pytest.Session, run_tests: RunTests) -> None:
    """Answer requests until the other side closes."""
    items = {item.nodeid: item for item in session.items}
    live = Live.found(channel.first["root"])
    if threading.active_count() > 1:
        channel.send("ready", warm=False, reason="the project starts a thread at import: a forked process would not have it")
        return
    temporary = Path(tempfile.gettempdir())
    initial = {path.name for path in temporary.iterdir()}
    gc.collect()
    gc.freeze()
    channel.send("ready", warm=True, reason="")
    for request in channel.requests():
        child = os.fork()
        if child == 0:
            _answer(channel, run_tests, items, request, live)
        ending, status = _wait(child, request["wall_s"])
        _clear(temporary, initial)
        channel.send("answered", ending=ending, status=status)


def _answer(channel: Channel, run_tests: RunTests, by_id: dict[str, pytest.Item], request: dict[str, Any], live: Live) -> None:
    """In the child, which never returns."""
    try:
        os.setpgid(0, 0)
        if change := request["change"]:
            swap(live, change["file"], change["old"], change["new"])
        run_tests([by_id[test] for test in request["select"]], request["expected"], request["allowance"])
        channel.send("ended", status=0, cpu_s=0.0)
    except CannotSwap as refusal:
        channel.send("refused", reason=str(refusal))
    except BaseException as error:
        channel.send("broke", reason=f"{type(error).__name__}: {error}")
    finally:
        os._exit(0)


def _wait(child: int, wall_s: float) -> tuple[str, int]:
    """Wait for a child and kill what is left of its process group."""
    until = time.monotonic() + wall_s
    timed_out = False
    descriptor = os.pidfd_open(child) if hasattr(os, "pidfd_open") else None
    try:
        while os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
            left = until - time.monotonic()
            if left <= 0 and not timed_out:
                timed_out = True
                os.kill(child, signal.SIGKILL)
            elif descriptor is not None:
                select.select([descriptor], [], [], max(left, 0.05))
            else:
                time.sleep(_MAX_POLL_S)
    finally:
        if descriptor is not None:
            os.close(descriptor)
    # before the child is reaped, so that no other process can have its id
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if timed_out:
        return "timed_out", 0
    code = os.waitstatus_to_exitcode(status)
    return ("exited", code) if code >= 0 else ("signalled", -code)


def _clear(temporary: Path, kept: set[str]) -> None:
    """Remove what a child has left in the temporary folder, so that the next one finds it as it was."""
    for path in temporary.iterdir():
        if path.name not in kept:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)

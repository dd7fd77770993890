"""Serve requests in a warm process: each is answered by a forked child that swaps code and runs tests. All is imported and collected once.

A request: nonce (that its records begin with), select, expected, allowance (as in plugin.py), wall_s, and change: null, or {file, old, new}
with the file's absolute path and its texts. Records: `ready` (warm, reason) once. For each request those of plugin.py, `refused` with a
reason where the code can't be swapped, `broke` where a test ended the whole child, and last `answered` (ending: exited, signalled or
timed_out; status: exit code or signal; left: whether processes were left that the next child would meet).
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import select
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from .channel import Channel, printable
from .swap import CannotSwap, Live, swap

RunTests = Callable[[Sequence[pytest.Item], dict[str, str], dict[str, float]], None]
"""Runs tests in their order: the tests, the expected outcome of each by id, the CPU seconds that each may take."""

_MAX_POLL_S = 0.01
# A killed process may take so long to be gone.
_ENDING_S = 0.5
_PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 4, 36


def serve(channel: Channel, session: pytest.Session, run_tests: RunTests) -> None:
    """Answer requests until the other side closes."""
    items = {printable(item.nodeid): item for item in session.items}
    live = Live.found(channel.first["root"])
    if threading.active_count() > 1:
        channel.send("ready", warm=False, reason="the project starts a thread at import: a forked process would not have it")
        return
    folders = [tempfile.gettempdir(), *channel.first["clear"]]
    initial = {path for folder in folders for path in _paths(folder)}
    # orphans of a child become this process's own, and nobody but its parent reads or writes its memory
    libc = ctypes.CDLL(None)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    alone = not _has_children()
    gc.collect()
    gc.freeze()
    channel.send("ready", warm=True, reason="")
    for request in channel.requests():
        channel.begin(request)
        child = os.fork()
        if child == 0:
            libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
            _answer(channel, run_tests, items, request, live)
        ending, status = _wait(child, request["wall_s"])
        for folder in folders:
            _clear(folder, initial)
        channel.send("answered", ending=ending, status=status, left=alone and _has_children(_ENDING_S))


def _answer(channel: Channel, run_tests: RunTests, by_id: dict[str, pytest.Item], request: dict[str, Any], live: Live) -> None:
    """In the child, which never returns."""
    try:
        os.setpgid(0, 0)
        channel.close_requests()
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


def _has_children(patience_s: float = 0.0) -> bool:
    """Whether this process has children that live on. Those that have ended, or end in so many seconds, are reaped."""
    until = time.monotonic() + patience_s
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] or time.monotonic() < until:
            time.sleep(0.001)
        return True
    return False


def _paths(folder: str) -> list[str]:
    """What is below a folder on its own file system, a folder after what is in it."""
    found, todo, device = [], [folder], Path(folder).stat().st_dev
    while todo:
        with contextlib.suppress(OSError), os.scandir(todo.pop()) as entries:
            for entry in entries:
                if entry.stat(follow_symlinks=False).st_dev != device:
                    continue
                found.append(entry.path)
                if entry.is_dir(follow_symlinks=False):
                    todo.append(entry.path)
    return found[::-1]


def _clear(folder: str, kept: set[str]) -> None:
    """Remove what a child has left in a folder, so that the next one finds it as it was."""
    for path in _paths(folder):
        if path not in kept:
            with contextlib.suppress(OSError):
                found = Path(path)
                found.rmdir() if found.is_dir() and not found.is_symlink() else found.unlink()

"""A warm process that forks a child for each request, watches it, and reports how it ended.

It runs inside a jail, beside what it forks, and needs the standard library only. It is told what to do by messages on one socket: `prepare`
(answered by what the server's own preparation gives), `run` with a file descriptor for the child (answered once, by a report), `stop` (ends
the child that runs, after the seconds that it has for ending by itself; without one, nothing).
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import select
import signal
import socket
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..isolation import rlimits, view
from ..isolation.confine import Confinement
from ..isolation.confine import prepare as confinement
from ..isolation.limits import OPEN_FILES, Limits
from .wire import Closed, receive_message, send_message

Prepare = Callable[[dict[str, Any]], dict[str, Any]]
Run = Callable[[dict[str, Any], int], None]

# A child's files after its standard streams: its wire, and its confinement until that is closed.
_WIRE = 3
_RULES = 4
# Processes with several threads use CPU time faster than the clock goes.
_LONGEST_LOOK = 0.25


def serve(control: socket.socket, prepare: Prepare, run: Run) -> None:
    """Until the other end of control is closed. run(request, wire) is called in the child, which ends when it returns."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # nobody reads what preparations print
    os.close(nothing)
    gc.collect()
    gc.freeze()
    held: dict[Limits, Confinement] = {}
    while True:
        try:
            request, wire = receive_message(control)
        except Closed:
            return
        if request["do"] == "prepare":
            send_message(control, prepare(request))
        elif request["do"] == "run" and wire is not None:
            send_message(control, _forked(control, request, run, wire, held))


def _forked(control: socket.socket, request: dict[str, Any], run: Run, wire: int, held: dict[Limits, Confinement]) -> dict[str, Any]:
    """The report on one child: status (below 0: the signal), killed ("", "cpu", "wall", "stop"), cpu_s, wall_s, output."""
    limits = Limits(**request["limits"])
    confined = _confinement(limits, held) if request["confine"] else None
    read, write = os.pipe()
    began = time.monotonic()
    pid = os.fork()
    if pid == 0:
        _child(request, limits, confined, run, wire, write)
    os.close(write)
    os.close(wire)
    try:
        return _watched(control, pid, read, limits, began)
    finally:
        os.close(read)


def _confinement(limits: Limits, held: dict[Limits, Confinement]) -> Confinement:
    """Only what Python itself needs can be read, and nothing written; made once for all programs in a row with the same limits."""
    if limits not in held:
        for old in held.values():
            os.close(old.rules)
        held.clear()
        readable = [*view.system_paths(), *view.interpreter_folders(), *map(Path, filter(None, sys.path))]
        held[limits] = confinement(limits, readable=readable)
    return held[limits]


def _child(request: dict[str, Any], limits: Limits, confined: Confinement | None, run: Run, wire: int, output: int) -> None:
    """Never returns. The child has its streams, its wire, and no other file of the server's."""
    status, said = 70, output
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        kept = [nothing, output, output, wire, confined.rules if confined else nothing]
        # out of the way first: one of them may have another's number
        aside = [os.dup(fd) for fd in kept]
        high = max(*aside, _RULES) + 1
        for place, fd in enumerate(aside):
            os.dup2(fd, high + place)
        for place in range(len(aside)):
            os.dup2(high + place, place)
        said = 1
        os.closerange(_RULES + 1, os.sysconf("SC_OPEN_MAX"))
        if confined is not None:
            replace(confined, rules=_RULES).apply(forked=True)
        else:
            os.close(_RULES)
            rlimits.bound_process(cpu_s=limits.cpu_s, memory_bytes=limits.memory_bytes, file_bytes=limits.file_bytes, open_files=OPEN_FILES)
        run(request, _WIRE)
        status = 0
    except BaseException as error:
        os.write(said, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(status)


def _watched(control: socket.socket, pid: int, output: int, limits: Limits, began: float) -> dict[str, Any]:
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(output, select.POLLIN)
    kept, killed, ended, longest, stop_at = bytearray(), "", None, _LONGEST_LOOK, math.inf
    while ended is None:
        now = time.monotonic()
        cpu_left, wall_left, stop_left = limits.cpu_s - _cpu_of(pid), began + limits.wall_s - now, stop_at - now
        killed = "cpu" if cpu_left <= 0 else "wall" if wall_left <= 0 else "stop" if stop_left <= 0 else ""
        if killed:
            ended = _killed(pid)
            break
        for fd, _ in poll.poll(1000 * min(cpu_left, wall_left, stop_left, longest) + 1):
            if fd == output:
                part = os.read(output, 1 << 16)
                kept += part[: limits.output_bytes - len(kept)]
                if not part:  # its streams are closed: most likely it is ending just now
                    poll.unregister(output)
                    longest = 0.0005
            else:
                poll.unregister(control)
                stop_at = time.monotonic() + _told(control)
        ended, longest = _ended(pid), min(2 * longest, _LONGEST_LOOK)
    kept += _rest(output, limits.output_bytes - len(kept))
    status, usage = ended
    return {
        "status": os.waitstatus_to_exitcode(status),
        "killed": killed,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "wall_s": time.monotonic() - began,
        "output": kept.decode("utf-8", "replace"),
    }


def _told(control: socket.socket) -> float:
    """How many seconds the child has to end by itself: only the order to stop comes while it runs. An owner that is gone is one, too."""
    with contextlib.suppress(Closed):
        return float(receive_message(control)[0]["patience_s"])
    return 0.0


def _cpu_of(pid: int) -> float:
    """Seconds of CPU that a process and its threads have used (Linux's encoding of the clock of a process); 0 where it can't be told."""
    try:
        return time.clock_gettime((~pid << 3) | 2)
    except OSError:
        return 0.0


def _ended(pid: int) -> tuple[int, Any] | None:
    found, status, usage = os.wait4(pid, os.WNOHANG)
    return (status, usage) if found else None


def _killed(pid: int) -> tuple[int, Any]:
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
    _, status, usage = os.wait4(pid, 0)
    return status, usage


def _rest(output: int, room: int) -> bytes:
    """What stands in the pipe still. Who else holds its other end does not matter: nothing waits for it."""
    os.set_blocking(output, False)
    try:
        return os.read(output, 1 << 16)[: max(room, 0)]
    except BlockingIOError:
        return b""

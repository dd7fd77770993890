"""A warm process that forks a child for each request, watches it, and reports how it ended.

It runs inside a jail, beside its children, and needs the standard library only. Requests come as messages on one socket:

    prepare  answered by what the server's own `prepare` returns
    run      with a file descriptor for the child; answered once, by a report
    stop     end the running child after the seconds that it has for ending by itself; does nothing where none runs
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

from ..isolation import kernel, view
from ..isolation.confine import Confinement
from ..isolation.confine import prepare as confinement
from ..isolation.limits import Limits
from .wire import WireClosed, receive_message, send_message

Prepare = Callable[[dict[str, Any]], dict[str, Any]]
Run = Callable[[dict[str, Any], int], None]

# A child's descriptors after its standard streams: its wire, and its confinement until that is closed.
_WIRE = 3
_RULES = 4
# Short, since several threads use CPU time faster than the clock runs.
_MAX_POLL_S = 0.25


def serve(control: socket.socket, prepare: Prepare, run: Run) -> None:
    """Serve requests until the other end of control is closed. run(request, wire) is called in the child, which ends when it returns."""
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, 1)  # nobody reads what preparations print
    os.close(nothing)
    gc.collect()
    gc.freeze()
    held: dict[Limits, Confinement] = {}
    while True:
        try:
            request, wire = receive_message(control)
        except WireClosed:
            return
        if request["do"] == "prepare":
            send_message(control, prepare(request))
        elif request["do"] == "run" and wire is not None:
            send_message(control, _run_forked(control, request, run, wire, held))


def _run_forked(control: socket.socket, request: dict[str, Any], run: Run, wire: int, held: dict[Limits, Confinement]) -> dict[str, Any]:
    """Fork a child and watch it to its end.

    Returns: the report: status (below 0: the signal), killed ("", "cpu", "wall", "stop"), cpu_s, wall_s, output.
    """
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
        return _watch(control, pid, read, limits, began)
    finally:
        os.close(read)


def _confinement(limits: Limits, held: dict[Limits, Confinement]) -> Confinement:
    """The child may read only what Python itself needs, and write nothing. Made once for all programs in a row with the same limits."""
    if limits not in held:
        for old in held.values():
            os.close(old.rules)
        held.clear()
        readable = [*view.system_paths(), *view.interpreter_folders(), *map(Path, filter(None, sys.path))]
        held[limits] = confinement(limits, readable=readable)
    return held[limits]


def _child(request: dict[str, Any], limits: Limits, confined: Confinement | None, run: Run, wire: int, output: int) -> None:
    """In the child; never returns. The child keeps its streams and its wire, and no other open file of the server."""
    status, said = 70, output
    try:
        os.setsid()
        nothing = os.open(os.devnull, os.O_RDWR)
        kept = [nothing, output, output, wire, confined.rules if confined else nothing]
        # moved aside first, since one may have the number that another is to get
        aside = [os.dup(fd) for fd in kept]
        high = max(*aside, _RULES) + 1
        for place, fd in enumerate(aside):
            os.dup2(fd, high + place)
        for place in range(len(aside)):
            os.dup2(high + place, place)
        said = 1
        os.closerange(_RULES + 1, os.sysconf("SC_OPEN_MAX"))
        if confined is not None:
            replace(confined, rules=_RULES).apply()
        else:
            os.close(_RULES)
            kernel.bound_process(cpu_s=limits.cpu_s, memory_bytes=limits.memory_bytes, file_bytes=limits.file_bytes)
        run(request, _WIRE)
        status = 0
    except BaseException as error:
        os.write(said, f"{type(error).__name__}: {error}".encode())
    finally:
        os._exit(status)


def _watch(control: socket.socket, pid: int, output: int, limits: Limits, began: float) -> dict[str, Any]:
    poll = select.poll()
    poll.register(control, select.POLLIN)
    poll.register(output, select.POLLIN)
    kept, killed, ended, longest, stop_at = bytearray(), "", None, _MAX_POLL_S, math.inf
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
                if not part:  # it closed its streams, so it is probably ending
                    poll.unregister(output)
                    longest = 0.0005
            else:
                poll.unregister(control)
                stop_at = time.monotonic() + _seconds_to_stop(control)
        ended, longest = _ended(pid), min(2 * longest, _MAX_POLL_S)
    kept += _rest(output, limits.output_bytes - len(kept))
    status, usage = ended
    return {
        "status": os.waitstatus_to_exitcode(status),
        "killed": killed,
        "cpu_s": usage.ru_utime + usage.ru_stime,
        "wall_s": time.monotonic() - began,
        "output": kept.decode("utf-8", "replace"),
    }


def _seconds_to_stop(control: socket.socket) -> float:
    """The seconds that the child has to end by itself. Only a stop request comes while it runs; an owner that is gone counts as one."""
    with contextlib.suppress(WireClosed):
        return float(receive_message(control)[0]["patience_s"])
    return 0.0


def _cpu_of(pid: int) -> float:
    """CPU seconds of a process and its threads, by Linux's encoding of a process clock; 0 where they can't be read."""
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
    """What is left in the pipe, without waiting for others that hold its other end."""
    os.set_blocking(output, False)
    try:
        return os.read(output, 1 << 16)[: max(room, 0)]
    except BlockingIOError:
        return b""

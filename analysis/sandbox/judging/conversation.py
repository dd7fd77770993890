"""A trusted test and an untrusted program, each in a jailed process of its own, and the calls that are carried between them.

The test runs in a judge; the program's functions are stand-ins there, and a call of one is a frame to the program's process and a frame
back. The verdict is a frame of the judge's alone. So whatever a program does, it can only give values, and the judge compares them.

A frame is four bytes of length, most significant first, and as many bytes. Calls and answers take turns: nothing that a program sends
when it was not asked is read before it is.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from ..isolation.jail import Jail, Mount, Started
from ..isolation.limits import Limits
from .result import Ending, Result

MOST_BYTES = 1 << 24
SETTLE_S = 10.0
# what the runtimes say when an allocation fails
NO_MEMORY = ("OutOfMemoryError", "heap out of memory", "Cannot allocate memory")
VERDICTS = {b"P": Ending.PASSED, b"F": Ending.FAILED, b"U": Ending.INFRASTRUCTURE}
# the first frame of a program's process, before any of the program is there
READY = b"H"
# told to a judge whose program has ended; a program can't say it
ENDED = b"D"


class Closed(Exception):
    """The process has closed its end, or sent what is no frame."""


class Late(Exception):
    """The deadline has passed."""


class Channel:
    """Frames to and from a process. Deadlines are of time.monotonic()."""

    def __init__(self, process: Started) -> None:
        self.process = process
        self._in, self._out = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)

    def send(self, frame: bytes, deadline: float) -> None:
        """Raises Closed, Late."""
        left = memoryview(struct.pack(">I", len(frame)) + frame)
        while left:
            self._wait(self._in, select.POLLOUT, deadline)
            try:
                left = left[os.write(self._in, left) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed from error

    def receive(self, deadline: float) -> bytes:
        """The next frame. Raises Closed, also for one that is longer than any honest one, and Late."""
        (length,) = struct.unpack(">I", self._read(4, deadline))
        if length > MOST_BYTES:
            raise Closed(f"an answer of more than {MOST_BYTES >> 20} MiB")
        return self._read(length, deadline)

    def _read(self, count: int, deadline: float) -> bytes:
        read = bytearray()
        while len(read) < count:
            self._wait(self._out, select.POLLIN, deadline)
            try:
                more = os.read(self._out, count - len(read))
            except BlockingIOError:
                continue
            except OSError as error:
                raise Closed from error
            if not more:
                raise Closed
            read += more
        return bytes(read)

    @staticmethod
    def _wait(descriptor: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(1000 * left):
            raise Late


@dataclass(frozen=True, slots=True)
class Command:
    """How a process is started in a jail."""

    argv: Sequence[str]
    mounts: Sequence[Mount]
    limits: Limits
    environment: Mapping[str, str]

    def start(self, jail: Jail) -> Started:
        """Raises Unjailed."""
        return jail.start(self.argv, cwd=Path("/tmp"), mounts=self.mounts, environment=self.environment, limits=self.limits)


class Server:
    """A warm trusted process in a jail of its own: started when it is first needed, and again after it was dropped."""

    def __init__(self, jail: Jail, command: Command) -> None:
        self._jail, self._command = jail, command
        self._channel: Channel | None = None

    def channel(self) -> Channel:
        """Raises Unjailed."""
        if self._channel is not None and not self._channel.process.running:
            self.drop()
        if self._channel is None:
            self._channel = Channel(self._command.start(self._jail))
        return self._channel

    def complaint(self) -> str:
        """The last line of what it wrote to stderr."""
        return last_line(self._channel.process.stderr_tail()) if self._channel is not None else ""

    def drop(self) -> None:
        """End the process, which may hang or hold what a program made it hold."""
        if self._channel is not None:
            self._channel.process.__exit__(None, None, None)
            self._channel = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.drop()


class NotReady(Exception):
    """The process that a program is to run in did not come up: says nothing about the program."""


def await_ready(program: Channel, deadline: float) -> None:
    """Wait until the process of a program can take it. Raises NotReady."""
    try:
        if program.receive(deadline) == READY:
            return
        late = ""
    except Closed:
        late = ""
    except Late:
        late = "it took too long"
    program.process.kill()
    complaint = late or program.process.stopped_for or last_line(program.process.stderr_tail())
    raise NotReady(f"the process for the program did not start: {complaint or f'status {program.process.end.status}'}")


def judged(judge: Server, opening: bytes, program: Channel, limits: Limits, deadline: float) -> tuple[Ending, str]:
    """The verdict on a program, whose process waits for calls; opening: the judge's first frame, with the test.

    Raises Unjailed where the judge could not be started.
    """
    judging = judge.channel()
    try:
        judging.send(opening, deadline)
        while True:
            frame = judging.receive(deadline)
            if frame[:1] in VERDICTS:
                return VERDICTS[frame[:1]], frame[1:].decode(errors="replace")
            try:
                program.send(frame, deadline)
                answer = program.receive(deadline)
            except Closed as error:
                settle(judge, judging)
                return how_ended(program.process, limits, str(error))
            judging.send(answer if answer[:1] != ENDED else b"", deadline)
    except Late:
        judge.drop()
        return Ending.TIMED_OUT, f"it was not done after {limits.wall_s:g} s on the clock"
    except Closed as error:
        complaint = judge.complaint()
        judge.drop()
        # nothing but what the program sent makes a judge run out of memory
        if "OutOfMemoryError" in complaint or "out of memory" in complaint:
            return Ending.FAILED, "its values are too large for the test to hold"
        return Ending.INFRASTRUCTURE, f"the judge ended: {complaint or error}"
    except BaseException:
        # interrupted in the middle of a test: it could not serve another one
        judge.drop()
        raise


def settle(judge: Server, judging: Channel) -> None:
    """Tell a judge in the middle of a test that the program is gone, so that it can serve the next one."""
    deadline = time.monotonic() + SETTLE_S
    try:
        judging.send(ENDED, deadline)
        while judging.receive(deadline)[:1] not in VERDICTS:
            judging.send(ENDED, deadline)
    except (Closed, Late):
        judge.drop()


def how_ended(process: Started, limits: Limits, said: str = "") -> tuple[Ending, str]:
    """What became of a program whose process ended before its test did; said: why its end is known to be its own doing."""
    process.kill()
    stderr = process.stderr_tail()
    if said:
        return Ending.FAILED, said
    if process.stopped_for:
        memory = "MiB" in process.stopped_for
        return Ending.OUT_OF_MEMORY if memory else Ending.CRASHED, process.stopped_for
    if process.end.killed_for_memory or any(sign in stderr for sign in NO_MEMORY):
        return Ending.OUT_OF_MEMORY, f"it asked for more than {limits.memory_bytes >> 20} MiB"
    if process.end.failure:
        return Ending.INFRASTRUCTURE, process.end.failure
    status = process.end.status
    if status in (-signal.SIGXCPU, -signal.SIGKILL) and process.end.cpu_s >= limits.cpu_s:
        return Ending.TIMED_OUT, f"it used more than {limits.cpu_s:g} s of CPU time"
    if status == -signal.SIGKILL and process.killed_by_machine() > 0:
        return Ending.INFRASTRUCTURE, "the machine ran out of memory"
    if status < 0:
        return Ending.CRASHED, f"it was ended by {signal.Signals(-status).name}"
    return Ending.FAILED, f"it ended with status {status} before its test did"


def finished(ending: tuple[Ending, str], process: Started, began: float) -> Result:
    """The result, with what the process printed and used; it is ended."""
    used = process.cpu_s()
    process.kill()
    used = max(used, process.end.cpu_s)
    return Result(*ending, output=process.stderr_tail(), cpu_s=used, wall_s=time.monotonic() - began)


def last_line(text: str) -> str:
    """The last line that is not blank."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")

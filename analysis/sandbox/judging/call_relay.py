"""Carry calls between a trusted test and an untrusted program, each in a jailed process of its own (Java and JavaScript).

The test runs in a judge, where the program's functions are stand-ins. A call of one is a frame to the program's process and a frame back.
Only the judge sends a verdict. So a program can only give values, and the judge compares them.

A frame is four bytes of length, most significant first, and as many bytes. Calls and answers take turns: what a program sends unasked is
not read before it is asked.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from ..isolation.jail import Jail, Mount, RunningProcess
from ..isolation.limits import Limits
from ..isolation.running_jail import JailError, RunEnding
from .result import ProgramOutcome, Result

MAX_FRAME_BYTES = 1 << 24
# a process whose output has ended is about to end
END_S = 1.0
VERDICTS = {b"P": ProgramOutcome.PASSED, b"F": ProgramOutcome.FAILED, b"U": ProgramOutcome.NOT_JUDGEABLE}
ENDINGS: dict[RunEnding, ProgramOutcome] = {
    "exited": ProgramOutcome.FAILED,
    "signalled": ProgramOutcome.CRASHED,
    "timed_out": ProgramOutcome.TIMED_OUT,
    "out_of_memory": ProgramOutcome.OUT_OF_MEMORY,
    "infrastructure": ProgramOutcome.INFRASTRUCTURE,
}
# the first frame of a process, sent before the program is loaded
READY = b"H"


class ChannelClosed(Exception):
    """The process has closed its end, or has sent something that is no frame."""


class DeadlinePassed(Exception):
    """The deadline has passed."""


class Channel:
    """Frames to and from a process. Deadlines are times of time.monotonic()."""

    def __init__(self, process: RunningProcess) -> None:
        self.process = process
        self._in, self._out = process.stdin.fileno(), process.stdout.fileno()
        os.set_blocking(self._in, False)
        os.set_blocking(self._out, False)

    def send(self, frame: bytes, deadline: float) -> None:
        """Send one frame. Raises ChannelClosed, DeadlinePassed."""
        left = memoryview(struct.pack(">I", len(frame)) + frame)
        while left:
            self._wait(self._in, select.POLLOUT, deadline)
            try:
                left = left[os.write(self._in, left) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise ChannelClosed from error

    def receive(self, deadline: float) -> bytes:
        """The next frame. Raises ChannelClosed, also for a frame of more than MAX_FRAME_BYTES, and DeadlinePassed."""
        (length,) = struct.unpack(">I", self._read(4, deadline))
        if length > MAX_FRAME_BYTES:
            raise ChannelClosed(f"an answer of more than {MAX_FRAME_BYTES >> 20} MiB")
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
                raise ChannelClosed from error
            if not more:
                raise ChannelClosed
            read += more
        return bytes(read)

    @staticmethod
    def _wait(descriptor: int, event: int, deadline: float) -> None:
        poll = select.poll()
        poll.register(descriptor, event)
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(1000 * left):
            raise DeadlinePassed


@dataclass(frozen=True, slots=True)
class Command:
    """How a process is started in a jail."""

    argv: Sequence[str]
    mounts: Sequence[Mount]
    limits: Limits
    environment: Mapping[str, str]

    def start(self, jail: Jail) -> RunningProcess:
        """Start it. Raises JailError."""
        return jail.start(self.argv, cwd=Path("/tmp"), mounts=self.mounts, environment=self.environment, limits=self.limits)


class WarmProcess:
    """A trusted process in a jail of its own that serves many requests. It starts when first needed, and again after it was dropped."""

    def __init__(self, jail: Jail, command: Command) -> None:
        self._jail, self._command = jail, command
        self._channel: Channel | None = None

    def channel(self) -> Channel:
        """The channel to the process, which is started if it does not run. Raises JailError."""
        if self._channel is not None and not self._channel.process.running:
            self.drop()
        if self._channel is None:
            self._channel = Channel(self._command.start(self._jail))
        return self._channel

    def complaint(self) -> str:
        """The last line of what it wrote to stderr."""
        return last_line(self._channel.process.stderr_tail()) if self._channel is not None else ""

    def drop(self) -> None:
        """End the process, which may hang, or may hold memory because of a program."""
        if self._channel is not None:
            self._channel.process.__exit__()
            self._channel = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.drop()


class ProcessNotReady(Exception):
    """A process did not start, which says nothing about the program."""


def await_ready(channel: Channel, deadline: float, name: str = "the process for the program") -> None:
    """Wait until a process is ready for a program or a test. Raises ProcessNotReady."""
    try:
        if channel.receive(deadline) == READY:
            return
        late = ""
    except ChannelClosed:
        late = ""
    except DeadlinePassed:
        late = "it took too long"
    channel.process.kill()
    complaint = late or channel.process.stopped_for or last_line(channel.process.stderr_tail())
    raise ProcessNotReady(f"{name} did not start: {complaint or f'status {channel.process.end.status}'}")


def load(program: Channel, frame: bytes, limits: Limits, deadline: float, *, answers: bool) -> tuple[ProgramOutcome, str] | None:
    """Send a program to its process. answers: whether that says how it was loaded. Returns the outcome where the program ends there."""
    try:
        program.send(frame, deadline)
        loaded = program.receive(deadline) if answers else b""
    except ChannelClosed as error:
        return outcome_of_end(program.process, limits, str(error))
    except DeadlinePassed:
        return too_long(limits)
    return (ProgramOutcome.FAILED, loaded[1:].decode(errors="replace")) if loaded[:1] == b"E" else None


def run_test(judging: Channel, opening: bytes, program: Channel, limits: Limits, deadline: float) -> tuple[ProgramOutcome, str]:
    """Run a test on a program whose process waits for calls.

    Parameters:
        judging: a judge that has served no other program.
        opening: the first frame to the judge, with the test.
        limits: the program's, for the reasons in words.

    Returns: the outcome and its reason.
    """
    asked, began = False, time.monotonic()
    try:
        judging.send(opening, deadline)
        while True:
            frame = judging.receive(deadline)
            if frame[:1] in VERDICTS:
                return VERDICTS[frame[:1]], frame[1:].decode(errors="replace")
            asked = True
            try:
                program.send(frame, deadline)
                answer = program.receive(deadline)
            except ChannelClosed as error:
                return outcome_of_end(program.process, limits, str(error))
            judging.send(answer, deadline)
    except DeadlinePassed:
        # a program may have used up the time as it was loaded, but not more than half of it after that
        if not asked and time.monotonic() - began > limits.wall_s / 2:
            return ProgramOutcome.NOT_JUDGEABLE, f"the test by itself was not done after {limits.wall_s:g} s on the clock"
        return too_long(limits)
    except ChannelClosed as error:
        return outcome_of_judge_end(judging.process, limits, asked, str(error))


def outcome_of_judge_end(process: RunningProcess, limits: Limits, asked: bool, said: str) -> tuple[ProgramOutcome, str]:
    """The outcome where a judge ended without a verdict.

    asked: whether the program was asked for anything: then its values are the cause, unless the machine failed. said: what was wrong with
    the judge's last frame.
    """
    process.kill(grace_s=END_S)
    (how, reason), status = process.ending(limits), process.end.status
    if how == "infrastructure":
        return ProgramOutcome.INFRASTRUCTURE, f"the judge ended: {reason}"
    if how == "out_of_memory" and asked:
        return ProgramOutcome.FAILED, "its values are too large for the test to hold"
    if how == "out_of_memory":
        return ProgramOutcome.NOT_JUDGEABLE, "the test by itself needs more memory than it gets"
    complaint = process.stopped_for or last_line(process.stderr_tail()) or said or f"status {status}"
    if asked:
        return ProgramOutcome.FAILED, f"its values end the process of the test: {complaint}"
    if status < 0 and status != -signal.SIGKILL:
        return ProgramOutcome.NOT_JUDGEABLE, f"the test by itself crashes: {complaint}"
    return ProgramOutcome.INFRASTRUCTURE, f"the judge ended: {complaint}"


def outcome_of_end(process: RunningProcess, limits: Limits, said: str = "") -> tuple[ProgramOutcome, str]:
    """The outcome of a program whose process ended before its test did. said: the reason, where the program is known to be the cause."""
    process.kill()
    if said:
        return ProgramOutcome.FAILED, said
    how, reason = process.ending(limits)
    return ENDINGS[how], reason if how != "exited" else f"it ended with status {process.end.status} before its test did"


def too_long(limits: Limits) -> tuple[ProgramOutcome, str]:
    """The outcome of a program that has used up its time on the clock."""
    return ProgramOutcome.TIMED_OUT, f"it was not done after {limits.wall_s:g} s on the clock"


def judged_apart(
    jail: Jail, runner: Command, judge: Command, run: Callable[[RunningProcess, RunningProcess], tuple[ProgramOutcome, str]]
) -> Result:
    """Start a process for a program and one for its judge, and make the result, with what the program printed and used.

    run: gives the outcome. It gets both processes, and may raise ProcessNotReady and JailError.
    """
    began = time.monotonic()
    try:
        with runner.start(jail) as process, judge.start(jail) as judging:
            outcome, used = run(process, judging), process.cpu_s()
            process.kill()
            used = max(used, process.end.cpu_s)
            return Result(*outcome, output=process.stderr_tail(), cpu_s=used, wall_s=time.monotonic() - began)
    except (JailError, ProcessNotReady) as error:
        return Result(ProgramOutcome.INFRASTRUCTURE, str(error), wall_s=time.monotonic() - began)


def blamed(check: Callable[[str, str], Result], program: str, test: str, sound: tuple[str, str]) -> Result:
    """The result of a check. Where the sandbox breaks twice on a program, and not on a sound one, the program has crashed.

    sound: a program that passes its test.
    """
    for _ in range(2):
        result = check(program, test)
        if result.outcome is not ProgramOutcome.INFRASTRUCTURE:
            return result
    if check(*sound).outcome is not ProgramOutcome.PASSED:
        return result
    return replace(result, outcome=ProgramOutcome.CRASHED, reason=f"it ended the sandbox twice: {result.reason}")


def last_line(text: str) -> str:
    """The last line that is not blank."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")

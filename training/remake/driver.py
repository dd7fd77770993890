"""Does the steps in their order: what is done is not done again, and what was killed goes on."""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

from assay.calibration.atomic_write import write_atomically
from assay.offline_eval.progress import duration

from .present import Present
from .steps import Step
from .workplace import ROOT, Command, Record, Workplace

_BEAT_S = 15.0
_WAIT_S = 60.0
_END_S = 20.0
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


class RemakeError(Exception):
    """Why nothing can be remade here; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Owed:
    """A step that is to be done. why: for people. lacks: what this machine lacks for it; empty where nothing."""

    step: Step
    why: str
    seconds: float
    because: str
    lacks: str


def wanted(steps: Mapping[str, Step], only: Sequence[str]) -> list[Step]:
    """The steps of some groups or names, all where none is named, with those that they need, in order. Raises RemakeError."""
    known = {*steps, *(step.group for step in steps.values())}
    if unknown := [name for name in only if name not in known]:
        raise RemakeError(f"there is no step {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    names = {name for name, step in steps.items() if not only or name in only or step.group in only}
    while more := {need for name in names for need in steps[name].needs} - names:
        names |= more
    return [step for name, step in steps.items() if name in names]


def owed(place: Workplace, steps: Sequence[Step], lacking: Mapping[str, str]) -> list[Owed]:
    """Which of the steps are to be done, and how long each takes. lacking: what this machine lacks, by name of a program."""
    found = []
    for step in steps:
        if not place.is_done(step):
            seconds, because = _time_of(place, step)
            lacks = "; ".join(lacking[program] for program in step.programs if program in lacking)
            found.append(Owed(step, _why(place, step), seconds, because, lacks))
    return found


def _why(place: Workplace, step: Step) -> str:
    record, last = place.record(step), place.last_time(step)
    if record is None and last is None:
        return "never made here"
    if record is None and last is not None:
        now = place.made_of(step)
        return f"other {', '.join(name for name in now if now[name] != last.made_of.get(name))}"
    if record is not None and record.finished is None:
        return f"begun, {duration(record.seconds)} done"
    if record is not None and dict(record.outputs) != place.outputs(step):
        return "what it made is not there as it was"
    return "what it needs is made again"


def _time_of(place: Workplace, step: Step) -> tuple[float, str]:
    """Seconds that are left, and how that is known."""
    record, last = place.record(step), place.last_time(step)
    spent = record.seconds if record and record.finished is None else 0.0
    if last is not None:
        return max(0.0, last.seconds - spent), f"it took {duration(last.seconds)} on {(last.finished or '')[:10]}"
    return max(0.0, 60 * step.minutes - spent), f"estimated for two quiet cores: {step.because}"


def remake(place: Workplace, steps: Sequence[Step], lacking: Mapping[str, str], now: Callable[[], Present]) -> list[str]:
    """Do what is to be done of the steps. Returns why steps were not, one line each; those that need them are left out as well.

    now: the present fingerprints, asked for after each step. Raises RemakeError where they or the code have changed, and where another call
    is at work.
    """
    place.work.mkdir(parents=True, exist_ok=True)
    left_out: dict[str, str] = {}
    with _alone(place.work / "lock") as lock, (place.work / "remake.log").open("a", encoding="utf-8") as log:
        for number, step in enumerate(steps, 1):
            title = f"{number} of {len(steps)}: {step.name}"
            if place.is_done(step):
                _say(log, f"{title}: done already")
                continue
            missing = [name for name in step.needs if name in left_out]
            lacks = [lacking[program] for program in step.programs if program in lacking]
            if missing or lacks:
                left_out[step.name] = f"it needs {', '.join(missing or lacks)}"
                _say(log, f"{title}: left out: {left_out[step.name]}")
                continue
            _say(log, title)
            if why := _do(place, step, now, _Teed(log, lock)):
                left_out[step.name] = why
                _say(log, f"{title}: failed: {why}")
    return [f"{name}: {why}" for name, why in left_out.items()]


@dataclass(frozen=True, slots=True)
class _Teed:
    """log: gets what commands say. lock: inherited by them, so that no other call begins before they have ended."""

    log: TextIO
    lock: TextIO


def _do(place: Workplace, step: Step, now: Callable[[], Present], teed: _Teed) -> str:
    """Run the commands of a step and record it. Returns why it failed; empty where it did not."""
    before = place.record(step)
    begun, spent = time.monotonic(), before.seconds if before and before.finished is None else 0.0
    record = Record(step.name, place.made_of(step), spent, machine=f"{os.cpu_count()} CPUs")

    def beat() -> Record:
        timed = replace(record, seconds=round(spent + time.monotonic() - begun, 1))
        place.write(step, timed)
        return timed

    beat()
    environment = dict(os.environ)
    for command in place.commands(step):
        if code := _run(command, environment, teed, beat):
            return f"{command.argv[-1] if len(command.argv) < 3 else ' '.join(command.argv[1:4])} … ended with {code}"
    if now() != place.now or place.has_changed(step):
        raise RemakeError("the model, how it is asked, or the code has changed meanwhile: start the same command again")
    place.write(step, replace(beat(), finished=datetime.now(UTC).isoformat(timespec="seconds"), outputs=place.outputs(step)))
    return ""


def _run(command: Command, environment: Mapping[str, str], teed: _Teed, beat: Callable[[], object]) -> int:
    """Run a command without a terminal and with nothing to read, and return its exit code. What it prints is kept whole or not at all."""
    with subprocess.Popen(
        command.argv, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, errors="replace",
        stderr=subprocess.PIPE if command.printed else subprocess.STDOUT, pass_fds=[teed.lock.fileno()], start_new_session=True,
        preexec_fn=_bound,
    ) as process:  # fmt: skip
        try:
            printed = _tee(process, command.printed is not None, teed.log, beat)
        except BaseException:
            _end(process)
            raise
    if process.returncode == 0 and command.printed:
        with write_atomically(command.printed) as file:
            file.write(printed.encode())
    return process.returncode


def _bound() -> None:
    """Before a command begins, in its process: it can be interrupted, and is interrupted where this one is killed (Linux)."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # what a shell starts in the background inherits that it is ignored
    if sys.platform == "linux":
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGINT)


def _end(process: subprocess.Popen[str]) -> None:
    """End a command with all that it has started, which may be workers that hold its output open."""
    for number in (signal.SIGINT, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(_END_S)


def _tee(process: subprocess.Popen[str], keeps: bool, log: TextIO, beat: Callable[[], object]) -> str:
    """Pass on what a process says until it ends. keeps: its standard output is returned instead."""
    assert process.stdout is not None
    kept: list[str] = []
    reader = threading.Thread(target=lambda stream=process.stdout: kept.append(stream.read()), daemon=True) if keeps else None
    if reader:
        reader.start()
    last = time.monotonic()
    for line in process.stderr if keeps and process.stderr else process.stdout:
        _say(log, line.rstrip("\n"))
        if time.monotonic() - last > _BEAT_S:
            last = time.monotonic()
            beat()
    if reader:
        reader.join()
    process.wait()
    return "".join(kept)


def _say(log: TextIO, text: str) -> None:
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {text}", file=log, flush=True)
    print(text, file=sys.stderr, flush=True)


@contextmanager
def _alone(path: Path) -> Iterator[TextIO]:
    """Hold the lock of a work folder. Raises RemakeError where another call, or what one has started, holds it for a minute."""
    deadline = time.monotonic() + _WAIT_S
    with path.open("a") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise RemakeError(f"another call is at work in {path.parent}, or what it started is: wait for it to end") from None
                time.sleep(1)
        yield lock

"""Python programs against trusted tests, with a verdict that the program can't forge.

A warm server in a jail forks a process for each program, which is confined before the program's first statement. Another, in a jail of its
own, forks one for each run of a test: the judge, which calls into the program over a wire, makes exact builtins of what comes back, and
alone says how it went. Neither has anything of the other but values.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import queue
import signal
import socket
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

from ..isolation.containment import Unjailed
from ..isolation.jail import USUAL, Jail, Mount, Started
from ..isolation.levels import Isolation
from ..isolation.limits import Limits
from .result import Ending, Result
from .wire import Closed, receive_message, send_message

_FOLDER = Path(__file__).resolve().parents[1]
# By its own folder: the one above it is not there to be searched.
_BOOT = """
import importlib, importlib.util, sys
spec = importlib.util.spec_from_file_location({package!r}, {folder!r} + "/__init__.py", submodule_search_locations=[{folder!r}])
sys.modules[{package!r}] = importlib.util.module_from_spec(spec)
importlib.import_module({module!r}).main({fd})
"""
# The same order of a set of strings in every run: a program that depends on it has one verdict.
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
# What the judge gets on top of the program's limits: the test's own work on what came back.
_JUDGE_CPU_S = 20.0
_JUDGE_WALL_S = 20.0
# What it may hold beyond what the program may: the test's inputs and expected values, and what comes of the answers.
_JUDGE_MEMORY_BYTES = 512 << 20
# Ways to die that the test of a benchmark has not in it, and answers made for that might bring about.
_CRASHES = frozenset((-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE))
# What a server itself takes, beside the program.
_SERVER_BYTES = 1 << 28
# A test's expected values are made once, by its reference solution.
_PREPARE_S = 600.0
_START_S = 60.0
_ANSWER_S = 60.0
# A program whose wire is closed may be dying just now, of what its status is to tell.
_DYING_S = 0.1
_Short = Literal["", "machine", "limit"]
_SOUND = ("def sound(x):\n    return x + 1\n", "assert sound(1) == 2\n", "sound")


class _Broken(Exception):
    """The sandbox failed; the message says what did, and what it said last. blameless: the program can't have had a part in it."""

    def __init__(self, message: str, *, blameless: bool = False) -> None:
        super().__init__(message)
        self.blameless = blameless


class _Server:
    """One fork server in a jail of its own. Raises _Broken where it does not start or is lost."""

    def __init__(
        self, jail: Jail, interpreter: str, module: Literal["python_server", "judge"], memory_bytes: int, mounts: Sequence[Mount]
    ) -> None:
        self.module = module
        self._control, other = socket.socketpair()
        boot = _BOOT.format(folder=str(_FOLDER), package=_FOLDER.name, module=f"{_FOLDER.name}.judging.{module}", fd=other.fileno())
        try:
            self._process: Started = jail.start(
                [interpreter, "-s", "-P", "-B", "-c", boot],
                cwd=Path("/"),
                mounts=[Mount(_FOLDER, _FOLDER), *mounts],
                environment=_ENVIRONMENT,
                limits=Limits(cpu_s=math.inf, wall_s=_START_S, memory_bytes=memory_bytes + _SERVER_BYTES, processes=8),
                pass_fds=(other.fileno(),),
            )
        except Unjailed as error:
            self._control.close()
            raise _Broken(f"{module} does not start: {error}") from None
        finally:
            other.close()

    def tell(self, message: dict[str, Any], fd: int | None = None) -> None:
        """Send an order."""
        try:
            send_message(self._control, message, fd)
        except OSError as error:
            raise self._broken(f"is gone ({error})") from None

    def hear(self, timeout_s: float) -> dict[str, Any]:
        """The next answer."""
        self._control.settimeout(None if math.isinf(timeout_s) else timeout_s)
        try:
            return receive_message(self._control)[0]
        except TimeoutError:
            raise self._broken(f"did not answer for {timeout_s:.0f} s") from None
        except (Closed, OSError, ValueError) as error:
            raise self._broken(f"ended {error}".rstrip()) from None
        finally:
            self._control.settimeout(None)

    def kills(self) -> tuple[int, int]:
        """How many processes the kernel has killed for want of memory since it began: the machine's, those of its own limit."""
        return self._process.killed_by_machine(), self._process.killed_by_limit()

    def close(self) -> None:
        """End it and all that it started."""
        self._control.close()
        with self._process:
            self._process.kill()

    def _broken(self, reason: str) -> _Broken:
        said = self._process.stopped_for or self._process.stderr_tail().strip()[-500:]
        return _Broken(f"{self.module} {reason}{': ' if said else ''}{said}")


@dataclass(slots=True)
class _Pair:
    """A program's server and a judge, each started when it is first needed."""

    program: _Server | None = None
    judge: _Server | None = None

    def close(self) -> None:
        for server in (self.program, self.judge):
            if server is not None:
                server.close()
        self.program = self.judge = None


class PythonSandbox:
    """Warm servers for Python programs; a context manager, usable from several threads.

    jail: where they run. interpreter: the Python of the programs, 3.11 or newer; the judge always runs on this process's own.
    mounts: what else the programs see: an interpreter that is not this process's own needs its folders. pairs: how many programs run at
    once, one a core at best. memory_bytes: the most that `Limits` of a check may allow.
    """

    def __init__(
        self,
        jail: Jail,
        interpreter: str | Path = sys.executable,
        *,
        mounts: Sequence[Mount] = (),
        pairs: int = 1,
        memory_bytes: int = 4 << 30,
    ) -> None:
        self._jail = jail
        self._interpreter = str(interpreter)
        self._mounts = mounts
        self._memory_bytes = memory_bytes
        self._idle: queue.SimpleQueue[_Pair] = queue.SimpleQueue()
        self._pairs = [_Pair() for _ in range(pairs)]
        self._lock = threading.Lock()
        for pair in self._pairs:
            self._idle.put(pair)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End every process of the sandbox."""
        with self._lock:
            for pair in self._pairs:
                pair.close()

    def check(self, program: str, test: str, entry_point: str | None = None, *, limits: Limits = USUAL) -> Result:
        """Run a program's test and say how it ended.

        test: trusted Python code, which passes by ending without an exception. The names that it uses and does not define are the
        program's, but for builtins and modules of the standard library; entry_point is the program's in any case. Statements before the
        first use of such a name run once for all programs with this test: inputs and expected values belong there.

        Where the sandbox fails, its servers are replaced and the program tried once more. One that ends its server twice, where a sound
        program does not, has crashed. Raises ValueError for limits above the sandbox's own.
        """
        if limits.memory_bytes > self._memory_bytes:
            raise ValueError(f"memory limit of {limits.memory_bytes} bytes in a sandbox of {self._memory_bytes}: make it with more")
        with self._pair() as pair:
            for last in (False, True):
                try:
                    return self._checked(pair, program, test, entry_point, limits)
                except _Broken as error:
                    pair.close()
                    if last:
                        return Result(Ending.INFRASTRUCTURE, str(error)) if error.blameless else self._blamed(pair, error)
        raise AssertionError("the loop returns")

    @contextlib.contextmanager
    def _pair(self) -> Iterator[_Pair]:
        pair = self._idle.get()
        try:
            yield pair
        except BaseException:
            pair.close()  # in the middle of something: its next answer would be another program's
            raise
        finally:
            self._idle.put(pair)

    def _blamed(self, pair: _Pair, error: _Broken) -> Result:
        """The program's doing or the sandbox's: what a sound program shows."""
        try:
            sound = self._checked(pair, *_SOUND, USUAL)
        except _Broken as broken:
            pair.close()
            return Result(Ending.INFRASTRUCTURE, str(broken))
        if sound.ending is not Ending.PASSED:
            return Result(Ending.INFRASTRUCTURE, sound.reason)
        return Result(Ending.CRASHED, f"ended the sandbox twice: {error}")

    def _checked(self, pair: _Pair, program: str, test: str, entry_point: str | None, limits: Limits) -> Result:
        judge = pair.judge = pair.judge or self._started("judge")
        server = pair.program = pair.program or self._started("python_server")
        key = hashlib.sha256(f"{entry_point}\n{test}".encode("utf-8", "surrogatepass")).hexdigest()
        judge.tell({"do": "prepare", "key": key})
        if not (ready := judge.hear(_PREPARE_S))["known"]:
            judge.tell({"do": "prepare", "key": key, "test": test, "entry_point": entry_point})
            ready = judge.hear(_PREPARE_S)
        if ready["broken"]:
            return Result(Ending.INFRASTRUCTURE, f"the test can't be run: {ready['broken']}")
        confine = self._jail.isolation is not Isolation.NONE
        judges = Limits(limits.cpu_s + _JUDGE_CPU_S, limits.wall_s + _JUDGE_WALL_S, limits.memory_bytes + _JUDGE_MEMORY_BYTES)
        ours, theirs = socket.socketpair()
        before = server.kills()
        with ours, theirs:
            server.tell({"do": "run", "program": program, "limits": asdict(limits), "confine": confine}, theirs.fileno())
            judge.tell({"do": "run", "key": key, "limits": asdict(judges), "confine": False}, ours.fileno())
        judged = judge.hear(judges.wall_s + _ANSWER_S)
        server.tell({"do": "stop", "patience_s": _DYING_S if _is_gone(judged) else 0.0})
        ran = server.hear(_ANSWER_S)
        after = server.kills()
        return _result(judged, ran, limits, "machine" if after[0] > before[0] else "limit" if after[1] > before[1] else "")

    def _started(self, module: Literal["python_server", "judge"]) -> _Server:
        if module == "judge":
            return _Server(self._jail, sys.executable, module, self._memory_bytes, ())
        return _Server(self._jail, self._interpreter, module, self._memory_bytes, self._mounts)


def _is_gone(judged: dict[str, Any]) -> bool:
    """Whether the judge has lost the program."""
    return judged["status"] == 0 and bool(judged["output"]) and json.loads(judged["output"])["kind"] in ("gone", "sandbox")


def _result(judged: dict[str, Any], ran: dict[str, Any], limits: Limits, short: _Short) -> Result:
    """Both reports as one result.

    judged: the report on the judge's process, whose output is the verdict; ran: that on the program's. short: what had no memory left,
    where the kernel killed processes for that meanwhile: the machine, or the jail of the program's server by its limit.
    """
    ending, reason = _ending(judged, ran, limits, short)
    return Result(ending, reason, ran["output"], ran["cpu_s"], ran["wall_s"])


def _ending(judged: dict[str, Any], ran: dict[str, Any], limits: Limits, short: _Short) -> tuple[Ending, str]:
    if ran["killed"] == "wall" or (judged["killed"] == "wall" and not judged["output"]):
        return Ending.TIMED_OUT, f"took more than {limits.wall_s:g} s"
    if judged["killed"] == "cpu":
        return Ending.TIMED_OUT, f"the test took more than {limits.cpu_s + _JUDGE_CPU_S:g} s of CPU time on what the program returned"
    if judged["status"] in _CRASHES:
        return Ending.CRASHED, f"its judge died of {signal.Signals(-judged['status']).name} from what it returned"
    if judged["status"] != 0:
        raise _Broken(f"the judge ended with status {judged['status']}: {judged['output']}".rstrip(": "), blameless=True)
    verdict = json.loads(judged["output"])
    if verdict["passed"]:
        return Ending.PASSED, ""
    match verdict["kind"]:
        case "sandbox":
            raise _Broken(f"{verdict['reason']}, with status {ran['status']}: {ran['output']}".rstrip(": "), blameless=True)
        case "test":
            return Ending.INFRASTRUCTURE, f"the test can't be run: {verdict['reason']}"
        case "memory":
            return Ending.OUT_OF_MEMORY, verdict["reason"]
        case "gone":
            return _gone(ran, limits, short)
    return Ending.FAILED, verdict["reason"]


def _gone(ran: dict[str, Any], limits: Limits, short: _Short) -> tuple[Ending, str]:
    """How a program ended that did not wait for the end of its tests."""
    status = ran["status"]
    if ran["killed"] == "cpu" or status == -signal.SIGXCPU or (status == -signal.SIGKILL and ran["cpu_s"] >= limits.cpu_s):
        return Ending.TIMED_OUT, f"used more than {limits.cpu_s:g} s of CPU time"
    if status >= 0:
        return Ending.FAILED, f"ended before its tests did, with status {status}"
    if ran["killed"] == "stop":
        return Ending.FAILED, "cut itself off from its tests"
    if status == -signal.SIGKILL and short == "machine":
        return Ending.INFRASTRUCTURE, "the machine ran out of memory"
    if status == -signal.SIGKILL and short == "limit":
        return Ending.OUT_OF_MEMORY, "was killed for its memory"
    return Ending.CRASHED, f"died of {signal.Signals(-status).name}"

"""Test Python programs with trusted tests; a program can't forge the verdict.

Two warm servers each sit in a jail of their own. One forks a process for each program and confines it before the program's first statement.
The other forks a process for each test: the judge. The judge calls into the program over a wire, rebuilds exact builtins from the answers,
and alone decides. Only values pass between the two.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import signal
import socket
import sys
import threading
from dataclasses import asdict
from pathlib import Path
from typing import Any, Literal, Self

from ..isolation.jail import DEFAULT_LIMITS, Jail, Mount, RunningProcess
from ..isolation.levels import Isolation
from ..isolation.limits import Limits
from ..isolation.running_jail import JailError
from .result import ProgramOutcome, Result
from .values import MAX_BYTES
from .wire import Wire, WireClosed, receive_message, send_message

_FOLDER = Path(__file__).resolve().parents[1]
# Loaded from its own folder, since the folder above is not in the jail.
_BOOT = """
import importlib, importlib.util, sys
spec = importlib.util.spec_from_file_location({package!r}, {folder!r} + "/__init__.py", submodule_search_locations=[{folder!r}])
sys.modules[{package!r}] = importlib.util.module_from_spec(spec)
importlib.import_module({module!r}).main({fd})
"""
# A fixed hash seed: a program that depends on the order of a set of strings has the same verdict in every run.
_ENVIRONMENT = {"PYTHONHASHSEED": "0", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TZ": "UTC"}
# The judge's limits on top of the program's: the test does work of its own on the answers.
_JUDGE_CPU_S = 20.0
_JUDGE_WALL_S = 20.0
# The judge's memory on top of the program's: the test's inputs, expected values, and what it makes of the answers.
_JUDGE_MEMORY_BYTES = 512 << 20
# Signals that the test of a benchmark never dies of by itself, but may die of because of a crafted answer.
_CRASHES = frozenset((-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE))
# The most memory that the limits of a check may allow, and that of a server itself.
_MAX_PROGRAM_BYTES, _SERVER_BYTES = 4 << 30, 1 << 28
# Preparing a test may run its reference solution on many inputs.
_PREPARE_S = 600.0
_START_S = 60.0
_ANSWER_S = 60.0
# A program that has closed its wire may still be dying; its exit status says of what.
_DYING_S = 0.1
_Short = Literal["", "machine", "limit"]
_Module = Literal["python_server", "judge"]
_KNOWN_GOOD = ("def sound(x):\n    return x + 1\n", "assert sound(1) == 2\n", "sound")


class _SandboxFailed(Exception):
    """The sandbox failed; the message says what failed and its last words. blameless: the program can't have caused it."""

    def __init__(self, message: str, *, blameless: bool = False) -> None:
        super().__init__(message)
        self.blameless = blameless


class _Server:
    """One fork server in a jail of its own. Every method raises _SandboxFailed where the server does not start, or is gone."""

    def __init__(self, jail: Jail, module: _Module) -> None:
        self.module = module
        self._control, other = socket.socketpair()
        boot = _BOOT.format(folder=str(_FOLDER), package=_FOLDER.name, module=f"{_FOLDER.name}.judging.{module}", fd=other.fileno())
        try:
            self._process: RunningProcess = jail.start(
                [sys.executable, "-s", "-P", "-B", "-c", boot],
                cwd=Path("/"),
                mounts=[Mount(_FOLDER, _FOLDER)],
                environment=_ENVIRONMENT,
                limits=Limits(cpu_s=math.inf, wall_s=_START_S, memory_bytes=_MAX_PROGRAM_BYTES + _SERVER_BYTES, processes=8),
                pass_fds=(other.fileno(),),
            )
        except JailError as error:
            self._control.close()
            raise _SandboxFailed(f"{module} does not start: {error}") from None
        finally:
            other.close()

    def send(self, message: dict[str, Any], fd: int | None = None, data: bytes | None = None) -> None:
        """Send a request, a copy of fd with it, and data."""
        try:
            send_message(self._control, message, fd, data)
        except OSError as error:
            raise self._broken(f"is gone ({error})") from None

    def receive(self, timeout_s: float) -> dict[str, Any]:
        """The next answer."""
        self._control.settimeout(None if math.isinf(timeout_s) else timeout_s)
        try:
            return receive_message(self._control)[0]
        except TimeoutError:
            raise self._broken(f"did not answer for {timeout_s:.0f} s") from None
        except (WireClosed, OSError, ValueError, RecursionError) as error:
            raise self._broken(f"ended {error}".rstrip()) from None
        finally:
            self._control.settimeout(None)

    def memory_kills(self) -> tuple[int, int]:
        """Processes that the kernel has killed for memory since the server began: for the machine's, and for the jail's own limit."""
        return self._process.killed_by_machine(), self._process.killed_by_limit()

    def close(self) -> None:
        """End the server and all that it started."""
        self._control.close()
        with self._process:
            self._process.kill()

    def _broken(self, reason: str) -> _SandboxFailed:
        said = self._process.stopped_for or self._process.stderr_tail().strip()[-500:]
        return _SandboxFailed(f"{self.module} {reason}{': ' if said else ''}{said}")


class PythonSandbox:
    """Tests Python programs with warm servers, one program at a time. A context manager, usable from several threads."""

    def __init__(self, jail: Jail) -> None:
        self._jail = jail
        self._lock = threading.Lock()
        self._servers: dict[_Module, _Server] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End every process of the sandbox."""
        while self._servers:
            self._servers.popitem()[1].close()

    def check(self, program: str, test: str, entry_point: str | None = None, *, limits: Limits = DEFAULT_LIMITS) -> Result:
        """Test a program.

        Where the sandbox fails, its servers are replaced and the program is tried once more. A program that ends its server twice, where a
        known good program does not, has crashed.

        Parameters:
            test: trusted Python code, which passes by ending without an exception. The names that it uses and does not define are the
                program's, except for builtins and modules of the standard library. Statements before the first use of such a name run once
                for all programs with this test: inputs and expected values belong there. A text that it binds to `test_report` is told with
                the result, also where the program ends before the test does.
            entry_point: a name that is the program's in any case.

        Raises: ValueError for limits above the sandbox's own.
        """
        if limits.memory_bytes > _MAX_PROGRAM_BYTES:
            raise ValueError(f"memory limit of {limits.memory_bytes} bytes in a sandbox of {_MAX_PROGRAM_BYTES}")
        with self._lock:
            for last in (False, True):
                try:
                    return self._check_once(program, test, entry_point, limits)
                except _SandboxFailed as error:
                    self.close()
                    if last:
                        return Result(ProgramOutcome.INFRASTRUCTURE, str(error)) if error.blameless else self._crashed_or_broken(error)
                except BaseException:
                    self.close()  # interrupted in the middle of a request: the next answer would be another program's
                    raise
        raise AssertionError("the loop returns")

    def _crashed_or_broken(self, error: _SandboxFailed) -> Result:
        """Find out with a known good program whether the program or the sandbox is to blame for two failures."""
        try:
            sound = self._check_once(*_KNOWN_GOOD, DEFAULT_LIMITS)
        except _SandboxFailed as broken:
            self.close()
            return Result(ProgramOutcome.INFRASTRUCTURE, str(broken))
        if sound.outcome is not ProgramOutcome.PASSED:
            return Result(ProgramOutcome.INFRASTRUCTURE, sound.reason)
        return Result(ProgramOutcome.CRASHED, f"ended the sandbox twice: {error}")

    def _check_once(self, program: str, test: str, entry_point: str | None, limits: Limits) -> Result:
        judge, server = self._started("judge"), self._started("python_server")
        text = test.encode("utf-8", "surrogatepass")
        key = hashlib.sha256(b"%s\n%s" % (str(entry_point).encode("utf-8", "surrogatepass"), text)).hexdigest()
        judge.send({"do": "prepare", "key": key})
        if not (ready := judge.receive(_PREPARE_S))["known"]:
            judge.send({"do": "prepare", "key": key, "entry_point": entry_point}, data=text)
            ready = judge.receive(_PREPARE_S)
        if ready["broken"]:
            return Result(ProgramOutcome.NOT_JUDGEABLE, f"the test can't be run: {ready['broken']}")
        confine = self._jail.isolation is not Isolation.NONE
        judges = Limits(limits.cpu_s + _JUDGE_CPU_S, limits.wall_s + _JUDGE_WALL_S, limits.memory_bytes + _JUDGE_MEMORY_BYTES)
        source = program.encode("utf-8", "surrogatepass")
        if len(source) > min(MAX_BYTES, limits.memory_bytes // 8):
            return Result(ProgramOutcome.OUT_OF_MEMORY, f"its text of {len(source):,} bytes is too long")
        ours, theirs = socket.socketpair()
        before = server.memory_kills()
        with ours:
            with theirs:
                server.send({"do": "run", "limits": asdict(limits), "confine": confine}, theirs.fileno())
            # Past the server: what it holds, the programs after this one could read in their own memory.
            with contextlib.suppress(WireClosed):
                Wire(ours.fileno(), MAX_BYTES).send(source)
            judge.send({"do": "run", "key": key, "limits": asdict(judges), "confine": False}, ours.fileno())
        judged = judge.receive(judges.wall_s + _ANSWER_S)
        server.send({"do": "stop", "patience_s": _DYING_S if _said(judged).get("kind") in ("gone", "sandbox") else 0.0})
        ran = server.receive(_ANSWER_S)
        after = server.memory_kills()
        return _result_of(judged, ran, limits, "machine" if after[0] > before[0] else "limit" if after[1] > before[1] else "")

    def _started(self, module: _Module) -> _Server:
        if module not in self._servers:
            self._servers[module] = _Server(self._jail, module)
        return self._servers[module]


def _said(judged: dict[str, Any]) -> dict[str, Any]:
    """The verdict of a judge that came to its end; nothing where it wrote none."""
    try:
        said = json.loads(judged["output"]) if judged["status"] == 0 else {}
    except (ValueError, RecursionError):
        return {}
    if not isinstance(said, dict) or not isinstance(said.get("passed"), bool):
        return {}
    return said if said["passed"] or all(isinstance(said.get(key), str) for key in ("kind", "reason")) else {}


def _result_of(judged: dict[str, Any], ran: dict[str, Any], limits: Limits, short: _Short) -> Result:
    """Make one result of the two reports.

    Parameters:
        judged: the report on the judge's process, whose output is the verdict.
        ran: the report on the program's process.
        short: what ran out of memory, where the kernel killed processes for that meanwhile: the machine, or the jail (its limit).
    """
    ending, reason = _outcome(judged, ran, limits, short)
    return Result(ending, reason, ran["output"], ran["cpu_s"], ran["wall_s"], _said(judged).get("report", ""))


def _outcome(judged: dict[str, Any], ran: dict[str, Any], limits: Limits, short: _Short) -> tuple[ProgramOutcome, str]:
    if ran["killed"] == "wall" or (judged["killed"] == "wall" and not judged["output"]):
        return ProgramOutcome.TIMED_OUT, f"took more than {limits.wall_s:g} s"
    if judged["killed"] == "cpu" or judged["status"] == -signal.SIGXCPU:
        return (
            ProgramOutcome.TIMED_OUT,
            f"the test took more than {limits.cpu_s + _JUDGE_CPU_S:g} s of CPU time on what the program returned",
        )
    if judged["status"] in _CRASHES:
        return ProgramOutcome.CRASHED, f"its judge died of {signal.Signals(-judged['status']).name} from what it returned"
    if judged["status"] == -signal.SIGKILL and short == "machine":
        raise _SandboxFailed("the machine ran out of memory", blameless=True)
    verdict = _said(judged)
    if not verdict:
        # what the program returned may have done that: a sound program on another judge will tell
        raise _SandboxFailed(f"the judge ended with status {judged['status']}: {judged['output']}".rstrip(": "))
    if verdict["passed"]:
        return ProgramOutcome.PASSED, ""
    match verdict["kind"]:
        case "sandbox":
            raise _SandboxFailed(f"{verdict['reason']}, with status {ran['status']}: {ran['output']}".rstrip(": "), blameless=True)
        case "test":
            return ProgramOutcome.NOT_JUDGEABLE, f"the test can't be run: {verdict['reason']}"
        case "memory":
            return ProgramOutcome.OUT_OF_MEMORY, verdict["reason"]
        case "gone":
            return _outcome_of_early_end(ran, limits, short)
    return ProgramOutcome.FAILED, verdict["reason"]


def _outcome_of_early_end(ran: dict[str, Any], limits: Limits, short: _Short) -> tuple[ProgramOutcome, str]:
    """The outcome of a program that ended before its tests did."""
    status = ran["status"]
    if ran["killed"] == "cpu" or status == -signal.SIGXCPU or (status == -signal.SIGKILL and ran["cpu_s"] >= limits.cpu_s):
        return ProgramOutcome.TIMED_OUT, f"used more than {limits.cpu_s:g} s of CPU time"
    if status >= 0:
        return ProgramOutcome.FAILED, f"ended before its tests did, with status {status}"
    if ran["killed"] == "stop":
        return ProgramOutcome.FAILED, "cut itself off from its tests"
    if status == -signal.SIGKILL and short == "machine":
        return ProgramOutcome.INFRASTRUCTURE, "the machine ran out of memory"
    if status == -signal.SIGKILL and short == "limit":
        return ProgramOutcome.OUT_OF_MEMORY, "was killed for its memory"
    return ProgramOutcome.CRASHED, f"died of {signal.Signals(-status).name}"

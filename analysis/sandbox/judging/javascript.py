"""JavaScript programs and their tests, with Node.js."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Self

from ..isolation.jail import DEFAULT_LIMITS, Jail, Mount, RunningProcess
from ..isolation.limits import Limits
from .call_relay import Channel, Command, await_ready, judged_apart, load, run_test
from .result import ProgramOutcome, Result
from .runtime import MissingRuntime, Runtime, said_by

SCRIPTS = Path(__file__).resolve().parent / "node"
# with hooks for promises
MIN_NODE = (16, 14)
# Node's own threads, and the memory that it holds before the program starts; the program's limit comes on top
THREADS = 40
OWN_BYTES = 256 << 20
# the heap of a judge is the smaller part: an array that doesn't fit can then be reported as such
JUDGE = Limits(cpu_s=math.inf, memory_bytes=1 << 30, processes=THREADS)
JUDGE_HEAP_BYTES = 1 << 29
# no text becomes code in a judge
JUDGE_OPTION = "--disallow-code-generation-from-strings"
HOW = "install Node.js 16.14 or later (Debian, Ubuntu: sudo apt install nodejs; macOS: brew install node)"


@cache
def find_node(name: str = "node") -> Runtime:
    """The Node.js of this machine. Raises MissingRuntime."""
    found, said = said_by(name, "-p", "process.execPath + '\\n' + process.versions.node", language="JavaScript", how=HOW)
    path, version = said.stdout.split()
    if tuple(map(int, version.split(".")[:2])) < MIN_NODE:
        raise MissingRuntime(f"{found} is Node.js {version}, which is too old: {HOW}.")
    return Runtime(Path(path))


class JavaScriptSandbox:
    """Checks JavaScript programs: each runs in a process and a jail of its own, and is judged by a test that runs in another.

    Both processes are new for each program, so that no program can change the verdict on the next. The test is trusted. The names of the
    program's top level that it uses are stand-ins. A call sends its arguments to the program's process as data. It brings back a value,
    rebuilt in the judge, and what the call changed in its arguments. These types are sent: numbers (also NaN and -0), strings, booleans,
    null, undefined, bigints, arrays, plain objects, maps, sets, dates, regular expressions, errors, typed arrays and promises. A function
    that the test wrote is sent as a reference that can be called, and a function of the language as its name. Objects that the test makes
    with `new` stay in the program's process, with their properties. A failed `console.assert` fails the test. The tests of HumanEval-X and
    MBXP are such tests.

    The verdict is given when neither test nor program has anything left to do: timers, promises and events are waited for.

    Raises MissingRuntime.
    """

    def __init__(self, jail: Jail) -> None:
        self._jail, self._node = jail, find_node()
        self._mounts = (*self._node.mounts, Mount(SCRIPTS, SCRIPTS))

    def _command(self, script: str, limits: Limits, heap_bytes: int, *options: str) -> Command:
        argv = [str(self._node.program), *options, f"--max-old-space-size={heap_bytes >> 20}", str(SCRIPTS / script)]
        # Node.js reads OpenSSL's settings at its start, and ends where it may not read them
        return Command(argv, self._mounts, limits, {"OPENSSL_CONF": "/dev/null"})

    def check(self, program: str, test: str, *, limits: Limits = DEFAULT_LIMITS) -> Result:
        """Test a program. limits.processes is raised to the threads that Node.js needs."""
        own = replace(limits, processes=max(THREADS, limits.processes))
        judge = self._command("judge.js", JUDGE, JUDGE_HEAP_BYTES, JUDGE_OPTION)
        runner = self._command("runner.js", own, max(64 << 20, limits.memory_bytes - OWN_BYTES))

        def run(process: RunningProcess, judging: RunningProcess) -> tuple[ProgramOutcome, str]:
            return load_and_test(Channel(judging), Channel(process), program, test, limits)

        return judged_apart(self._jail, runner, judge, run)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """End nothing: every check ends its own processes."""


def load_and_test(judge: Channel, runner: Channel, program: str, test: str, limits: Limits) -> tuple[ProgramOutcome, str]:
    """Send the program to its process, then run the test on it. Raises JailError, ProcessNotReady."""
    await_ready(judge, time.monotonic() + limits.wall_s, "the judge")
    await_ready(runner, time.monotonic() + limits.wall_s)
    deadline = time.monotonic() + limits.wall_s
    ended = load(runner, program.encode(errors="surrogatepass"), limits, deadline, answers=True)
    return ended or run_test(judge, test.encode(errors="surrogatepass"), runner, limits, deadline)

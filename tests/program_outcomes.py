"""What a benchmark's program does: the outcome of each test, and of each call that the tests make and of some that they do not.

A process of its own runs one program after another, each in a fork with limits of time and memory. It is no sandbox: it is for canonical
solutions of benchmarks and what our own rules make of them.

    python tests/program_outcomes.py     jobs as JSON Lines on stdin, outcomes on stdout
"""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

CPU_S, WALL_S, TEST_S, ODD_S, MEMORY = 20, 60, 1.0, 0.1, 1 << 30
MAX_CALLS = 40
ODD = (None, True, -1, 2, 2.5, float("nan"), "ab", "", [], [3, 1, 2], ["b", "a"], (1, 2), {"a": 1}, {1, 2})


@dataclass(frozen=True, slots=True)
class Program:
    """A task's canonical solution and its tests: code for each; entry: the function that the tests call."""

    id: str
    source: str
    setup: str
    tests: tuple[str, ...]
    entry: str


def humaneval(data: Path) -> list[Program]:
    """The 164 tasks of HumanEval."""
    with gzip.open(data / "humaneval" / "HumanEval.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    return [
        Program(r["task_id"], r["prompt"] + r["canonical_solution"], r["test"], (f"check({r['entry_point']})",), r["entry_point"])
        for r in rows
    ]


def mbpp(data: Path) -> list[Program]:
    """The 974 tasks of MBPP."""
    with gzip.open(data / "mbpp" / "mbpp.jsonl.gz", "rt") as file:
        rows = [json.loads(line) for line in file]
    found = []
    for row in rows:
        called = [name for name in _words(row["test_list"][0]) if f"def {name}" in row["code"]]
        found.append(
            Program(f"MBPP/{row['task_id']}", row["code"], row["test_setup_code"], tuple(row["test_list"]), called[0] if called else "")
        )
    return found


def _words(text: str) -> list[str]:
    return "".join(c if c.isalnum() or c == "_" else " " for c in text).split()


class Runner:
    """Holds the process that runs programs; a context manager."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", str(Path(__file__).resolve())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PYTHONHASHSEED": "0", "PATH": os.environ["PATH"]},
        )

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(WALL_S)

    def outcomes(self, program: Program, source: str | None = None) -> dict[str, str] | None:
        """By name of test or call what came of it; None where the program did not end in time. source: instead of the program's own."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        job = [program.source if source is None else source, program.setup, program.tests, program.entry]
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        found: dict[str, str] | None = json.loads(self._process.stdout.readline())
        return found


def told_apart(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The names of the tests and calls with different outcomes.

    What took too long before is left out, with what it did not come to; a test that takes too long only afterwards tells them apart.
    """
    slow = any("too long" in found.get(name, "") for found in (before, after) for name in found if name.startswith("odd"))
    names = (before.keys() & after.keys()) if slow or "too long" in before.values() else (before.keys() | after.keys())
    different = (name for name in names if before.get(name) != after.get(name) and before.get(name) != "too long")
    return sorted(name for name in different if not (name.startswith("odd") and after.get(name, "too long") == "too long"))


class _TooLongError(BaseException):
    pass


def _serve() -> None:
    for line in sys.stdin:
        job = json.loads(line)
        read, write = os.pipe()
        if (child := os.fork()) == 0:
            os.close(read)
            _child(job, write)
        os.close(write)
        signal.signal(signal.SIGALRM, lambda *_, child=child: os.kill(child, signal.SIGKILL))  # type: ignore[misc]
        signal.alarm(WALL_S)
        with os.fdopen(read, "rb") as pipe:
            answer = pipe.read()
        os.waitpid(child, 0)
        signal.alarm(0)
        print(answer.decode() or "null", flush=True)


def _child(job: list[Any], write: int) -> None:
    with suppress(BaseException):
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        found = _outcomes(*job)
        with os.fdopen(write, "wb") as pipe:
            pipe.write(json.dumps(found).encode())
    os._exit(0)


def _outcomes(source: str, setup: str, tests: list[str], entry: str) -> dict[str, str]:
    random.seed(0)
    found: dict[str, str] = {}
    space: dict[str, Any] = {"__name__": "program"}
    found["import"] = _ended(lambda: exec(compile(source, "program", "exec"), space))
    calls: list[tuple[Any, ...]] = []
    if (function := space.get(entry)) is not None and callable(function):
        space[entry] = _recorded(function, calls, found)
    _ended(lambda: exec(compile(setup, "setup", "exec"), space))
    for i, test in enumerate(tests):
        found[f"test {i}"] = _ended(lambda code=test: exec(compile(code, "test", "exec"), space))
        if found[f"test {i}"] == "too long":
            break
    if function is not None and "too long" not in found.values():
        for i, arguments in enumerate(_odd(calls)):
            found[f"odd {i}"] = _called(function, arguments)
            if found[f"odd {i}"].startswith("too long"):
                # the others may be as long
                found[f"odd {i}"] = "too long"
                break
    return found


def _odd(calls: list[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
    """Calls that no test makes: with one argument of another type."""
    if calls:
        arguments = calls[0]
        for place in range(len(arguments)):
            for value in ODD:
                yield (*arguments[:place], value, *arguments[place + 1 :])


def _recorded(function: Callable[..., Any], calls: list[tuple[Any, ...]], found: dict[str, str]) -> Callable[..., Any]:
    def candidate(*arguments: Any, **named: Any) -> Any:
        first = len(calls) < MAX_CALLS
        if first and not named:
            calls.append(eval(text) if _readable(text := repr(arguments)) else arguments)
        result = function(*arguments, **named)
        if first:
            found[f"call {len(calls)}"] = _shown(result, arguments)
        return result

    return candidate


def _readable(text: str) -> bool:
    try:
        eval(text, {})
    except Exception:
        return False
    return True


def _called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    arguments = eval(text) if _readable(text := repr(arguments)) else arguments
    result: list[Any] = []
    ended = _ended(lambda: result.append(function(*arguments)), ODD_S)
    return _shown(result[0], arguments) + ended if result else f"{ended} {_text(arguments)}"


def _ended(run: Callable[[], object], seconds: float = TEST_S) -> str:
    """What was printed, and the type of the exception that ended it."""

    def stop(*_: object) -> None:
        raise _TooLongError

    signal.signal(signal.SIGPROF, stop)
    printed, how = StringIO(), ""
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        with redirect_stdout(printed):
            run()
    except _TooLongError:
        return "too long"
    except (RecursionError, MemoryError):
        how = "exhausted"
    except BaseException as error:
        how = type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return f"{how} {printed.getvalue()[:2000]}"


def _shown(result: object, arguments: object) -> str:
    return f"{_text(result)} of {_text(arguments)}"


def _text(value: object) -> str:
    try:
        text = repr(value)
    except Exception as error:
        return type(error).__name__
    # addresses of objects differ from run to run
    return text[:2000] if " at 0x" not in text else text[: text.index(" at 0x")]


if __name__ == "__main__":
    _serve()

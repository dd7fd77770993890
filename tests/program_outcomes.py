"""What a benchmark's program does: the outcome of each test, of the first call that the tests make, and of some that they do not.

Each program runs in a process of its own, with limits of time and memory. It is no sandbox: it is for canonical solutions of benchmarks and
what our own rules make of them.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import dataclass, replace
from io import StringIO
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

CPU_S, WALL_S, TEST_S, ODD_S, MEMORY = 20, 60, 1.0, 0.1, 1 << 30
ODD = (None, True, -1, 2, 2.5, float("nan"), "ab", "", [], [3, 1, 2], ["b", "a"], (1, 2), {"a": 1}, {1, 2})
TOO_LONG = "too long"
# all its children order sets alike
_PROCESSES = get_context("forkserver")


@dataclass(frozen=True, slots=True)
class Program:
    """A task's canonical solution and its tests: code for each; entry: the function that the tests call."""

    id: str
    source: str
    setup: str
    tests: tuple[str, ...]
    entry: str


def _rows(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        return [json.loads(line) for line in file]


def humaneval(data: Path) -> list[Program]:
    """The 164 tasks of HumanEval."""
    return [
        Program(r["task_id"], r["prompt"] + r["canonical_solution"], r["test"], (f"check({r['entry_point']})",), r["entry_point"])
        for r in _rows(data / "humaneval" / "HumanEval.jsonl.gz")
    ]


def mbpp(data: Path) -> list[Program]:
    """The 974 tasks of MBPP."""
    found = []
    for row in _rows(data / "mbpp" / "mbpp.jsonl.gz"):
        words = "".join(c if c.isalnum() or c == "_" else " " for c in row["test_list"][0]).split()
        called = next((name for name in words if f"def {name}" in row["code"]), "")
        found.append(Program(f"MBPP/{row['task_id']}", row["code"], row["test_setup_code"], tuple(row["test_list"]), called))
    return found


def outcomes(program: Program, source: str | None = None) -> dict[str, str] | None:
    """By name of test or call what came of it; None where the program did not end in time. source: instead of the program's own."""
    read, write = _PROCESSES.Pipe(duplex=False)
    child = _PROCESSES.Process(target=_child, args=(program if source is None else replace(program, source=source), write))
    child.start()
    write.close()
    found: dict[str, str] | None = None
    with suppress(EOFError):
        found = read.recv() if read.poll(WALL_S) else None
    child.kill()
    child.join()
    return found


def told_apart(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The names of the tests and calls with different outcomes.

    What took too long before ends the comparison; so does a call that no test makes and that takes too long only afterwards.
    """
    different = []
    for name in before | after:
        one, other = before.get(name), after.get(name)
        if one == TOO_LONG or (other == TOO_LONG and name.startswith("odd")):
            break
        if one != other:
            different.append(name)
    return different


class _TooLongError(BaseException):
    pass


def _child(program: Program, write: Connection) -> None:
    with suppress(BaseException):
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        write.send(_outcomes(program))
    os._exit(0)


def _outcomes(program: Program) -> dict[str, str]:
    random.seed(0)
    found: dict[str, str] = {}
    space: dict[str, Any] = {"__name__": "program"}
    found["import"] = _ended(lambda: exec(compile(program.source, "program", "exec"), space))
    calls: list[tuple[Any, ...]] = []
    function = space.get(program.entry)

    def first(*arguments: Any, **named: Any) -> Any:
        assert callable(function)
        if not calls and not named:
            calls.append(_copied(arguments))
        return function(*arguments, **named)

    if callable(function):
        space[program.entry] = first
    _ended(lambda: exec(compile(program.setup, "setup", "exec"), space))
    for i, test in enumerate(program.tests):
        found[f"test {i}"] = _ended(lambda code=test: exec(compile(code, "test", "exec"), space))
        if found[f"test {i}"] == TOO_LONG:
            return found
    for i, arguments in enumerate(_odd(calls[0]) if calls else ()):
        found[f"odd {i}"] = _called(function, arguments)
        if found[f"odd {i}"] == TOO_LONG:
            # the others may be as long
            break
    return found


def _odd(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """A call that a test makes, and calls that none makes: with one argument of another type."""
    yield arguments
    for place in range(len(arguments)):
        yield from ((*arguments[:place], value, *arguments[place + 1 :]) for value in ODD)


def _copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Equal arguments, where their text says what they are: a call may change them."""
    with suppress(Exception):
        copy: tuple[Any, ...] = eval(repr(arguments), {})
        return copy
    return arguments


def _called(function: Any, arguments: tuple[Any, ...]) -> str:
    arguments, result = _copied(arguments), list[Any]()
    ended = _ended(lambda: result.append(function(*arguments)), ODD_S)
    return ended if ended == TOO_LONG else f"{ended} {_text(result)} of {_text(arguments)}"


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
        return TOO_LONG
    except (RecursionError, MemoryError):
        how = "exhausted"
    except BaseException as error:
        how = type(error).__name__
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return f"{how} {printed.getvalue()[:2000]}"


def _text(value: object) -> str:
    try:
        text = repr(value)
    except Exception as error:
        return type(error).__name__
    # addresses of objects differ from run to run
    return text[:2000] if " at 0x" not in text else text[: text.index(" at 0x")]

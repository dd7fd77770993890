"""Programs a second, isolation included: HumanEval+'s canonical solutions with all its inputs, in our sandbox and in others' ways, in turn.

    python benchmarks/sandbox.py [--data FILE.jsonl.gz] [--inputs all|base] [--programs N] [--rounds 5] [--workers 1,2]

Every way makes the same calls and compares with the same expected values (those of the canonical solution). Ours: a judge apart from the
program, values across the border between them; human-eval's and evalplus's, written anew (execution_ways.py), compare in the program's
own process and isolate nothing. In each round every way runs all programs once, in another order each time; a way's ratio to evalplus's is
taken within each round, and the median of the rounds told with the lowest and the highest. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import gzip
import io
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from execution_ways import FORK, evalplus_values, human_eval  # noqa: E402
from machine import described  # noqa: E402

from assay.analysis.sandbox.isolation.jail import Jail  # noqa: E402
from assay.analysis.sandbox.isolation.levels import Isolation  # noqa: E402
from assay.analysis.sandbox.isolation.limits import Limits  # noqa: E402
from assay.analysis.sandbox.judging.python import PythonSandbox  # noqa: E402
from assay.analysis.sandbox.judging.result import ProgramOutcome  # noqa: E402

# JSON, as a parser of Python takes gigabytes for the largest of the data.
TEST = """import json
def made(tagged):
    ((kind, held),) = tagged.items()
    return {{"tuple": tuple, "dict": dict, "int": lambda digits: int(digits, 16)}}[kind](held)
CASES = json.loads({cases!r}, object_hook=made)
def check(candidate):
    for arguments, expected in CASES:
        assert candidate(*arguments) == expected
check({name})
"""
DATA = ROOT.parent / "shared" / "data" / "humanevalplus" / "HumanEvalPlus.jsonl.gz"
CPU_S, WALL_S, MEMORY = 20.0, 60.0, 4 << 30
NAMES = {"evalplus": "evalplus's way", "human_eval": "human-eval's way", "bubblewrap": "ours, bubblewrap", "landlock": "ours, Landlock"}


@dataclass(frozen=True, slots=True)
class Task:
    """A correct program, its inputs, and its result for each. test: both as Python code."""

    name: str
    program: str
    entry_point: str
    inputs: list[list[Any]]
    expected: list[Any]
    test: str


def tagged(value: Any) -> Any:
    """What JSON has no form for (tuples, dicts with any keys, numbers beyond 4,300 digits), as an object with the kind in it."""
    match value:
        case list():
            return [tagged(item) for item in value]
        case tuple():
            return {"tuple": [tagged(item) for item in value]}
        case dict():
            return {"dict": [[tagged(key), tagged(item)] for key, item in value.items()]}
        case int() if value.bit_length() > 10_000:
            return {"int": hex(value)}
    return value


def task_of(row: dict[str, Any], *, base: bool) -> Task:
    program, name = row["prompt"] + row["canonical_solution"], row["entry_point"]
    inputs = row["base_input"] if base else row["base_input"] + row["plus_input"]
    space: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(program, space)
        expected = [space[name](*copy.deepcopy(arguments)) for arguments in inputs]
    test = TEST.format(cases=json.dumps(tagged([list(case) for case in zip(inputs, expected, strict=True)])), name=name)
    return Task(row["task_id"], program, name, inputs, expected, test)


def by_evalplus(task: Task) -> bool:
    """As its pool's worker does it: the task comes pickled, the child is forked from the worker."""
    given = {id(arguments): expected for arguments, expected in zip(task.inputs, task.expected, strict=True)}
    return evalplus_values(
        task.program, task.entry_point, task.inputs, lambda arguments, result: check_same(result, given[id(arguments)]), WALL_S, MEMORY
    )


def check_same(result: Any, expected: Any) -> bool:
    assert result == expected
    return True


def by_human_eval(task: Task) -> bool:
    return human_eval(task.program, task.test, WALL_S, None)


def by_sandbox(sandboxes: SimpleQueue[PythonSandbox], task: Task) -> bool:
    sandbox = sandboxes.get()
    try:
        result = sandbox.check(task.program, task.test, task.entry_point, limits=Limits(cpu_s=CPU_S, wall_s=WALL_S, memory_bytes=MEMORY))
    finally:
        sandboxes.put(sandbox)
    if result.outcome is not ProgramOutcome.PASSED:
        print(f"{task.name}: {result.outcome}: {result.reason}", file=sys.stderr)
    return result.outcome is ProgramOutcome.PASSED


@contextlib.contextmanager
def opened(way: str, workers: int) -> Iterator[tuple[Executor, Callable[[Task], bool]]]:
    """The way's own kind of pool, warm."""
    with ExitStack() as stack:
        if way == "evalplus":
            yield stack.enter_context(ProcessPoolExecutor(workers, mp_context=FORK)), by_evalplus
            return
        threads = stack.enter_context(ThreadPoolExecutor(workers))
        if way == "human_eval":
            yield threads, by_human_eval
            return
        sandboxes: SimpleQueue[PythonSandbox] = SimpleQueue()
        for _ in range(workers):
            sandboxes.put(stack.enter_context(PythonSandbox(Jail(Isolation(way)))))
        yield threads, partial(by_sandbox, sandboxes)


def programs_per_second(way: str, workers: int, tasks: list[Task]) -> float:
    """Programs a second of each way. Raises SystemExit where a canonical solution fails, because the figures would compare nothing."""
    with opened(way, workers) as (pool, run):
        warm = [pool.submit(run, tasks[0]) for _ in range(workers)]
        ready = [future.result() for future in warm]
        began = time.perf_counter()
        passed = [*ready, *pool.map(run, tasks)]
        took = time.perf_counter() - began
    if failed := [task.name for task, right in zip([*tasks[:1] * workers, *tasks], passed, strict=True) if not right]:
        sys.exit(f"sandbox: under {NAMES[way]} these canonical solutions did not pass: {', '.join(failed)}")
    return len(tasks) / took


def usable() -> list[str]:
    """The ways of others, and our isolation levels that work on this machine."""
    ways = ["evalplus", "human_eval"]
    for level in ("bubblewrap", "landlock"):
        try:
            with PythonSandbox(Jail(Isolation(level))):
                ways.append(level)
        except Exception as error:
            print(f"{NAMES[level]}: not here: {error}", file=sys.stderr)
    return ways


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="HumanEvalPlus.jsonl.gz (%(default)s)")
    parser.add_argument("--inputs", choices=("all", "base"), default="all", help="base: HumanEval's own, some 10 a program (%(default)s)")
    parser.add_argument("--programs", type=int, help="only the first N (all)")
    parser.add_argument("--rounds", type=int, default=5, help="(default: %(default)s)")
    parser.add_argument("--workers", default="1,2", help="(default: %(default)s)")
    arguments = parser.parse_args()
    if not arguments.data.is_file():
        parser.error(f"{arguments.data}: no such file; it is in evalplus's releases of HumanEval+")
    with gzip.open(arguments.data, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines][: arguments.programs]
    sys.set_int_max_str_digits(0)
    tasks, ways = [task_of(row, base=arguments.inputs == "base") for row in rows], usable()
    calls = sum(len(task.inputs) for task in tasks)
    print(f"{described()}\n\n{len(tasks)} programs, {calls:,} calls, {arguments.rounds} rounds\n")
    print("| way | workers | programs/s, median (lowest to highest) | to evalplus's, median (lowest to highest) |\n|---|---|---|---|")
    for workers in map(int, arguments.workers.split(",")):
        speeds: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(arguments.rounds):
            for way in ways[number % len(ways) :] + ways[: number % len(ways)]:
                speeds[way].append(programs_per_second(way, workers, tasks))
        for way in ways:
            ratios = [own / other for own, other in zip(speeds[way], speeds["evalplus"], strict=True)]
            print(f"| {NAMES[way]} | {workers} | {spread(speeds[way], 1)} | {spread(ratios, 2)} |", flush=True)


def spread(values: list[float], digits: int) -> str:
    return f"{statistics.median(values):.{digits}f} ({min(values):.{digits}f} to {max(values):.{digits}f})"


if __name__ == "__main__":
    main()

"""Read the tasks of mxeval (Athiwaratkun et al. 2022, arXiv 2210.14868): one problem in several languages, each with signature and test.

MBXP, the multilingual MathQA and the multilingual HumanEval, and the completions that were published beside them: JSON lines, plain or
gzip. A test is trusted code for the sandbox of its language.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, TypeVar

import msgspec
from msgspec.structs import force_setattr

from .benchmarks import Language, UnreadableItems, numbered_lines

Benchmark = Literal["humaneval", "mbpp", "mathqa"]

# The first part of a task's name, and the benchmark whose problem it is.
_BENCHMARKS: dict[str, Benchmark] = {
    "HumanEval": "humaneval",
    "HumanEval_java": "humaneval",
    "HumanEval_javascript": "humaneval",
    "MBPP": "mbpp",
    "MBJP": "mbpp",
    "MBJSP": "mbpp",
    "MathQA": "mathqa",
}
_NAMES = {"humaneval": "HumanEval", "mbpp": "MBPP", "mathqa": "MathQA"}
_Record = TypeVar("_Record")


class Task(msgspec.Struct, frozen=True, rename={"id": "task_id", "solution": "canonical_solution"}):
    """One problem in one language. prompt + a solution is a whole program. solution: the published one, which not every task has."""

    id: str
    language: Language
    prompt: str
    entry_point: str
    test: str
    solution: str | None

    def __post_init__(self) -> None:
        benchmark_of(self.id)
        force_setattr(self, "solution", self.solution or None)

    @property
    def benchmark(self) -> Benchmark:
        """The benchmark whose problem it is."""
        return benchmark_of(self.id)

    @property
    def problem(self) -> str:
        """The problem's name in every language, such as "MBPP/2"."""
        return f"{_NAMES[self.benchmark]}/{self.id.partition('/')[2]}"


class _Completion(msgspec.Struct):
    task_id: str
    language: Language
    completion: str


def read_tasks(path: Path) -> list[Task]:
    """The tasks of a file, in its order. Raises UnreadableItems, OSError."""
    tasks: dict[str, Task] = {}
    for number, task in _records(path, Task):
        if tasks.setdefault(task.id, task) is not task:
            raise UnreadableItems(f"{path}, line {number}: the task {task.id} is there already")
    return list(tasks.values())


def read_completions(path: Path) -> dict[tuple[str, Language], str]:
    """The completions of a file, by the names of their tasks and the language. Raises UnreadableItems, OSError."""
    return {(one.task_id, one.language): one.completion for _, one in _records(path, _Completion)}


def benchmark_of(task: str) -> Benchmark:
    """The benchmark of a task, by its name. Raises ValueError where none is known here."""
    prefix = task.partition("/")[0]
    if prefix not in _BENCHMARKS:
        raise ValueError(f"a task {task!r}, which is of no benchmark known here: {', '.join(_BENCHMARKS)}")
    return _BENCHMARKS[prefix]


def set_of(task: str) -> str:
    """The name of the set that a task is of: programs of its MBPP are not those of MBPP. Raises ValueError as `benchmark_of`."""
    benchmark = benchmark_of(task)
    return "mbxp" if benchmark == "mbpp" else benchmark


def id_of_task(task: str, language: Language) -> str:
    """The id of the program that solves a task, such as mbxp-java/2. Raises ValueError as `benchmark_of`."""
    return f"{set_of(task)}-{language}/{task.partition('/')[2]}"


def _records(path: Path, kind: type[_Record]) -> Iterator[tuple[int, _Record]]:
    decoder = msgspec.json.Decoder(kind)
    for number, line in numbered_lines(path):
        try:
            yield number, decoder.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise UnreadableItems(f"{path}, line {number}: {error}") from None

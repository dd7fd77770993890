"""Read the tasks of mxeval (Athiwaratkun et al. 2022, arXiv 2210.14868): one problem in several languages, each with signature and test.

MBXP, the multilingual MathQA and the multilingual HumanEval, and the completions that were published beside them: JSON lines, plain or
gzip. A test is trusted code for the sandbox of its language.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

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
_LANGUAGES: dict[str, Language] = {language: language for language in get_args(Language)}
_NAMES = {"humaneval": "HumanEval", "mbpp": "MBPP", "mathqa": "MathQA"}


@dataclass(frozen=True, slots=True)
class Task:
    """One problem in one language. prompt + a solution is a whole program.

    problem: its name in every language, such as "MBPP/2". solution: the published one, which not every task has.
    """

    id: str
    problem: str
    benchmark: Benchmark
    language: Language
    prompt: str
    entry_point: str
    test: str
    solution: str | None


def read_tasks(path: Path) -> list[Task]:
    """The tasks of a file, in its order. Raises UnreadableItems, OSError."""
    tasks: dict[str, Task] = {}
    for number, record in _records(path):
        try:
            task = _task(record)
        except KeyError as error:
            raise UnreadableItems(f"{path}, line {number}: no field {error}, which the tasks of mxeval have") from None
        except ValueError as error:
            raise UnreadableItems(f"{path}, line {number}: {error}") from None
        if tasks.setdefault(task.id, task) is not task:
            raise UnreadableItems(f"{path}, line {number}: the task {task.id} is there already")
    return list(tasks.values())


def read_completions(path: Path) -> dict[tuple[str, Language], str]:
    """The completions of a file, by the names of their tasks and the language. Raises UnreadableItems, OSError."""
    completions: dict[tuple[str, Language], str] = {}
    for number, record in _records(path):
        name, text, told = record.get("task_id"), record.get("completion"), record.get("language")
        language = _LANGUAGES.get(str(told))
        if not isinstance(name, str) or not isinstance(text, str) or language is None:
            raise UnreadableItems(f"{path}, line {number}: a completion of mxeval has task_id, completion, and a language known here")
        completions[name, language] = text
    return completions


def benchmark_of(task: str) -> Benchmark:
    """The benchmark of a task, by its name. Raises ValueError where none is known here."""
    prefix = task.partition("/")[0]
    if prefix not in _BENCHMARKS:
        raise ValueError(f"a task {task!r}, which is of no benchmark known here: {', '.join(_BENCHMARKS)}")
    return _BENCHMARKS[prefix]


def _records(path: Path) -> list[tuple[int, dict[str, Any]]]:
    found = []
    for number, line in numbered_lines(path):
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UnreadableItems(f"{path}, line {number}: no JSON: {error}") from None
        if not isinstance(record, dict):
            raise UnreadableItems(f"{path}, line {number}: a record is a JSON object")
        found.append((number, record))
    return found


def _task(record: dict[str, Any]) -> Task:
    name, language, solution = _text(record, "task_id"), _LANGUAGES.get(str(record["language"])), record["canonical_solution"]
    benchmark, number = benchmark_of(name), name.partition("/")[2]
    if language is None:
        raise ValueError(f"the language {record['language']!r}: only {', '.join(_LANGUAGES)} can be tested here")
    if solution is not None and not isinstance(solution, str):
        raise ValueError("canonical_solution is no text")
    prompt, entry_point, test = (_text(record, field) for field in ("prompt", "entry_point", "test"))
    problem = f"{_NAMES[benchmark]}/{number}"
    return Task(name, problem, benchmark, language, prompt, entry_point, test, solution or None)


def _text(record: dict[str, Any], field: str) -> str:
    if not isinstance(record[field], str):
        raise ValueError(f"{field} is no text")
    return str(record[field])

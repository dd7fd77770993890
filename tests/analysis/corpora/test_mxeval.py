from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from needs import DATA, needs_data

from assay.analysis.corpora.benchmarks import UnreadableItems
from assay.analysis.corpora.mxeval import read_completions, read_tasks
from assay.analysis.sandbox.judging.python import PythonSandbox

TASK = {
    "task_id": "MBPP/2",
    "language": "python",
    "prompt": "def twice(x):\n",
    "entry_point": "twice",
    "test": "def check(candidate):\n    assert candidate(2) == 4\n",
    "canonical_solution": "    return 2 * x\n",
}
FILES = {
    "mbxp/mbjp_release_v1.2.jsonl.gz": ("java", 966, 874),
    "mbxp/mbpp_release_v1.jsonl.gz": ("python", 974, 974),
    "mbxp/mbjsp_release_v1.2.jsonl.gz": ("javascript", 966, 938),
    "mathqa-x/mathqa-test-java_v1.jsonl.gz": ("java", 1883, 0),
    "mathqa-x/mathqa-test-python_v1.jsonl.gz": ("python", 1883, 1883),
    "mxeval-humaneval/HumanEval_javascript_v1.1.jsonl.gz": ("javascript", 161, 0),
}


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_a_task_passes_its_test_with_its_solution(tmp_path: Path, sandbox: PythonSandbox) -> None:
    (task,) = read_tasks(write(tmp_path / "tasks.jsonl", TASK))
    assert sandbox.check(task.prompt + (task.solution or ""), task.test, task.entry_point).label is True
    assert sandbox.check(f"{task.prompt}    return x\n", task.test, task.entry_point).label is False


def test_a_problem_has_one_name_in_all_languages(tmp_path: Path) -> None:
    java = {**TASK, "task_id": "MBJP/2", "language": "java", "canonical_solution": None}
    python, other = read_tasks(write(tmp_path / "tasks.jsonl", TASK, java))
    assert python.problem == other.problem == "MBPP/2"
    assert other.solution is None


def test_completions_are_told_apart_by_language(tmp_path: Path) -> None:
    rows = [{"task_id": "MathQA/1", "completion": text, "language": language} for text, language in (("a", "java"), ("b", "python"))]
    assert read_completions(write(tmp_path / "samples.jsonl", *rows)) == {("MathQA/1", "java"): "a", ("MathQA/1", "python"): "b"}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({**TASK, "task_id": "Rust/1"}, "of no benchmark known here"),
        ({**TASK, "language": "ruby"}, "Invalid enum value 'ruby' - at `..language`"),
        ({name: value for name, value in TASK.items() if name != "test"}, "missing required field `test`"),
    ],
)
def test_what_is_no_task_is_refused_with_its_line(tmp_path: Path, record: Any, reason: str) -> None:
    path = write(tmp_path / "tasks.jsonl", {**TASK, "task_id": "MBPP/1"}, record)
    with pytest.raises(UnreadableItems, match=rf"tasks.jsonl, line 2: .*{reason}"):
        read_tasks(path)


def test_a_task_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableItems, match="line 2: the task MBPP/2 is there already"):
        read_tasks(write(tmp_path / "tasks.jsonl", TASK, TASK))


@needs_data(*FILES)
@pytest.mark.parametrize("name", FILES)
def test_the_published_files_are_read_whole(name: str) -> None:
    language, count, solved = FILES[name]
    tasks = read_tasks(DATA / name)
    assert len(tasks) == count
    assert {task.language for task in tasks} == {language}
    assert sum(task.solution is not None for task in tasks) == solved

"""ODEX as a set whose tests are counted one by one, with the real sandbox."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from needs import DATA, needs_data

from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.offline_eval.sets.functions import odex
from assay.offline_eval.sets.problem import SetError
from assay.offline_eval.sets.problems import problems

ODEX = "odex/en_test.jsonl.gz"
RECORD: dict[str, Any] = {
    "task_id": 7,
    "prompt": "def f_7(values):\n\treturn ",
    "suffix": "",
    "canonical_solution": "sorted(values)",
    "test_start": "\nimport math\n\ndef check(candidate):",
    "test": ["\n    assert candidate([2, 1]) == [1, 2]\n", "\n    x = math.floor(2.5)\n    assert candidate([x]) == [2]\n"],
    "entry_point": "f_7",
    "intent": 'sort "values"',
    "library": ["math"],
}


def written(path: Path, **change: Any) -> Path:
    path.write_text(json.dumps(RECORD | change) + "\n")
    return path


@pytest.mark.parametrize(
    ("body", "marks"),
    [("sorted(values)", "11"), ("values[::-1]", "11"), ("values", "01"), ("values[5]", "00"), ("exit(3)", "")],
)
def test_each_test_is_counted_and_none_ends_the_others(tmp_path: Path, sandbox: PythonSandbox, body: str, marks: str) -> None:
    (problem,) = odex(written(tmp_path / "odex.jsonl"))
    assert (problem.base_inputs, problem.plus_inputs) == (2, 0)
    result = sandbox.check(problem.program(f"def f_7(values):\n    return {body}\n"), problem.counting_test, problem.entry_point)
    assert (result.label, result.report.strip()) == (marks == "11", marks)


def test_the_docstring_has_the_intent_and_the_tests(tmp_path: Path) -> None:
    (problem,) = odex(written(tmp_path / "odex.jsonl"))
    assert problem.prompt.startswith('def f_7(values):\n    """sort "values"\n')
    assert "assert candidate([2, 1]) == [1, 2]" in problem.prompt
    assert problem.program(problem.truth) == "def f_7(values):\n\treturn sorted(values)\n"


def test_problems_that_need_more_than_python_are_left_out(tmp_path: Path) -> None:
    assert odex(written(tmp_path / "odex.jsonl", library=["pandas"])) == []


@pytest.mark.parametrize(("change", "message"), [({"test": ["assert ("]}, "ODEX/7 is no Python"), ({"intent": 3}, "intent is int")])
def test_a_record_that_can_not_be_read_is_refused_with_its_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(SetError, match=f"odex.jsonl:1: .*{message}|odex.jsonl:1: {message}"):
        odex(written(tmp_path / "odex.jsonl", **change))


@needs_data(ODEX)
def test_the_published_file_is_read() -> None:
    assert len(problems("odex", DATA / ODEX)) == 334

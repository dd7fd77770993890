from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import pytest
from needs import DATA, needs_data

from assay.analysis.corpora.benchmarks import Item, UnreadableItems, read_items
from assay.analysis.corpora.evalplus import profiled
from assay.analysis.sandbox.isolation.limits import Limits
from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.analysis.sandbox.judging.result import ProgramOutcome

PYTHON = {
    "humaneval/HumanEval.jsonl.gz": 164,
    "humaneval-x/humaneval_python.jsonl.gz": 164,
    "humanevalplus/HumanEvalPlus.jsonl.gz": 164,
    "mbpp/mbpp.jsonl.gz": 974,
    "mbppplus/MbppPlus.jsonl.gz": 378,
}
OTHER = {"humaneval-x/humaneval_java.jsonl.gz": "java", "humaneval-x/humaneval_js.jsonl.gz": "javascript"}
published = needs_data(*PYTHON, *OTHER)
# Characters of a test: the longest ask for thousands of answers, which takes up to a minute.
LONG = 50_000
# the same program with every answer changed
WRONG = """

def changed(function):
    def answer(*args):
        value = function(*args)
        match value:
            case bool():
                return not value
            case int() | float() | complex():
                return value + 1
            case str():
                return value + "?"
            case list():
                return [*value, None]
            case tuple():
                return (*value, None)
            case set():
                return {{*value, None}}
            case dict():
                return {{**value, "?": None}}
        return 0 if value is None else None

    return answer

{entry} = changed({entry})
"""


@cache
def items_of(name: str) -> list[Item]:
    return read_items(DATA / name)


@pytest.mark.slow
@published
@pytest.mark.filterwarnings("ignore:invalid escape")
@pytest.mark.parametrize(("name", "count"), PYTHON.items())
def test_every_item_of_a_python_benchmark_is_a_whole_program_with_a_test(name: str, count: int) -> None:
    items = items_of(name)
    assert len({item.id for item in items}) == len(items) == count
    for item in items:
        assert item.language == "python"
        assert item.entry_point is not None
        assert f"def {item.entry_point}" in item.program()
        if len(item.test) < 10_000:
            compile(item.program(), item.id, "exec")
            compile(item.test, item.id, "exec")


@published
@pytest.mark.parametrize(("name", "language"), OTHER.items())
def test_items_of_java_and_javascript_hold_program_and_test_apart(name: str, language: str) -> None:
    items = items_of(name)
    assert len(items) == 164
    assert {item.language for item in items} == {language}
    assert all(item.test and item.program().startswith(item.prompt) for item in items)


# with names from the prompt, with classes, with answers of no order, with types that JSON lacks, with truth alone compared
SAMPLE = {
    *(f"{name}/{number}" for name in ("HumanEval", "Python") for number in (0, 32, 38, 50, 61)),
    *(f"MBPP/{number}" for number in (1, 4, 367, 596, 601, 927)),
    *(f"Mbpp/{number}" for number in (2, 7, 56, 124, 252, 295, 580, 737, 787)),
}


@pytest.mark.slow
@published
@pytest.mark.parametrize("name", PYTHON)
def test_canonical_solutions_pass_and_wrong_ones_fail(sandbox: PythonSandbox, name: str) -> None:
    limits = Limits(cpu_s=60, wall_s=300)
    for item in (item for n, item in enumerate(items_of(name)) if item.id in SAMPLE or (n % 30 == 0 and len(item.test) < LONG)):
        result = sandbox.check(item.program(), item.test, item.entry_point, limits=limits)
        assert result.outcome is ProgramOutcome.PASSED, (item.id, result)
        program = item.program() + WRONG.format(entry=item.entry_point)
        result = sandbox.check(program, item.test, item.entry_point, limits=limits)
        assert result.outcome is ProgramOutcome.FAILED, (item.id, result)
        nothing = f"def {item.entry_point}(*args): pass\n"
        assert sandbox.check(nothing, item.test, item.entry_point).label is False, item.id


@published
def test_helpers_of_the_prompt_are_the_tests_own(sandbox: PythonSandbox) -> None:
    item = next(item for item in items_of("humaneval/HumanEval.jsonl.gz") if item.id == "HumanEval/32")
    forged = item.prompt + "    return 0.5\n\ndef poly(xs, x): return 0\n"
    assert sandbox.check(forged, item.test, item.entry_point).outcome is ProgramOutcome.FAILED


@pytest.mark.slow
@published
def test_an_answer_near_the_right_one_passes_only_where_floats_are_asked_for(sandbox: PythonSandbox) -> None:
    items = {item.id: item for item in items_of("humanevalplus/HumanEvalPlus.jsonl.gz")}
    slightly = "\n_right = {entry}\ndef {entry}(*args): return _right(*args) + 1e-9\n"
    for number, ending in ((4, ProgramOutcome.PASSED), (23, ProgramOutcome.FAILED)):
        item = items[f"HumanEval/{number}"]
        program = item.program() + slightly.format(entry=item.entry_point)
        assert sandbox.check(program, item.test, item.entry_point).outcome is ending


def test_a_file_of_something_else_is_refused_with_its_line(tmp_path: Path) -> None:
    good = json.dumps({"task_id": "Java/1", "prompt": "", "canonical_solution": "", "test": ""})
    for text, says in (
        (f"{good}\n{{", "line 2: no JSON"),
        ('{"task_id": "HumanEval/1"}', "line 1: no field 'entry_point'"),
        ('{"task_id": "Other/1"}', "line 1: an item of 'Other'"),
        ('{"task_id": "MBPP/1", "test_list": ["assert ("], "code": ""}', "line 1"),
        ("[1]", "line 1"),
    ):
        path = tmp_path / "items.jsonl"
        path.write_text(text)
        with pytest.raises(UnreadableItems, match=says):
            read_items(path)
    path = tmp_path / "items.jsonl.gz"
    path.write_bytes(gzip.compress(good.encode())[:-9])
    with pytest.raises(UnreadableItems, match=r"items\.jsonl\.gz"):
        read_items(path)


@pytest.mark.slow
@published
def test_a_profile_tells_of_each_input_what_became_of_it(sandbox: PythonSandbox) -> None:
    item = next(item for item in items_of("humanevalplus/HumanEvalPlus.jsonl.gz") if item.entry_point == "truncate_number")
    test = profiled(item.test, item.entry_point)

    def told(body: str) -> tuple[bool | None, str, str]:
        result = sandbox.check(item.program(body), test, item.entry_point, limits=Limits(cpu_s=1))
        digest, _, marks = result.report.partition(" ")
        return result.label, digest, marks

    right, same = told(item.canonical_solution), told("    return number - int(number)\n")
    assert right[0] is True
    assert set(right[2]) == {"1"}
    assert right[1] == same[1]
    label, digest, marks = told("    return number % 1.0 if number < 50 else 1 / 0\n")
    assert label is False
    assert digest not in ("", right[1])
    assert len(marks) == len(right[2])
    assert {"1", "x"} == set(marks)
    label, _, marks = told("    while number > 50:\n        pass\n    return number\n")
    assert label is False
    assert 0 < len(marks) < len(right[2])
    assert told("    return number (\n") == (False, "", "")

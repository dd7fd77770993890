"""CRUXEval's filter, with the real sandbox."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.corpora.benchmarks import read_items, traced
from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.offline_eval.counterfeit.problems.tracing import LIMITS, Pair, chosen, guarded, shown

RECORD = {
    "task_id": "HumanEval/0",
    "prompt": 'def f(x):\n    """ Itself. """\n',
    "entry_point": "f",
    "canonical_solution": "    return x\n",
    "test": "",
    "base_input": [[1], [9], [[1, 2, 3, 4, 5]], ["abcdef"]],
    "plus_input": [[0]],
    "atol": 0,
}


@pytest.fixture(scope="module")
def test_code(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("set") / "plus.jsonl"
    path.write_text(json.dumps(RECORD) + "\n")
    return read_items(Path(path))[0].test


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("return x", ["1", "9", "[1, 2, 3, 4, 5]", "'abcdef'"]),
        # two large numbers are not multiplied in the head, two long sequences are not joined
        ("return x * 3", ["3", "27", repr([1, 2, 3, 4, 5] * 3), "'abcdefabcdefabcdef'"]),
        ("return x * 4", ["4", None, repr([1, 2, 3, 4, 5] * 4), repr("abcdef" * 4)]),
        ("return x + x", ["2", None, None, None]),
        ("y = x\n    y += 1\n    return y", ["2", "10", None, None]),
        ("y = [x]\n    y[1 - 1] += 4\n    return y[0]", ["5", None, None, None]),
        ("return x[:2]", [None, None, "[1, 2]", "'ab'"]),
        ("return [x] + [1]", ["[1, 1]", "[9, 1]", "[[1, 2, 3, 4, 5], 1]", "['abcdef', 1]"]),
        ("return x / 1", [None] * 4),
        ("return float(x)", ["1.0", "9.0", None, None]),
        ("while x != 9:\n        pass\n    return 2", [None, "2", None, None]),
        # what is refused stays so where the program catches all errors
        ("try:\n        return x * 4\n    except:\n        return 0", ["4", None, repr([1, 2, 3, 4, 5] * 4), repr("abcdef" * 4)]),
        ("try:\n        while x == 1:\n            pass\n    except Exception:\n        pass\n    return 2", [None, "2", "2", "2"]),
        ("return x if x == 1 else f(1)", ["1", "1", "1", "1"]),
    ],
)
def test_a_program_is_followed_where_it_can_be_followed_in_the_head(
    sandbox: PythonSandbox, test_code: str, body: str, values: list[str | None]
) -> None:
    program = guarded(f"from typing import Any\n\ndef f(x: Any):\n    {body}\n", "f")
    assert program is not None
    result = sandbox.check(program, traced(test_code, "f", 4), "f", limits=LIMITS)
    inputs = ["1", "9", "[1, 2, 3, 4, 5]", "'abcdef'"]
    expected = [[given, value, given] for given, value in zip(inputs, values, strict=True) if value is not None]
    assert json.loads(result.report) == expected, result


@pytest.mark.parametrize("given", ["Liar()", "[Liar()]", "object()", "abs"])
def test_a_program_does_not_say_what_its_own_objects_are(sandbox: PythonSandbox, test_code: str, given: str) -> None:
    liar = "class Liar:\n    def __repr__(self):\n        return '7'\n    def __eq__(self, other):\n        return True\n\n"
    program = f"{liar}def f(x):\n    return {given}\n"
    guard = guarded(program, "f")
    assert guard is not None
    assert json.loads(sandbox.check(guard, traced(test_code, "f", 4), "f", limits=LIMITS).report) == []


@pytest.mark.parametrize(
    "program", ["import os\ndef f(x):\n    return x\n", "def f(x):\n    return set(x)\n", "def f(x):\n    return 0.5\n", "def f(x:\n"]
)
def test_a_program_that_reaches_outside_is_barred_by_its_text(program: str) -> None:
    assert guarded(program, "f") is None


def test_docstrings_and_imports_for_annotations_are_not_shown() -> None:
    function = "def f(x: List[int]):\n{}    # kept\n    return x\n\n\ndef g():\n    {}\n"
    program = "from typing import List\n\n\n" + function.format('    """Two\n    lines."""\n', '"alone"')
    assert shown(program) == function.format("", "pass")


@pytest.mark.parametrize("program", ["def f(x):\n    'One.'; return x\n", "def f(x): 'One.'\n", "def f(x):\n    return '\x0c\x1c'\n"])
def test_code_on_the_lines_of_a_docstring_is_shown(program: str) -> None:
    assert shown(program) == program


VALUES = st.sampled_from(["1", "2", "'a'", "[1]", "0.5", "'\\n'", "f(1)"])


@given(st.lists(st.builds(Pair, st.sampled_from(["1", "2, 'b'", "0.5"]), VALUES, VALUES)), st.booleans(), st.integers(0, 9))
def test_at_most_two_inputs_of_literals_without_floats_are_asked_about(pairs: list[Pair], is_right: bool, seed: int) -> None:
    found = chosen("p", is_right, pairs, seed)
    assert len(found) <= 2
    assert all("0.5" not in (pair.arguments, pair.value, pair.answer) and "f(1)" not in (pair.value, pair.answer) for pair in found)
    assert sum(not pair.agrees for pair in found) <= (0 if is_right else 1)
    assert found == chosen("p", is_right, pairs, seed)

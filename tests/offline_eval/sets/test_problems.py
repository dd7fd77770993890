from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import DATA, needs_data
from source_distribution import make_sdist

from assay.analysis.python.lines import Gap
from assay.analysis.sandbox.isolation.limits import Limits
from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.inference.completion.settings import Settings
from assay.inference.completion.task import task_of
from assay.offline_eval.sets.judging import judge
from assay.offline_eval.sets.lines import in_arm, places_of
from assay.offline_eval.sets.problem import Problem, SetError, hashable, literal
from assay.offline_eval.sets.problems import SETS, odex, problems

atoms = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.floats(-1, 1), st.text("ab", max_size=2), st.binary(max_size=1))
keys = st.one_of(atoms, st.tuples(atoms))
values = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.tuples(inner, inner), st.sets(keys, max_size=2), st.dictionaries(keys, inner, max_size=2)
    ),
    max_leaves=6,
)


@given(values, values)
def test_two_literals_are_one_answer_exactly_where_python_calls_them_equal(a: Any, b: Any) -> None:
    assert (hashable(a) == hashable(b)) == (a == b)
    if a == b:
        assert hash(hashable(a)) == hash(hashable(b))


@pytest.mark.parametrize("text", ["f(1)", "'a' * 3", "open('made', 'w')", "[" * 2000, "{[]}", "9" * 5000])
def test_what_is_no_literal_is_neither_read_nor_executed(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert literal(text) is None
    assert not list(tmp_path.iterdir())


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
    [("sorted(values)", "11"), ("values", "01"), ("values[5]", "00"), ("exit(3)", "")],
)
def test_each_test_is_counted_and_none_ends_the_others(tmp_path: Path, sandbox: PythonSandbox, body: str, marks: str) -> None:
    (problem,) = odex(written(tmp_path / "odex.jsonl"))
    assert (problem.base_inputs, problem.plus_inputs) == (2, 0)
    assert problem.prompt.startswith('def f_7(values):\n    """sort "values"\n')
    assert "assert candidate([2, 1]) == [1, 2]" in problem.prompt
    result = sandbox.check(problem.program(f"def f_7(values):\n    return {body}\n"), problem.counting_test, problem.entry_point)
    assert (result.label, result.report.strip()) == (marks == "11", marks)


@pytest.mark.parametrize(("change", "message"), [({"test": ["assert ("]}, "ODEX/7 is no Python"), ({"intent": 3}, r"\$\.intent")])
def test_a_record_that_can_not_be_read_is_refused_with_its_line(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    with pytest.raises(SetError, match=f"odex.jsonl:1: .*{message}|odex.jsonl:1: {message}"):
        odex(written(tmp_path / "odex.jsonl", **change))
    assert odex(written(tmp_path / "odex.jsonl", library=["pandas"])) == [], "what needs more than Python is left out"


SOURCE = '''"""A module."""


def total(prices):
    """The sum."""
    amount = sum(prices)
    return amount
'''
SETTINGS = Settings()


def gap(text: str, of: str = SOURCE) -> Gap:
    start = of.index(text)
    return Gap(start, start + len(text))


def test_without_docstrings_or_a_suffix_the_same_text_is_taken_out_of_the_same_line() -> None:
    plain, cut = (in_arm(arm, SOURCE, gap("sum(prices)"), "line_rest", SETTINGS) for arm in ("docstring", "no_suffix"))
    assert plain is not None
    assert (plain.text, plain.truth) == (SOURCE, "sum(prices)")
    assert cut is not None
    assert (cut.cursor.suffix, cut.cursor.prefix) == ("", plain.cursor.prefix)
    assert in_arm("no_suffix", SOURCE, gap("prices"), "line_middle", SETTINGS) is None
    shown = in_arm("no_docstring", SOURCE, gap("sum(prices)"), "line_rest", SETTINGS)
    assert shown is not None
    assert "A module" not in shown.text
    assert "The sum" not in shown.text
    assert shown.truth == "sum(prices)"
    assert shown.cursor.prefix.endswith("    amount = ")
    assert shown.cursor.suffix.startswith("\n    return amount")


def test_an_arm_that_would_be_the_plain_one_or_lose_its_line_is_left_out() -> None:
    bare = "def total(prices):\n    return sum(prices)\n"
    assert in_arm("no_docstring", bare, gap("sum(prices)", bare), "line_rest", SETTINGS) is None
    one_line = 'def total(prices): "The sum."; return sum(prices)\n'
    assert in_arm("no_docstring", one_line, gap("sum(prices)", one_line), "line_rest", SETTINGS) is None
    broken = 'def total(:\n    """The sum."""\n    return 1\n'
    assert in_arm("no_docstring", broken, gap("1", broken), "line_rest", SETTINGS) is None


def test_gaps_come_from_code_that_is_not_a_test_and_put_back_give_the_file(tmp_path: Path) -> None:
    places = places_of(make_sdist(tmp_path), tmp_path, per_project=4, seed=1)
    assert {place.path for place in places} == {"shapes-1.0/shapes/area.py"}
    assert len({place.function for place in places}) == len({place.id for place in places}) == 4
    for place in places:
        line = place.text.split("\n")[place.line - 1]
        for task, gap in place.gaps:
            assert place.text[gap.start : gap.end] in line
            assert task_of(place.text[: gap.start], place.text[gap.end :], "line") == task, "as the live engine would call it"
    assert places == places_of(make_sdist(tmp_path), tmp_path, per_project=4, seed=1)
    assert places != places_of(make_sdist(tmp_path), tmp_path, per_project=4, seed=2)


QUIXBUGS, DEFECTS4J, CRUXEVAL = "quixbugs", "defects4j-patches/framework.tar.xz", "cruxeval/cruxeval.jsonl"
HUMANEVAL, MBPP, MBPP_PLUS = "humaneval/HumanEval.jsonl.gz", "mbpp/mbpp.jsonl.gz", "mbppplus/MbppPlus.jsonl.gz"
FAST = Limits(cpu_s=2)
published = pytest.mark.filterwarnings("ignore:invalid escape")


@cache
def of(name: str, file: str) -> list[Problem]:
    return problems(name, DATA / file)


@pytest.mark.slow
@published
@needs_data(QUIXBUGS, DEFECTS4J, CRUXEVAL, HUMANEVAL, MBPP, MBPP_PLUS)
@pytest.mark.parametrize(
    ("name", "file", "count"),
    [
        ("humaneval", HUMANEVAL, 164),
        ("mbpp", MBPP, 974),
        ("mbpp", MBPP_PLUS, 378),
        ("quixbugs", QUIXBUGS, 35),
        ("defects4j", DEFECTS4J, 137),
        ("cruxeval", CRUXEVAL, 800),
    ],
)
def test_a_set_has_all_of_its_problems(name: str, file: str, count: int) -> None:
    found = of(name, file)
    assert len({problem.id for problem in found}) == len(found) == count
    assert {problem.set for problem in found} == {name}
    assert problems(name, DATA / file, 3) == found[:3]
    for problem in found:
        assert problem.truth.strip()
        assert problem.truth != problem.wrong
        if problem.kind == "function":
            assert '"""' in problem.prompt or "'''" in problem.prompt
            assert re.search(rf"def {problem.entry_point} ?\(", problem.prompt)
            compile(problem.program(problem.truth), problem.id, "exec")


@published
@needs_data(HUMANEVAL, MBPP)
@pytest.mark.parametrize(("name", "file"), [("humaneval", HUMANEVAL), ("mbpp", MBPP)])
def test_a_body_is_judged_by_the_sets_tests(sandbox: PythonSandbox, name: str, file: str) -> None:
    for problem in of(name, file)[5:15:5]:
        assert judge(problem, problem.truth, sandbox).tests_pass is True
        after = f"{problem.truth}\nprint(undefined)\n"
        assert judge(problem, after, sandbox).tests_pass is True, "what follows the block is not the answer's"
        whole = judge(problem, problem.program(problem.truth), sandbox)
        assert whole.tests_pass is True, "a whole program is taken as it is"
        indent = problem.truth[: len(problem.truth) - len(problem.truth.lstrip())].lstrip("\n") or "    "
        wrong = judge(problem, f"{indent}return 'no such thing'", sandbox)
        assert (wrong.exact_match, wrong.tests_pass) == (None, False)
        assert "failed" in wrong.why


@needs_data(QUIXBUGS)
@pytest.mark.slow
def test_every_repair_of_quixbugs_passes_and_no_bug_does(sandbox: PythonSandbox) -> None:
    for problem in of("quixbugs", QUIXBUGS):
        assert judge(problem, problem.truth + "  ", sandbox).exact_match is True
        repaired = judge(replace(problem, truth="another line"), problem.truth, sandbox).tests_pass
        broken = judge(problem, problem.wrong, sandbox, limits=FAST).tests_pass
        assert (repaired, broken) == ((None, None) if problem.group == "shortest_path_length" else (True, False)), problem.id


@needs_data(DEFECTS4J)
def test_a_patch_is_read_from_the_right_file_to_the_wrong_one_and_only_the_same_line_is_right(sandbox: PythonSandbox) -> None:
    problem = next(problem for problem in of("defects4j", DEFECTS4J) if problem.id == "defects4j/Chart/12")
    assert problem.truth.strip() == "setDataset(dataset);"
    assert problem.wrong.strip() == "this.dataset = dataset;"
    assert problem.prompt.endswith("        super();\n")
    right, wrong = (judge(problem, text, sandbox) for text in ("  setDataset(dataset);\nmore", problem.wrong))
    assert (right.exact_match, right.tests_pass) == (True, None)
    assert (wrong.exact_match, wrong.tests_pass) == (False, None)


@needs_data(CRUXEVAL)
def test_an_output_is_right_by_its_value(sandbox: PythonSandbox) -> None:
    problem = of("cruxeval", CRUXEVAL)[0]
    assert problem.prompt.endswith("assert f([1, 1, 3, 1, 3, 1]) == ")
    texts = (problem.truth.replace(" ", ""), f" {problem.truth}\n", "[]", "f([1])")
    assert [judge(problem, text, sandbox).tests_pass for text in texts] == [True, True, False, False]


@pytest.mark.parametrize("name", SETS)
def test_a_set_that_is_missing_or_another_says_where_to_get_it(tmp_path: Path, name: str) -> None:
    with pytest.raises(SetError, match=r"is missing\. Assay brings no set with it") as missing:
        problems(name, tmp_path / "none")
    assert SETS[name].whence in str(missing.value)
    other = tmp_path / "other.jsonl"
    other.write_text(json.dumps({"some": "record"}) + "\n")
    with pytest.raises(SetError, match=SETS[name].whence.partition(" ")[0]):
        problems(name, other)


@needs_data(ODEX)
def test_the_published_file_is_read() -> None:
    assert len(problems("odex", DATA / ODEX)) == 334

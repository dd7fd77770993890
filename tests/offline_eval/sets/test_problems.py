from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from needs import DATA, needs_data

from assay.analysis.sandbox.isolation.limits import Limits
from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.offline_eval.sets.judging import judge
from assay.offline_eval.sets.problem import Problem, SetError
from assay.offline_eval.sets.problems import SETS, problems

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
    for problem in of(name, file)[5:25:4]:
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
@pytest.mark.parametrize("name", ["flatten", "hanoi", "breadth_first_search", "minimum_spanning_tree", "topological_ordering"])
def test_the_published_tests_tell_a_repair_from_the_bug(sandbox: PythonSandbox, name: str) -> None:
    problem = next(problem for problem in of("quixbugs", QUIXBUGS) if problem.group == name)
    assert judge(problem, problem.truth + "  ", sandbox).exact_match is True
    told = judge(replace(problem, truth="another line"), problem.truth, sandbox)
    assert (told.exact_match, told.tests_pass) == (False, True)
    assert judge(problem, problem.wrong, sandbox, limits=FAST).tests_pass is False


@needs_data(QUIXBUGS)
@pytest.mark.slow
def test_every_repair_of_quixbugs_passes_and_no_bug_does(sandbox: PythonSandbox) -> None:
    for problem in of("quixbugs", QUIXBUGS):
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


def test_a_set_of_no_known_name_is_refused_with_those_that_there_are(tmp_path: Path) -> None:
    with pytest.raises(SetError, match="no set 'leetcode'; there are humaneval, mbpp"):
        problems("leetcode", tmp_path)

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.offline_eval.calibration.recorded.draws import Labelled, Unit, labelling, measured, own_tests_of, program_of, unit_of, units
from assay.offline_eval.recorded.answers import Recorded, RecordedAnswer
from assay.offline_eval.sets.problem import Problem
from assay.offline_eval.sets.problems import problems

pytestmark = pytest.mark.slow

RECORD = {
    "task_id": "HumanEval/0",
    "prompt": 'def half(x: int) -> int:\n    """ Half of it, rounded down. """\n',
    "entry_point": "half",
    "canonical_solution": "    return x // 2\n",
    "test": "",
    "base_input": [[4], [5]],
    "plus_input": [[0], [-3], [100]],
    "atol": 0,
}
RIGHT, SAME, UP = "    return x // 2\n", "    return x >> 1", "    return -(-x // 2)\n"
HANGS, BROKEN, RAISES = "    while x == 6:\n        pass\n    return x // 2\n", "    return x //\n", "    return y // 2\n"
DRAWS = [RIGHT, RIGHT + "\nprint(1)\n", SAME, UP, HANGS, BROKEN, RAISES, RAISES]
TESTS = ["half(4) == 2\nassert half(6) == 3\nassert half(6) == 4\nassert half(1) == 0\n", "half(4) == 2", "half(9) == 5"]


def recorded(step: str, texts: list[str]) -> Recorded:
    made = [RecordedAnswer("HumanEval/0", step, index, text) for index, text in enumerate(texts)]  # type: ignore[arg-type]
    return Recorded("", "", "", "", {answer.key: answer for answer in made})


@pytest.fixture(scope="module")
def set_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("set") / "HumanEvalPlus.jsonl"
    path.write_text(json.dumps(RECORD) + "\n")
    return path


@pytest.fixture(scope="module")
def asked(set_file: Path) -> list[Problem]:
    return problems("humaneval", set_file)


@pytest.fixture(scope="module")
def labels(asked: list[Problem], sandbox: PythonSandbox) -> dict[str, Labelled]:
    label = labelling(asked, own_tests_of(recorded("test", TESTS), asked), sandbox)
    return {unit.id: label(unit) for unit in found_in(asked, TESTS)}


def found_in(asked: list[Problem], tests: list[str]) -> list[Unit]:
    return list(units(recorded("draw", DRAWS), asked, own_tests_of(recorded("test", tests), asked)))


def test_a_unit_is_a_distinct_text_as_far_as_it_answers(asked: list[Problem]) -> None:
    found = found_in(asked, TESTS)
    assert [unit.text for unit in found] == [text.rstrip() for text in (RIGHT, SAME, UP, HANGS, BROKEN, RAISES)]
    assert [unit.draws for unit in found] == [2, 1, 1, 1, 1, 2]
    assert {unit.own_tests for unit in found} == {5}
    assert len({unit.id for unit in found}) == 6
    assert list(units(recorded("draw", DRAWS), [], {})) == []


def test_a_unit_is_labelled_with_what_it_gives_and_which_own_tests_it_passes(asked: list[Problem], labels: dict[str, Labelled]) -> None:
    def told(text: str) -> Labelled:
        return labels[unit_of(asked[0], text).id]

    right, same, up, hangs, broken, raises = map(told, (RIGHT, SAME, UP, HANGS, BROKEN, RAISES))
    assert [label.tests_pass for label in (right, same, up, hangs, broken, raises)] == [True, True, False, True, False, False]
    assert right.outputs == same.outputs == hangs.outputs
    assert up.outputs not in ("", right.outputs)
    assert (broken.outputs, raises.outputs) == ("", "")
    assert (up.inputs_right, up.inputs, raises.inputs_right, raises.inputs, broken.inputs) == (3, 5, 0, 5, 0)
    # of half(4) == 2, half(6) == 3, half(6) == 4, half(1) == 0, half(9) == 5: two hang, the others are asked all the same
    assert [label.own_right for label in (right, same, up, hangs, broken, raises)] == [3, 3, 3, 2, 0, 0]


def test_draws_that_give_the_same_agree_and_what_gives_nothing_agrees_with_its_copies_alone(
    asked: list[Problem], labels: dict[str, Labelled]
) -> None:
    agreement, self_test = measured(found_in(asked, TESTS), labels)
    assert (agreement.name, self_test.name) == ("agreement", "self-test")
    assert (agreement.raw * 8).round().tolist() == [4, 4, 4, 1, 4, 1, 2, 2]
    assert agreement.right.tolist() == [True, True, True, False, True, False, False, False]
    assert (self_test.raw * 5).round().tolist() == [3, 3, 3, 3, 2, 0, 0, 0]
    assert set(agreement.problem.tolist()) == {0}
    some = {key: label for key, label in labels.items() if label.tests_pass}
    agreement, _ = measured(found_in(asked, TESTS), some)
    assert (agreement.right.tolist(), agreement.raw.tolist()) == ([True] * 4, [1.0] * 4), "without a label it is left out, and not wrong"


def test_each_draw_has_its_own_measures_and_none_where_its_text_was_cut(asked: list[Problem]) -> None:
    texts, logprobs = [RIGHT, RIGHT, RIGHT, RIGHT + "\nprint(1)\n"], [(-0.1,), (-0.2,), None, (-9.0,)]
    made = [
        RecordedAnswer("HumanEval/0", "draw", n, text, each, score=0.5 if n == 2 else None, labels={"tests_pass": n == 0 or None})
        for n, (text, each) in enumerate(zip(texts, logprobs, strict=True))
    ]
    drawn = Recorded("", "", "", "", {answer.key: answer for answer in made})
    (unit,) = units(drawn, asked, own_tests_of(None, asked))
    assert [each.get("total_logprob", each.get("verbalised")) for each in unit.measures] == [-0.1, -0.2, 0.5, None]
    assert (unit.draws, unit.passes, unit.fails) == (4, 1, 0)
    label = Labelled(unit.id, unit.problem, True, "", "", "x", 1, 1, None)
    found = measured([unit], {unit.id: label})
    assert [(each.name, len(each.right)) for each in found] == [("p_tot", 2), ("p_avg", 2), ("verbalised", 1), ("agreement", 4)]


def test_a_program_runs_as_it_is_a_completion_behind_its_prompt_and_an_answer_with_the_imports_of_its_prompt(asked: list[Problem]) -> None:
    (problem,) = asked
    alike, tail = "half = lambda x: x // 2\n", "    return helper(x)\n\ndef helper(x):\n    return x // 2\n"
    program, completion = unit_of(problem, alike, "program"), unit_of(problem, tail, "completion")
    assert (program_of(problem, program), program_of(problem, completion)) == (alike, problem.prompt + tail)
    imports = replace(problem, prompt="from typing import List\n\n" + problem.prompt)
    whole = "def half(x: List) -> int:\n    return 1\n"
    assert program_of(imports, unit_of(imports, whole)) == "from typing import List\n" + whole
    assert program_of(problem, unit_of(problem, RIGHT)) == problem.program(RIGHT)

from __future__ import annotations

import inspect
import json
import math
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.corpora.benchmarks import read_items
from assay.analysis.corpora.evalplus import traced
from assay.analysis.sandbox.judging.python import PythonSandbox
from assay.calibration.report.cells import Cell, CellTable
from assay.offline_eval.counterfeit.problems.judgements import (
    PROBABILITY,
    THOUGHT,
    VOTE,
    Judgement,
    by_pass_rate,
    confusion,
    gain_of_reasoning,
    judging_table,
    more_of_judging,
)
from assay.offline_eval.counterfeit.problems.pages import claims
from assay.offline_eval.counterfeit.problems.programs import Drawn, PassShares, Program, balanced, pass_at_1
from assay.offline_eval.counterfeit.problems.readings import p_correct, program_in, value_in, verdict_in, voted, with_specification
from assay.offline_eval.counterfeit.problems.tables import Executed, Repaired, class_table, execution_table, more_of_execution, repair_table
from assay.offline_eval.counterfeit.problems.tracing import LIMITS, Pair, chosen, guarded, shown
from assay.offline_eval.sets.problem import literal

RIGHT, WRONG, POOR, UNKNOWN = PassShares(1.0, 1.0), PassShares(1.0, 0.5), PassShares(0.0, 0.0), None


def drawn(problem: str, *kinds: tuple[PassShares | None, int]) -> list[Drawn]:
    return [Drawn(problem, 10 * n, f"{problem} {n}", draws, tested) for n, (tested, draws) in enumerate(kinds)]


def test_each_problem_has_as_many_right_programs_as_counterfeits_or_is_left_out() -> None:
    enough = drawn("a", *[(RIGHT, 1)] * 7, *[(WRONG, 1)] * 6, (POOR, 1))
    few = drawn("b", *[(RIGHT, 1)] * 7, *[(WRONG, 1)] * 4)
    twice = [Drawn("c", n, "the same", 1, RIGHT) for n in range(9)] + drawn("c", *[(WRONG, 1)] * 5)
    programs = balanced("humaneval", [*enough, *few, *twice], seed=1)
    assert Counter((program.problem, program.kind) for program in programs) == {("a", "right"): 5, ("a", "counterfeit"): 5}
    assert len({program.text for program in programs}) == 10
    assert balanced("humaneval", [*enough, *few], seed=1) == programs != balanced("humaneval", [*enough, *few], seed=2)


def test_the_rate_of_a_problem_counts_each_draw_and_no_unknown_label() -> None:
    assert pass_at_1(drawn("a", (RIGHT, 3), (WRONG, 1), (UNKNOWN, 5))) == {"a": 0.75}
    assert pass_at_1(drawn("a", (UNKNOWN, 5))) == {}


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
        ("y = [x]\n    y[1 - 1] += 4\n    return y[0]", ["5", None, None, None]),
        ("return float(x)", ["1.0", "9.0", None, None]),
        # what is refused stays so where the program catches all errors
        ("try:\n        return x * 4\n    except:\n        return 0", ["4", None, repr([1, 2, 3, 4, 5] * 4), repr("abcdef" * 4)]),
        ("try:\n        while x == 1:\n            pass\n    except Exception:\n        pass\n    return 2", [None, "2", "2", "2"]),
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


def test_a_program_does_not_say_what_its_own_objects_are(sandbox: PythonSandbox, test_code: str) -> None:
    liar = "class Liar:\n    def __repr__(self):\n        return '7'\n    def __eq__(self, other):\n        return True\n\n"
    guard = guarded(f"{liar}def f(x):\n    return [Liar()]\n", "f")
    assert guard is not None
    assert json.loads(sandbox.check(guard, traced(test_code, "f", 4), "f", limits=LIMITS).report) == []


@pytest.mark.parametrize("program", ["import os\ndef f(x):\n    return x\n", "def f(x):\n    return 0.5\n", "def f(x:\n"])
def test_a_program_that_reaches_outside_is_barred_by_its_text(program: str) -> None:
    assert guarded(program, "f") is None


def test_docstrings_and_imports_for_annotations_are_not_shown() -> None:
    function = "def f(x: List[int]):\n{}    # kept\n    return x\n\n\ndef g():\n    {}\n"
    program = "from typing import List\n\n\n" + function.format('    """Two\n    lines."""\n', '"alone"')
    assert shown(program) == function.format("", "pass")
    with_code = "def f(x):\n    'One.'; return x\n"
    assert shown(with_code) == with_code


VALUES = st.sampled_from(["1", "2", "'a'", "[1]", "0.5", "'\\n'", "f(1)"])


@given(st.lists(st.builds(Pair, st.sampled_from(["1", "2, 'b'", "0.5"]), VALUES, VALUES)), st.booleans(), st.integers(0, 9))
def test_at_most_two_inputs_of_literals_without_floats_are_asked_about(pairs: list[Pair], is_right: bool, seed: int) -> None:
    found = chosen("p", is_right, pairs, seed)
    assert len(found) <= 2
    assert all("0.5" not in (pair.arguments, pair.value, pair.answer) and "f(1)" not in (pair.value, pair.answer) for pair in found)
    assert sum(not pair.agrees for pair in found) <= (0 if is_right else 1)
    assert found == chosen("p", is_right, pairs, seed)


def cells(table: CellTable) -> dict[str, Cell]:
    return {cell.id: cell for cell in table.cells()}


def program(problem: int, index: int, kind: str, base: float = 0.9, plus: float = 0.5) -> Program:
    shares = (1.0, 1.0) if kind == "right" else (base, plus)
    return Program(f"P/{problem}", index, f"{problem} {index}", kind, *shares, pass_at_1=problem / 10)  # type: ignore[arg-type]


def judged(problem: int, index: int, kind: str, accepted: float | None, way: str = VOTE, **shares: float) -> Judgement:
    return Judgement(program(problem, index, kind, **shares), way, accepted, 10, 10 if accepted is None else 0, accepted)


def test_rates_by_class_ties_and_unreadable_answers() -> None:
    found = [judged(n, 0, "right", accepted) for n, accepted in enumerate([1.0, 1.0, 0.5, None])]
    found += [judged(n, 1, "counterfeit", accepted) for n, accepted in enumerate([0.0, 1.0, 0.5, None])]
    of = cells(judging_table("humaneval", "some-7b", found))
    values = [of[f"J/vote/strict/{kind}"].value for kind in ("sensitivity", "specificity", "balanced_accuracy", "youden")]
    assert values == pytest.approx([2.5 / 4, 1.5 / 4, 0.5, 0.0])
    assert confusion(found).rows == ((f"{VOTE}: right", "2", "0", "1", "1"), (f"{VOTE}: counterfeit", "1", "1", "1", "1"))
    assert cells(more_of_judging(found))["JM/vote/unreadable"].value == 20 / 80


WAYS = (VOTE, THOUGHT, PROBABILITY)


def read(answer: Callable[[str, random.Random], float | None]) -> dict[str, str]:
    """The verdicts on a judge of 600 programs, in each way."""
    rng = random.Random(0)
    kinds = ("right", "counterfeit") * 5
    found = [judged(n, k, kind, answer(kind, rng), way) for n in range(60) for k, kind in enumerate(kinds) for way in WAYS]
    tables = (judging_table("humaneval", "some-7b", found), more_of_judging(found), gain_of_reasoning(found), by_pass_rate(found))
    return {claim.id: claim.verdict for claim in claims({id: cell for table in tables for id, cell in cells(table).items()})}


def test_a_constant_judge_a_coin_and_answers_that_can_not_be_read_confirm_nothing_and_a_weak_judge_does() -> None:
    judges: list[Callable[[str, random.Random], float | None]] = [
        lambda *_: 1.0,
        lambda *_: None,
        lambda _, rng: float(rng.random() < 0.5),
    ]
    assert not [judge for judge in judges if "confirmed" in read(judge).values()]
    weak = read(lambda kind, rng: float(rng.random() < (0.9 if kind == "right" else 0.7)))
    assert (weak["a1"], weak["a2"]) == ("confirmed", "confirmed")


def test_labels_of_which_the_paper_says_otherwise_are_scored_again() -> None:
    found = [judged(n, 0, "right", 1.0) for n in range(4)]
    found += [judged(n, 1, "counterfeit", 1.0, base=1.0, plus=0.96) for n in range(2)] + [
        judged(n, 2, "counterfeit", 0.0) for n in range(4)
    ]
    of = cells(judging_table("humaneval", "some-7b", found))
    assert of["J/vote/strict/specificity"].value == pytest.approx(4 / 6)
    assert (of["J/vote/95/specificity"].value, of["J/vote/95/sensitivity"].n) == (1.0, 6)
    assert of["J/vote/counterfeits/specificity"].n == 4


def test_probabilities_rank_programs_within_a_problem() -> None:
    found = [
        Judgement(program(n, k, kind), PROBABILITY, 1.0, 1, 0, p)
        for n in range(6)
        for k, (kind, p) in enumerate((("right", n / 10 + 0.3), ("counterfeit", n / 10), ("counterfeit", n / 10 + 0.3)))
    ]
    assert cells(more_of_judging(found))["JM/probability/auc"].value == pytest.approx(0.75)


def test_the_four_shares_of_execution() -> None:
    found = [Executed(f"P/{n}", "right", 0.5, 0.0, 10, 1, n / 10) for n in range(6)]
    found += [Executed(f"P/{n}", "passing", 0.7, 0.0, 10, 0, n / 10) for n in range(6)]
    found += [Executed(f"P/{n}", "failing", 0.2, 0.6, 10, 0, n / 10) for n in range(6)]
    of = cells(execution_table("humaneval", "CodeLlama-34B", found))
    assert [of[f"E/{name}"].value for name in ("right", "passing", "failing", "confused")] == pytest.approx([0.5, 0.7, 0.2, 0.6])
    printed = {each.of: each.value for each in of["E/failing"].paper}
    assert (printed["CL-34B"], printed["GPT-4"]) == (0.30, 0.69)
    assert cells(more_of_execution(found))["EM/unreadable"].value == pytest.approx(6 / 180)


def test_repair_wins_where_it_is_above_drawing_again() -> None:
    found = [Repaired(f"P/{n}", right, 10, 0, again) for n, (right, again) in enumerate([(0.2, 0.5), (0.6, 0.5), (0.5, 0.5), (0.1, 0.9)])]
    table = repair_table("humaneval", "CodeLlama-34B", [*found, Repaired("P/0", 0.4, 10, 5, 0.5)])
    of = cells(table)
    assert of["R/repairs"].value == pytest.approx((0.3 + 0.6 + 0.5 + 0.1) / 4)
    assert of["R/difference"].value == pytest.approx((-0.2 + 0.1 + 0.0 - 0.8) / 4)
    assert (of["R/wins"].value, table.notes[0]) == (0.25, "Repair wins at 1 of 4 problems.")


def test_classes_of_draws_and_of_distinct_texts() -> None:
    drawn = [
        Drawn("P/0", 0, "a", 6, PassShares(1.0, 1.0)),
        Drawn("P/0", 1, "b", 2, PassShares(1.0, 0.96)),
        Drawn("P/1", 0, "c", 1, PassShares(0.0, 0.0)),
        Drawn("P/1", 1, "d", 9, None),
    ]
    of = cells(class_table("humaneval", drawn))
    shares = {
        (rule, what): [of[f"F2/{rule}/{what}/{kind}"].value for kind in ("right", "counterfeit", "other")]
        for rule in ("strict", "benchmark")
        for what in ("draws", "distinct_texts")
    }
    assert shares["strict", "draws"] == pytest.approx([6 / 9, 2 / 9, 1 / 9])
    assert shares["benchmark", "draws"] == pytest.approx([8 / 9, 0.0, 1 / 9])
    assert shares["strict", "distinct_texts"] == pytest.approx([1 / 3, 1 / 3, 1 / 3])


PROMPT = 'def f(x):\n    """What is asked.\n    >>> f(1)\n    2\n    """\n'


def test_of_an_answer_the_last_whole_verdict_value_or_program_counts() -> None:
    verdicts = ("[ANSWER]correct.[/ANSWER] no: [ANSWER] Incorrect[/ANSWER]", "[ANSWER]Correct[/ANSWER] and [ANSWER]Incor", "Correct")
    assert [verdict_in(text) for text in verdicts] == [0.0, 1.0, None]
    assert value_in('[ANSWER]\nassert f("a") == "b"\n[/ANSWER]') == literal("'b'")
    assert value_in("3") == literal("3")
    assert value_in("[ANSWER]assert f(1) == g(2)[/ANSWER]") is value_in("I think it is 3") is None
    assert program_in("[PYTHON]\ndef f():\n    pass\n[/PYTHON]") == "def f():\n    pass\n"
    assert program_in("so:\n```python\nx = 1\n```\nor:\n```\nx = 2\n```\n") == "x = 2\n"
    assert program_in("[PYTHON]\ndef f():\n    pa") is None


def test_the_probability_is_over_the_two_words_and_their_beginnings_and_a_tie_of_votes_is_half() -> None:
    top = [("Correct", math.log(0.3)), (" inc", math.log(0.1)), ("maybe", math.log(0.5))]
    assert p_correct(top) == pytest.approx(0.75)
    assert p_correct([("maybe", -0.1)]) is None
    assert (voted([1.0, 0.0, None]), voted([None, None]), voted([1.0, 1.0, 0.0])) == (0.5, None, 1.0)


@pytest.mark.parametrize(
    "program",
    [
        "import functools\n\ndef f(x):\n    @functools.cache\n    def g(y):\n        return y\n    return g(x)\n",
        "def f(x):\n\t'''Other.'''\n\treturn x\n",
        "def f(x): return x\n",
        "def f(x):\r\n    return x\r\n",
        "    return x\n",
    ],
)
def test_a_docstring_never_breaks_the_program_that_gets_it(program: str) -> None:
    made = with_specification(program, PROMPT, "f")
    defined: dict[str, Any] = {}
    exec(made, defined)
    assert defined["f"](3) == 3
    assert inspect.getdoc(defined["f"]) == "What is asked.\n>>> f(1)\n2"
    assert with_specification(made, PROMPT, "f") == made
    other = "def g(x):\n    return x\n"
    assert with_specification(other, PROMPT, "f") == other

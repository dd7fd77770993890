"""What is read out of an answer, and what a question shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import fmean
from typing import get_args

import pytest
from study_runs import isolation_here

from assay.analysis.corpora.benchmarks import Language
from assay.analysis.sandbox.isolation.best_level import best_level
from assay.analysis.sandbox.judging.javascript import find_node
from assay.analysis.sandbox.judging.result import ProgramOutcome, Result
from assay.calibration.report.cells import Cell
from assay.offline_eval.catcode.functors.items import EXAMPLES, Item, Told, code_of, recorded_code
from assay.offline_eval.catcode.functors.labelling import check_languages, ending_of, labelled
from assay.offline_eval.catcode.functors.placing.header import Header
from assay.offline_eval.catcode.functors.placing.registry import LANGUAGES
from assay.offline_eval.catcode.paper import paper
from assay.offline_eval.chains.chain import description_in
from assay.offline_eval.chains.scores import Scored, mean_of
from assay.offline_eval.chains.scores import scored as scored_of
from assay.offline_eval.errors import StudyError
from assay.offline_eval.sets.judging import InSandbox, OpenSandbox
from assay.offline_eval.sets.programs import Program


def mean_of_places(*places: list[float]) -> Cell:
    told = [(value, f"{n}/{i}", str(n)) for n, values in enumerate(places) for i, value in enumerate(values)]
    values, groups, names = zip(*told, strict=True)
    return mean_of("", values, groups, "problem", places=names)


def test_every_place_counts_alike_however_many_problems_it_has_and_the_interval_has_a_width_where_nothing_varies() -> None:
    found = mean_of_places([1.0, 0.5], [0.0] * 4, [1.0, 0.0])
    assert found.value == pytest.approx((0.75 + 0.0 + 0.5) / 3)
    assert found.groups == found.n == 8
    same = mean_of_places([1.0] * 4, [1.0] * 4)
    assert (same.value, same.high) == (1.0, 1.0)
    assert same.low is not None
    assert 0.4 < same.low < 0.8


def scored(*endings: str | None, judged: bool = True) -> Scored[Item]:
    """The item with answers that end so, the first of them from a copy. unreadable: has no text."""
    texts = [None if ending == "unreadable" else f"return {number}" for number, ending in enumerate(endings)]
    answers = [{"arm": "named", "of": of, "text": text} for of, text in enumerate(texts)]
    described = [{"arm": "named", "text": text} for text in (ITEM.code, *["It is."] * (len(endings) - 1))]
    names = [ITEM.label_id("named", text) for text in texts if text is not None]
    labels = [{"id": name, "ending": end} for name, end in zip(names, [end for end in endings if end != "unreadable"], strict=True)]
    records = [{"id": ITEM.id, "answers": answers}, {"id": "other", "answers": [{"arm": "named", "of": 0, "text": "x"}]}]
    both = [ITEM, replace(ITEM, id="other")]
    return scored_of(both, [{"id": ITEM.id, "descriptions": described}], records, labels if judged else [])[0]


def test_one_unknown_answer_makes_the_share_unknown_and_copies_can_be_left_out() -> None:
    item = scored("passes", "wrong")
    assert (item.mean("named", "passes"), item.mean("named", "passes", copies=False)) == (0.5, 0.0)
    assert item.mean("header", "passes") is None
    assert scored("passes", None).mean("named", "passes") is None
    assert scored("unreadable", judged=False).mean("named", "passes") is None
    assert scored("passes").mean("named", "passes", copies=False) is None


PYTHON_TEST = "def check(f):\n    assert f(1) == 2\n    assert abs(f(2)) == 3\n"
MBXP = 'const _ = require("lodash")\nfunction compare(a, b) {\n    return _.isEqual(a, b)\n}\n'
# As published: what is thrown names a variable that is not there.
MBXP += "var x0 = f(1);\nif(!compare(x0, 2)){\n    throw 'Error at 1th assert statement. Value = ' + JSON.stringify(x)\n}\n"
JAVA_TEST = (
    "class Main { public static void main(String[] a) throws Exception { int x = A.f(1); "
    'if (x != 2) throw new java.lang.Exception("Exception -- test case 0 did not pass. x0 = " + x); } }'
)


@pytest.fixture(scope="module")
def runs() -> Iterator[OpenSandbox]:
    level = isolation_here()
    made = InSandbox(level, labelled, several=True)()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("program", "ending"),
    [
        ("def f(x):\n    return x + 1\n", "passes"),
        ("def f(x):\n    return x\n", "wrong"),
        ("def f(x):\n    return x.y\n", "crash"),
        ("def f(x):\n    return None if x > 1 else 2\n", "crash"),  # the test can't work with it
        ("def f(x):\nreturn x\n", "does_not_compile"),
    ],
)
def test_endings_of_python(runs: OpenSandbox, program: str, ending: str) -> None:
    label = runs(Program("x", "s", "p", "python", program, PYTHON_TEST, "f"))
    assert label["ending"] == ending
    assert bool(label["why"]) == (ending != "passes")


@pytest.mark.parametrize(
    ("program", "ending"),
    [
        ("function f(x) { return x + 1 }", "passes"),
        ("function f(x) { return x }", "wrong"),
        ("function f(x) { return y }", "crash"),
        ("function f(x) { return }}", "does_not_compile"),
    ],
)
def test_endings_of_javascript_where_a_published_test_fails_to_tell(runs: OpenSandbox, program: str, ending: str) -> None:
    check_languages(frozenset({"javascript"}))
    assert runs(Program("x", "s", "p", "javascript", program, MBXP, "f"))["ending"] == ending
    test = "console.assert(f(1) === 2)\n"
    assert runs(Program("x", "s", "p", "javascript", program, test, None))["ending"] == ending


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "ending"),
    [("return x + 1;", "passes"), ("return x;", "wrong"), ("return 1 / (x - 1);", "crash"), ('return "";', "does_not_compile")],
)
def test_endings_of_java(runs: OpenSandbox, body: str, ending: str) -> None:
    check_languages(frozenset({"java"}))
    assert (
        runs(Program("x", "s", "p", "java", f"class A {{ public static int f(int x) {{ {body} }} }}", JAVA_TEST, None))["ending"] == ending
    )


@pytest.mark.parametrize(
    ("outcome", "ending"),
    [
        (ProgramOutcome.TIMED_OUT, "time"),
        (ProgramOutcome.OUT_OF_MEMORY, "crash"),
        (ProgramOutcome.INFRASTRUCTURE, None),
    ],
)
def test_what_the_machine_or_the_test_can_not_tell_has_no_ending(outcome: ProgramOutcome, ending: str | None) -> None:
    assert ending_of(Program("x", "s", "p", "python", "def f(x): return x", "", "f"), Result(outcome, "why")) == ending


def test_a_language_that_can_not_be_run_here_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    best_level()
    monkeypatch.setenv("PATH", "/nowhere")
    find_node.cache_clear()
    try:
        with pytest.raises(StudyError, match="There is no node here"):
            check_languages(frozenset({"javascript"}))
    finally:
        find_node.cache_clear()


SETS = ("humaneval", "mathqa", "mbxp")


@pytest.mark.parametrize(
    ("table", "models", "languages", "mean"),
    [("T4", ("Davinci", "ChatGPT", "CodeGeeX"), ("python", "javascript"), "all"), ("T6", ("Davinci", "ChatGPT"), ("java",), "java")],
)
def test_the_papers_means_are_those_of_its_cells(table: str, models: tuple[str, ...], languages: tuple[str, ...], mean: str) -> None:
    cells = paper().cells
    for model in models:
        found = fmean(cells[f"{table}/{name}/{model}/{language}"].value for name in SETS for language in languages)
        assert found == pytest.approx(cells[f"{table}/mean/{model}/{mean}"].value, abs=0.0011)


ITEM = Item(
    id="humaneval-python/1",
    kind="explain",
    set="humaneval",
    problem="HumanEval/1",
    source="python",
    target="python",
    code="def has_close(numbers: list[float]) -> bool:\n    return has_close(numbers)\n",
    header=Header("", "def has_close(numbers: list[float]) -> bool:\n", "has_close"),
    tests="0",
)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ("[CODE]\nx = 1\n[/CODE]", "x = 1"),
        ("[CODE]Sure:\n```\nx = 1\n```\nThat is all.[/CODE]", "x = 1"),
        ("[CODE]x = 1[/CODE] or rather [CODE]x = 2[/CODE]", "x = 2"),
        ("Here it is:\n```js\nlet x = 1;\n```\n", "let x = 1;"),
        ("[CODE]python\nx = 1\n[/CODE]", "x = 1"),
        ("[CODE]\n[/CODE]", None),
    ],
)
def test_the_code_of_an_answer_is_its_last_block(answer: str, code: str | None) -> None:
    assert code_of(answer) == code


def test_recorded_answers_may_be_plain_code_and_descriptions_may_be_cut_off() -> None:
    assert recorded_code("    return x\n") == "    return x"
    assert recorded_code("```\nreturn x\n```\n") == "return x"
    assert recorded_code(" \n") is None
    assert description_in("[DESCRIPTION]\nOne.\n\nTwo.\n[/DESCRIPTION]", cut_off=False) == "One.\n\nTwo."
    assert description_in("[DESCRIPTION]One, an", cut_off=True) == "One, an"
    assert description_in("[DESCRIPTION]One, an", cut_off=False) is None


def test_without_names_neither_name_nor_type_is_shown_and_the_answer_gets_its_name_back() -> None:
    shown = "".join(message.text for message in (*ITEM.to_describe("unnamed"), *ITEM.to_rebuild("unnamed", "Do it.")))
    assert "has_close" not in shown
    assert "float" not in shown
    assert "has_close" in ITEM.to_describe("named")[-2].text
    assert "[HEADER]" not in "".join(message.text for message in ITEM.to_rebuild("named", "It is has_close."))
    alone = ITEM.to_rebuild("header", "It is has_close.")[-2].text
    assert "It is" not in alone
    assert "def has_close(numbers: list[float]) -> bool:" in alone
    assert ITEM.program("unnamed", "def solve(numbers):\n    return solve(numbers)").startswith("def has_close(numbers):")


@pytest.mark.parametrize("language", get_args(Language))
def test_every_example_is_the_program_that_its_own_answer_makes(language: Language) -> None:
    example, placing = EXAMPLES[language], LANGUAGES[language]
    header = example.header(language)
    assert placing.parses(example.code)
    assert example.code.startswith(header.text.rstrip("\n"))
    assert header.name in example.named
    item = replace(ITEM, source=language, target=language, code=example.code, header=header)
    for told in get_args(Told):
        question = item.to_describe(told)
        assert question[-1].text.startswith("[DESCRIPTION]")
        assert question[1].text == question[-2].text

"""What is read out of an answer, and what a question shows."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from assay.analysis.corpora.benchmarks import Language
from assay.offline_eval.catcode.functors.items import EXAMPLES, Item, Told, code_of, description_of, recorded_code
from assay.offline_eval.catcode.functors.placing.header import Header
from assay.offline_eval.catcode.functors.placing.registry import LANGUAGES

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
        ("[CODE]\n    x = 1\n[/CODE]", "    x = 1"),
        ("[CODE]\n```python\nx = 1\n```\n[/CODE]", "x = 1"),
        ("[CODE]Sure:\n```\nx = 1\n```\nThat is all.[/CODE]", "x = 1"),
        ("[CODE]x = 1[/CODE] or rather [CODE]x = 2[/CODE]", "x = 2"),
        ("Here it is:\n```js\nlet x = 1;\n```\n", "let x = 1;"),
        ("[CODE]\n[/CODE]", None),
        ("I can't do that.", None),
        ("", None),
    ],
)
def test_the_code_of_an_answer_is_its_last_block(answer: str, code: str | None) -> None:
    assert code_of(answer) == code


def test_recorded_answers_may_be_plain_code() -> None:
    assert recorded_code("    return x\n") == "    return x"
    assert recorded_code("```\nreturn x\n```\n") == "return x"
    assert recorded_code(" \n") is None


def test_a_description_may_have_lines_and_may_be_cut_off() -> None:
    assert description_of("[DESCRIPTION]\nOne.\n\nTwo.\n[/DESCRIPTION]", cut_off=False) == "One.\n\nTwo."
    assert description_of("[DESCRIPTION]One, an", cut_off=True) == "One, an"
    assert description_of("[DESCRIPTION]One, an", cut_off=False) is None
    assert description_of("No.", cut_off=False) is None


def test_without_names_neither_name_nor_type_is_shown_and_the_answer_gets_its_name_back() -> None:
    shown = "".join(message.text for message in (*ITEM.to_describe("unnamed"), *ITEM.to_rebuild("unnamed", "Do it.")))
    assert "has_close" not in shown
    assert "float" not in shown
    assert "has_close" in ITEM.to_describe("named")[-2].text
    assert ITEM.program("unnamed", "def solve(numbers):\n    return solve(numbers)").startswith("def has_close(numbers):")


def test_with_names_no_header_is_shown_and_the_header_alone_has_no_description() -> None:
    named = ITEM.to_rebuild("named", "It is has_close.")
    assert "[HEADER]" not in "".join(message.text for message in named)
    alone = ITEM.to_rebuild("header", "It is has_close.")
    assert "It is" not in alone[-2].text
    assert "def has_close(numbers: list[float]) -> bool:" in alone[-2].text


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

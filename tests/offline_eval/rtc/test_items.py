"""What is asked about, and what answers mean: the code that an answer holds goes where the code stood."""

from __future__ import annotations

import textwrap
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from needs import DATA, needs_data

from assay.analysis.sandbox.isolation.best_level import NoIsolation
from assay.offline_eval.answers import text_id
from assay.offline_eval.chains.chain import description_in
from assay.offline_eval.chains.copies import JAVA, is_copy
from assay.offline_eval.chains.scores import Scored, scored
from assay.offline_eval.rtc.items import MAX_DESCRIPTION, Code, Edit
from assay.offline_eval.rtc.sets import Found, Label, functions
from assay.offline_eval.rtc.tables import count_table, length_table, paper, rtc_of, table_2
from assay.offline_eval.sets.problems import problems

RECITED = "    for line in lines:\n        key, value = line.split('=', 1)  # one of them\n        found[key] = value.strip()\n"


@pytest.mark.parametrize(
    ("description", "code", "copies"),
    [
        (RECITED, RECITED, True),
        ("for line in lines: key, value = line.split('=', 1); found[key] = value.strip()", RECITED, True),
        ("Split each line at the first equals sign and remember the stripped right side under the left side.", RECITED, False),
        # without a name it is copied token by token
        ("pass", "    pass\n", True),
        # four of five names are a copy, and three are none
        ("alpha then beta then gamma then delta", "alpha(beta, gamma, delta, epsilon)", True),
        ("alpha then beta then gamma", "alpha(beta, gamma, delta, epsilon)", False),
        ("It's alpha(beta), isn't it", "alpha(beta)", True),  # an apostrophe hides nothing
    ],
)
def test_a_copy_has_the_names_and_literals_in_order(description: str, code: str, copies: bool) -> None:
    assert is_copy(description, code) is copies
    java = "public int f(int alpha) { return alpha + beta; }"
    assert is_copy("f takes alpha and gives alpha plus beta", java, JAVA), "keywords of another language are no names"
    assert not is_copy("f takes alpha and gives alpha plus beta", java)


FILE = "humaneval/HumanEval.jsonl.gz"


def functions_of(path: Path, limit: int | None = None) -> Found:
    try:
        return functions(path, limit)
    except NoIsolation as error:
        pytest.skip(str(error))


@needs_data(FILE)
def test_every_body_written_at_the_margin_comes_back_and_no_docstring_of_it_is_shown() -> None:
    found = functions_of(DATA / FILE)
    assert len(found.items) == 164
    published = {problem.id: problem for problem in problems("humaneval", DATA / FILE)}
    for item in found.items:
        assert isinstance(item, Code)
        dedented = textwrap.dedent(item.indentation + item.code)
        assert item.is_exact(str(item.code_in(f"[CODE]\n{dedented}\n[/CODE]"))), item.id
        assert item.documented.startswith(published[item.id].prompt.rstrip())
        shown = item.before.partition(f"def {published[item.id].entry_point}(")[2]
        assert not any(quotes in shown for quotes in ('"""', "'''")), item.id


@pytest.mark.parametrize(("benchmark", "r", "rho", "tau"), [("HumanEval", 0.959, 0.964, 0.905), ("ARCADE", 0.959, 0.929, 0.810)])
def test_table_2_gives_these_correlations(benchmark: str, r: float, rho: float, tau: float) -> None:
    found = table_2(benchmark)
    assert found.n == 7
    assert [round(each.value, 3) for each in (found.r, found.rho, found.tau) if each] == [r, rho, tau]
    printed = paper().cells[f"text/spearman_{benchmark.lower()}"].value
    assert found.tau is not None
    assert found.tau.value == pytest.approx(printed, abs=0.006)
    assert found.rho is not None
    assert found.rho.value != pytest.approx(printed, abs=0.05)


RIGHT = "return left + right"


def item_of(name: str = "a", code: str = RIGHT, group: str = "") -> Code:
    return Code(name, group or name, "def f(left, right):\n    ", code, "\n", documented="def f(left, right):\n    ")


def rebuilding(arm: str, of: int, text: str | None) -> Any:
    return {"arm": arm, "of": of, "text": text, "said": "", "stopped_by": "end"}


def one(
    descriptions: list[str | None], trips: list[str | None], baseline: list[str | None], labels: dict[str, bool | None]
) -> Scored[Code]:
    """The scores of an item whose descriptions these are; of each that there is comes one trip."""
    item = item_of()
    there = [number for number, text in enumerate(descriptions) if text is not None]
    made = [rebuilding("description", of, text) for of, text in zip(there, trips, strict=True)]
    made += [rebuilding("baseline", 0, text) for text in baseline]
    described = [
        {"id": "a", "descriptions": [{"arm": "description", "text": text, "said": "", "stopped_by": "end"} for text in descriptions]}
    ]
    known = [Label(id=text_id("a", text), tests_pass=passes, why="") for text, passes in labels.items()]
    (found,) = scored([item], described, [{"id": "a", "answers": made}], known)
    return found


def without(found: Scored[Code]) -> float | None:
    return found.mean("baseline", "tests_pass")


def test_a_trip_counts_by_its_label_the_code_itself_needs_none_and_what_can_not_be_read_fails() -> None:
    found = one(["Add.", "Add both.", "Add up."], [RIGHT, "x", "y"], ["x", "y", "y"], {"x": True, "y": False})
    assert (rtc_of(found, "tests_pass"), without(found), found.any_of("description", "tests_pass")) == pytest.approx((2 / 3, 1 / 3, 1))
    assert found.lift("description", "baseline", "tests_pass") == pytest.approx(1 / 3)
    assert rtc_of(found, "exact") == pytest.approx(1 / 3)
    unlabelled = one(["Add.", "Add up."], [RIGHT, "x"], [RIGHT], {"x": None})
    assert (rtc_of(unlabelled, "tests_pass"), rtc_of(unlabelled, "exact")) == (None, pytest.approx(1 / 2)), "not known, rather than right"
    unread = one([None, "Add.", "Add up."], [None, RIGHT], [RIGHT], {})
    assert rtc_of(unread, "tests_pass") == pytest.approx(1 / 3)
    assert (unread.asked, unread.unreadable) == (3 + 3, 2)
    assert count_table([unread], "problem").rows[0].cells[1].value == pytest.approx(2 / 6)


def test_a_trip_through_a_copy_is_left_out_where_copies_are() -> None:
    found = one(["Say: return left + right", "Add.", "Add up."], [RIGHT, "y", "y"], ["y"], {"y": False})
    assert found.share_of("description", "copies") == pytest.approx(1 / 3)
    assert (rtc_of(found, "tests_pass"), rtc_of(found, "tests_pass", copies=False)) == (pytest.approx(1 / 3), 0)
    assert [found.any_of("description", "tests_pass", copies=copies) for copies in (True, False)] == [1, 0]
    only = one(["return left + right"], [RIGHT], ["y"], {"y": False})
    assert rtc_of(only, "tests_pass", copies=False) is None
    assert only.lift("description", "baseline", "tests_pass", copies=False) is None


def items(count: int, came_back: int) -> list[Any]:
    """Items of which the first so many come back, and are shorter by 10."""
    found = [one(["Add."], [RIGHT if number < came_back else "y"], ["y"], {"y": False}) for number in range(count)]
    sizes = [20 + 10 * (number >= came_back) + number % 2 for number in range(count)]
    return [replace(each, item=item_of(str(number), "x" * size)) for number, (each, size) in enumerate(zip(found, sizes, strict=True))]


def test_code_that_does_not_come_back_is_longer_here_and_the_interval_says_so() -> None:
    back, not_back, difference = length_table(items(40, 20), "tests_pass", "problem").rows[0].cells
    assert (back.value, not_back.value, difference.value) == (20.5, 30.5, 10)
    assert difference.low is not None
    assert difference.low > 9
    assert length_table(items(4, 4), "tests_pass", "problem").rows[0].cells[2].value is None


BODY = "if x:\n        return 1\n\n    return 2"
CODE = Code("a", "a", "def f(x):\n    ", BODY, "\n\n\ndef g():\n    pass\n", documented='def f(x):\n    """Say."""\n    ')
EDIT = Edit("b", "b", "    a = 1\n    b = 2\n", "    a = 1\n    b = 3\n", "    b = 3\n")


def test_the_code_stands_between_markers_and_a_todo_in_its_place() -> None:
    shown = CODE.to_describe()[-2].text
    assert f"    # <<<region start>>>\n    {BODY}\n    # <<<region end>>>\n\n\ndef g" in shown
    for arm, words in (("description", "Say it."), ("baseline", "Implement."), ("direct", "Do what the docstring says.")):
        asked = CODE.to_rebuild(arm, "Say it.")[-2].text  # type: ignore[arg-type]
        assert f"    # TODO(LLM): {words}\n\n\ndef g" in asked
        assert "return 2" not in asked
        assert ('"""Say."""' in asked) is (arm == "direct")


@pytest.mark.parametrize(
    "answer",
    [
        "[CODE]\n    if x:\n        return 1\n\n    return 2\n[/CODE]",
        "Sure!\n[CODE]\n```python\nif x:\n    return 1\n\nreturn 2\n```\n[/CODE]\nDone.",
        "[CODE]pass[/CODE]\nOr rather:\n[CODE]\nif x:\n    return 1\n\nreturn 2[/CODE]",
    ],
)
def test_the_last_whole_block_is_the_code_at_the_indentation_of_its_place(answer: str) -> None:
    assert CODE.code_in(answer) == BODY
    assert CODE.is_exact(str(CODE.code_in(answer)))


@pytest.mark.parametrize("answer", ["return 2", "[CODE]return 2", "[CODE]\n\n[/CODE]"])
def test_an_answer_without_a_whole_block_can_not_be_read(answer: str) -> None:
    assert CODE.code_in(answer) is None
    assert EDIT.code_in(answer) is None


def test_an_edit_keeps_its_indentation_and_a_description_is_one_line_of_limited_length() -> None:
    text = EDIT.code_in("[NEW]\n    a = 1  \n    b = 3\n[/NEW]")
    assert text is not None
    assert EDIT.is_exact(text)
    assert not EDIT.is_exact("a = 1\nb = 3")
    found = description_in(f"[DESCRIPTION]Add\n{'up ' * 400}[/DESCRIPTION]", cut_off=False, most=MAX_DESCRIPTION)
    assert found is not None
    assert (len(found) <= MAX_DESCRIPTION, len(found.splitlines())) == (True, 1)

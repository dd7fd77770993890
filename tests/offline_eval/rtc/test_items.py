"""What is asked about, and what answers mean: the code that an answer holds goes where the code stood."""

from __future__ import annotations

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.offline_eval.rtc.asking import MAX_DESCRIPTION, Code, Edit, description_of

BODY = "if x:\n        return 1\n\n    return 2"
CODE = Code("a", "a", "def f(x):\n    ", BODY, "\n\n\ndef g():\n    pass\n", documented='def f(x):\n    """Say."""\n    ')
EDIT = Edit("b", "b", "    a = 1\n    b = 2\n", "    a = 1\n    b = 3\n", "    b = 3\n")
LINES = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(["x = 1", "y()", "", "# z"])), min_size=1, max_size=5)


def test_the_code_stands_between_markers_and_a_todo_in_its_place() -> None:
    shown = CODE.to_describe()[-2].text
    assert f"    # <<<region start>>>\n    {BODY}\n    # <<<region end>>>\n\n\ndef g" in shown
    for arm, words in (("description", "Say it."), ("baseline", "Implement."), ("direct", "Do what the docstring says.")):
        asked = CODE.to_rebuild(arm, "Say it.")[-2].text  # type: ignore[arg-type]
        assert f"    # TODO(LLM): {words}\n\n\ndef g" in asked
        assert "return 2" not in asked
        assert ('"""Say."""' in asked) is (arm == "direct")


def test_each_question_has_three_shots_and_begins_the_answer() -> None:
    for messages in (CODE.to_describe(), CODE.to_rebuild("baseline", ""), EDIT.to_describe(), EDIT.to_rebuild("description", "Do.")):
        assert [message.role for message in messages] == ["system", *["user", "assistant"] * 4]
        assert messages[-1].text in ("[DESCRIPTION]", "[CODE]", "[NEW]")


@pytest.mark.parametrize(
    "answer",
    [
        "[CODE]\nif x:\n    return 1\n\nreturn 2\n[/CODE]",
        "[CODE]\n    if x:\n        return 1\n\n    return 2\n[/CODE]",
        "Sure!\n[CODE]\n```python\nif x:\n    return 1\n\nreturn 2\n```\n[/CODE]\nDone.",
        "[CODE]pass[/CODE]\nOr rather:\n[CODE]\nif x:\n    return 1\n\nreturn 2[/CODE]",
    ],
)
def test_the_last_whole_block_is_the_code_at_the_indentation_of_its_place(answer: str) -> None:
    assert CODE.rebuilt(answer) == BODY
    assert CODE.is_exact(str(CODE.rebuilt(answer)))


@pytest.mark.parametrize("answer", ["", "return 2", "[CODE]return 2", "[CODE]\n\n[/CODE]", "```python\nreturn 2\n```"])
def test_an_answer_without_a_whole_block_can_not_be_read(answer: str) -> None:
    assert CODE.rebuilt(answer) is None
    assert EDIT.rebuilt(answer) is None


@given(lines=LINES, indentation=st.sampled_from(["", "    ", "\t"]))
def test_code_that_is_written_at_the_margin_comes_back_as_it_stood(lines: list[tuple[int, str]], indentation: str) -> None:
    text = "\n".join(("    " * depth + line) if line else "" for depth, line in [(0, "start"), *lines, (0, "end")])
    item = Code("a", "a", f"head\n{indentation}", textwrap.indent(text, indentation)[len(indentation) :], "\n")
    assert item.rebuilt(f"[CODE]\n{text}\n[/CODE]") == item.code


def test_an_edit_keeps_its_indentation_and_spaces_at_ends_are_no_difference() -> None:
    text = EDIT.rebuilt("[NEW]\n    a = 1  \n    b = 3\n[/NEW]")
    assert text is not None
    assert EDIT.is_exact(text)
    assert not EDIT.is_exact("a = 1\nb = 3")


@given(words=st.text(max_size=400))
def test_a_description_is_one_line_of_limited_length(words: str) -> None:
    found = description_of(f"[DESCRIPTION]{words}[/DESCRIPTION]", cut_off=False)
    assert found is None or (0 < len(found) <= MAX_DESCRIPTION and len(found.splitlines()) == 1)


def test_a_description_that_was_cut_off_is_as_good_as_its_beginning_and_an_open_one_is_not() -> None:
    assert description_of("[DESCRIPTION]Add up all", cut_off=True) == "Add up all"
    assert description_of("[DESCRIPTION]Add up all", cut_off=False) is None
    assert description_of("Add up all", cut_off=True) is None

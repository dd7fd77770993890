from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tiny_gguf import scripted
from tiny_models import OpenTiny

from assay.inference.asking.asker import Message, Said
from assay.inference.asking.chat import ChatAsker
from assay.inference.asking.text import TextAsker
from assay.inference.completion.mending import mending_prompt
from assay.inference.completion.prompt import prompt_at
from assay.inference.completion.settings import Settings
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import StopReason
from assay.inference.stopping.stop import LINE
from assay.suggestion.cursor import Cursor
from assay.suggestion.repair.asking import Asking
from assay.suggestion.repair.candidate import Change
from assay.suggestion.repair.request import Failure, Request
from assay.suggestion.repair.sources import fix_task, instruct, line, token
from assay.suggestion.repair.surprise import surprise_at

from ....inference.chat_server import ChatSpeech, chatting

LINES = ("import os", "", "def first(items):", "    for item in items:", "        return items", "    return None", "", "x = 1")
ANSWER = "```python\ndef first(items):\n    for item in items:\n        return item\n    return None\n```"


def test_what_a_model_makes_of_the_function_is_cut_to_the_lines(tiny: LlamaModel) -> None:
    speech = ChatSpeech(reply=lambda _: [ANSWER])
    with chatting(speech) as url, ChatAsker(url) as asker:
        failure = Failure("tests/test_first.py::test_one", "assert first([1]) == 1", "assert [1] == 1")
        request = Request(Asking(tiny), LINES, 4, 5, "python", asker, failure, draws=2)
        found = list(instruct.candidates(request))
    assert [each.change for each in found] == [Change(4, 5, ("        return item",))] * 3
    assert all(each.is_drawn and each.source == "instruct" for each in found)
    asked = [body for body in speech.chats if "most likely here" in str(body)]
    assert asked[0]["temperature"] == 0.0
    said = asked[0]["messages"][1]["content"]
    for part in (
        "```python\ndef first(items):\n    for item in items:\n        return items\n    return None\n```\n",
        "likely here:\n```python\n        return items\n```",
        "the test tests/test_first.py::test_one fails",
        "[ASSERTION]\nassert first([1]) == 1\n",
        "[ERROR]\nassert [1] == 1\n",
    ):
        assert part in said
    _, user, begun = instruct.messages_of(Request(Asking(tiny), LINES, 4, 5))
    assert begun == Message("assistant", "```plaintext\ndef first(items):\n    for item in items:")
    assert "fails hidden tests" in user.text
    assert instruct.why_not(Request(Asking(tiny), LINES, 4, 5)) == "the model is not asked in chat, and no instruct model was named"


class Continuing(TextAsker):
    """Goes on from the beginning of an answer with one of some texts, and stops where it is told."""

    def __init__(self, *texts: str) -> None:
        self._texts = iter(texts)

    def say(self, messages: Sequence[Message], *, stop: Sequence[str] = (), **_: Any) -> list[Said]:
        text = next(self._texts)
        cut = min((at for one in stop if (at := text.find(one)) >= 0), default=len(text))
        return [Said(messages[-1].text + text[:cut], StopReason.END)]


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("\n        return item\n    return None\n```", ["        return item", LINES[5]]),
        ("\n    return None\n```", [LINES[5]]),
        ("\n        if item:\n            return item\n    return None\n", ["        if item:", "            return item", LINES[5]]),
        ("\n        return item\n    return 0\n```\nI changed two lines.", ["        return item", "    return 0"]),
        ("\n        return item\n```", ["        return item"]),
        ("\n        return item  # the first\n    return None", ["        return item  # the first", LINES[5]]),
        ("\n        return item\n    return None", ["        return item", LINES[5]]),
    ],
)
def test_an_answer_goes_on_from_the_code_above_and_ends_before_the_code_below(tiny: LlamaModel, text: str, instead: list[str]) -> None:
    request = Request(Asking(tiny), LINES, 4, 5, "python", Continuing(text), draws=0)
    found, *others = instruct.candidates(request)
    assert found.change.of(LINES) == (*LINES[:4], *instead, *LINES[6:])
    # a block that was closed without the code below may have lost it
    assert [other.change.of(LINES) for other in others] == ([] if LINES[5] in instead else [(*LINES[:4], *instead, *LINES[5:])])
    assert [each.is_drawn for each in (found, *others)] == [True, *(False for _ in others)]


def test_a_line_that_stands_twice_ends_no_answer(tiny: LlamaModel) -> None:
    lines = ("def f():", "    if a:", "        return 1", "    if b:", "        return 1", "    return 2")
    assert instruct.code_below(Request(Asking(tiny), lines, 1, 2), 0, 6) == 3
    assert instruct.code_below(Request(Asking(tiny), lines, 3, 4), 0, 6) == 5
    assert instruct.code_below(Request(Asking(tiny), lines, 5, 6), 0, 6) is None


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        ("```python\na\n  b\n\n```", ["    a", "      b"]),
        ("It is this:\n```\n    a\n```\nThat is all.", ["    a"]),
        ("```\n        a\n    b\n```", ["        a", "    b"]),
        ("```\nx\n``` no:\n```\ny\n```", ["    y"]),
        ("```\nnot closed", ["    not closed"]),
        ("I can't.", None),
    ],
)
def test_an_answer_is_read_with_the_indentation_of_the_function(answer: str, lines: list[str] | None) -> None:
    assert instruct.lines_of(answer, "    wrong", whole=True) == ([] if lines is None else [lines])


def test_an_answer_that_was_cut_off_is_none() -> None:
    assert instruct.lines_of("```\ndef first(items):\n    ret", "def first(items):", whole=False) == []


CLASS = """\
class Box:
    @property
    def size(self):
        if self.full:
            return 1

        return 0

    def other(self):
        pass
"""
BLACK = """\
def area(
    width,
    height,
):
# at the margin
    return func(width, height)


# The others.
def other():
    pass
"""
JAVA = """\
class Box {
  int size(boolean full) {
    if (full) {
      return 1;
    }
    return 0;
  }

  int other() {
    return 2;
  }
}
"""
SCRIPT = """\
function size(box) {
  if (box.full) {
    return 1;
  }
  return 0;
}
size(1);
"""


@pytest.mark.parametrize(
    ("text", "at", "function"),
    [
        *((CLASS, 4, (2, 7)), (CLASS, 2, (2, 7)), (CLASS, 9, (8, 10)), (BLACK, 5, (0, 6)), (JAVA, 3, (1, 7)), (JAVA, 9, (8, 11))),
        *((SCRIPT, 2, (0, 6)), (SCRIPT, 6, (6, 7)), ("a = 1\nb = 2", 1, (1, 2))),
    ],
)
def test_the_function_around_a_line_is_found_by_indentation(text: str, at: int, function: tuple[int, int]) -> None:
    assert instruct.function_at(tuple(text.rstrip("\n").split("\n")), at, at + 1) == function


@pytest.mark.parametrize(
    ("new", "change"),
    [
        (["def f():", "    a = 2", "    return a"], Change(1, 2, ("    a = 2",))),
        (["def f():", "    a = 1", "    return a + 1"], Change(1, 2, ("    a = 1",))),
        (["def f():", "    if x:", "        a()", "    a = 1", "    return a"], Change(1, 2, ("    if x:", "        a()", "    a = 1"))),
        (["def f():", "    a = 1", "    return a"], Change(1, 2, ("    a = 1",))),
    ],
)
def test_only_the_difference_at_the_lines_is_kept(tiny: LlamaModel, new: list[str], change: Change) -> None:
    request = Request(Asking(tiny), ("def f():", "    a = 1", "    b = 2", "    return a"), 1, 2)
    assert instruct.difference(request, 0, 4, [*new[:-1], "    b = 2", new[-1]]) == change


BEFORE = "def clamp(value, low, high):\n    if value < low:\n        return low\n    "
AFTER = "\n        return high\n    return value\n"


def test_the_first_answer_is_the_greedy_one_and_each_draw_has_its_seed(embedded: LlamaModel) -> None:
    how = {"draws": 2, "temperature": 0.6}
    cursor = Cursor(BEFORE, AFTER)
    found = fix_task.mended_lines(embedded, cursor, "if value < high:", Settings(), seed=7, **how)
    prompt = mending_prompt(embedded, prompt_at(embedded, BEFORE, AFTER), "if value < high:")
    assert found[0] == embedded.generate(prompt, stop=LINE, max_tokens=64).text.strip()
    assert len(found) == 3
    assert fix_task.mended_lines(embedded, cursor, "if value < high:", Settings(), seed=8, **how)[1] == found[2]
    # A prompt that is too long and a cancelled one give no lines.
    cursor = Cursor(BEFORE, AFTER)
    assert fix_task.mended_lines(embedded, cursor, "x " * 5_000, Settings(), draws=1, temperature=0.6, seed=0) == [None, None]
    over = fix_task.mended_lines(embedded, cursor, "if x:", Settings(), draws=1, temperature=0.6, seed=0, cancel=lambda: True)
    assert over == [None, None]


def test_a_candidate_of_a_model_that_was_trained_to_mend_keeps_the_indentation(tiny: LlamaModel, embedded: LlamaModel) -> None:
    lines = tuple(f"{BEFORE}if value < high:{AFTER}".split("\n"))
    request = Request(Asking(embedded), lines, 3, 4, asked=(3,), draws=1)
    made = [candidate.change.of(lines)[3] for candidate in fix_task.candidates(request)]
    assert made
    assert all(line.startswith("    ") and not line.startswith("     ") for line in made)
    assert fix_task.why_not(Request(Asking(tiny), ("x",), 0, 1)) == "the model was not trained to mend lines"
    assert fix_task.why_not(request) == ""


def test_a_token_is_exchanged_and_the_rest_of_the_line_stays(open_tiny: OpenTiny) -> None:
    model = open_tiny(scripted(b"a", b" <=", b" b", b"\n", prompt=b"\t"))
    asking, lines = Asking(model), ("x", "\ta < b + c", "w")
    suspect = surprise_at(asking, lines, 1)
    assert suspect is not None
    found = [each.change.new for each in token.candidates(Request(asking, lines, 1, 2, suspects=(suspect,)))]
    assert ("\ta <= b",) in found
    assert ("\ta <= b + c",) in found
    own = list(line.candidates(Request(Asking(model), ("x", "\tz < y", "w"), 1, 2, asked=(1,))))
    assert own[0].change.new == ("\ta <= b",), "the model's own line comes first"
    assert len({each.change for each in own}) == len(own) > 1


def test_several_lines_are_written_as_a_block_too(tiny: LlamaModel) -> None:
    asking = Asking(tiny)
    one, block = (Request(asking, ("if x:", "    a = 1", "    b = 2", "c"), 1, end, asked=(1,)) for end in (2, 3))
    single = list(line.candidates(one))
    assert list(line.candidates(block))[: len(single)] == single
    assert list(line.candidates(replace(one, asked=()))) == []

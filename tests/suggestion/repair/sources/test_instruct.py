from __future__ import annotations

import pytest

from assay.inference.asking.chat import ChatAsker
from assay.inference.llamacpp.model import LlamaModel
from assay.suggestion.repair.asking import Asking
from assay.suggestion.repair.candidate import Change
from assay.suggestion.repair.request import Failure, Request
from assay.suggestion.repair.sources import instruct

from ....inference.chat_server import ChatSpeech, chatting

LINES = ("def first(items):", "    for item in items:", "        return items", "    return None")
ANSWER = "It returns all.\n\n[LINES]\n        return item\n[/LINES]"


def test_the_lines_that_a_model_answers_are_candidates(tiny: LlamaModel) -> None:
    speech = ChatSpeech(reply=lambda _: [ANSWER])
    with chatting(speech) as url, ChatAsker(url) as asker:
        failure = Failure("tests/test_first.py::test_one", "assert first([1]) == 1", "assert [1] == 1")
        request = Request(Asking(tiny), LINES, 2, 3, "python", asker, failure, draws=2)
        found = list(instruct.candidates(request))
    assert [each.change for each in found] == [Change(2, 3, ("        return item",))] * 3
    assert all(each.is_drawn and each.source == "instruct" for each in found)
    asked = [body for body in speech.chats if "WRONG LINES" in str(body)]
    assert [body["temperature"] for body in asked] == [0.0, 0.6, 0.6]
    said = asked[0]["messages"][1]["content"]
    assert "BEGIN\n        return items\n<<<<<<< WRONG LINES END\n    return None\n" in said
    for part in ("the test tests/test_first.py::test_one fails", "[ASSERTION]\nassert first([1]) == 1\n", "[ERROR]\nassert [1] == 1\n"):
        assert part in said


@pytest.mark.parametrize(
    ("answer", "lines"),
    [
        ("[LINES]\n    a\n[/LINES]", ["    a"]),
        ("[LINES]\na\n  b\n\n[/LINES]", ["    a", "      b"]),
        ("[LINES]\n```python\n    a\n```\n[/LINES]", ["    a"]),
        ("[LINES]\n        a\n    b\n[/LINES]", ["        a", "    b"]),
        ("[LINES]x[/LINES] no: [LINES]\ny\n[/LINES]", ["    y"]),
        ("[LINES]\n\n[/LINES]", None),
        ("I can't.", None),
    ],
)
def test_an_answer_is_read_with_the_indentation_of_the_wrong_line(answer: str, lines: list[str] | None) -> None:
    assert instruct.lines_of(answer, "    wrong") == lines


def test_without_a_failing_test_the_model_is_told_of_hidden_ones(tiny: LlamaModel) -> None:
    _, user = instruct.messages_of(Request(Asking(tiny), LINES, 2, 3))
    assert "fails hidden tests" in user.text
    assert instruct.why_not(Request(Asking(tiny), LINES, 2, 3)) == "no instruct model was named"

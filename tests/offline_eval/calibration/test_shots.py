from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from assay.calibration.samples import Sample
from assay.inference.asking.asker import Alternative, Message, Said, SaidToken
from assay.inference.errors import ContextTooLong
from assay.inference.model import StopReason
from assay.inference.opening import ModelChoice
from assay.offline_eval.calibration.shots import (
    SHOTS,
    FewShotQuestion,
    Shown,
    check_shots,
    messages_of,
    nearest,
    said_of,
    shots_of,
    shown_answers,
    with_shots,
)
from assay.offline_eval.errors import UsageError
from assay.offline_eval.paper_tables.forecasts import Setting
from assay.offline_eval.paper_tables.tables import study_tables
from assay.offline_eval.run import Run


def shown(name: str, code: str, *, group: str = "", right: bool | None = True) -> Shown:
    return Shown(name, group or name, code, "return x", right)


def test_examples_are_the_nearest_labelled_answers_of_other_projects_the_nearest_last() -> None:
    answers = [
        shown("asked", "def total_price(basket): tax_rate = basket.tax_rate", group="shop"),
        shown("same project", "def total_price(basket): tax_rate = basket.tax_rate", group="shop"),
        shown("not judged", "def total_price(basket): tax_rate = basket.tax_rate", right=None),
        shown("near", "def net_price(basket): return basket.tax_rate"),
        shown("nearer", "def total_price(basket): return basket.tax_rate"),
        shown("far", "class Parser: pass"),
    ]
    asked = nearest(answers, 2)[0]
    assert [each.id for each in asked.examples] == ["near", "nearer"]
    assert [len(each.examples) for each in nearest(answers[:2], 2)] == [0, 0], "there is no other project"
    assert nearest([shown("a", "", right=None)], 1)[0].examples == []
    signs = [Shown(name, name, "(", ")", right=True) for name in "ab"]
    assert [each.id for each in nearest(signs, 3)[0].examples] == ["b"], "without a word any other is as near"


def test_each_example_is_told_with_what_came_of_it_before_the_question() -> None:
    examples = [shown("a", "def f(): # a", right=False), shown("b", "def f(): # b")]
    messages = messages_of(shown("c", "def f(): # c"), examples)
    assert [message.role for message in messages] == ["user", "assistant", "user", "assistant", "user"]
    assert [message.text for message in messages[1::2]] == ["False", "True"]
    assert [message.text.count("# c") for message in messages] == [0, 0, 0, 0, 1]


class Says:
    """Says True with this probability, and takes so many messages."""

    form, name = "chat", "says"

    def __init__(self, p: float, most: int = 100) -> None:
        self.p, self.most = p, most

    def say(self, messages: list[Message], **_: Any) -> list[Said]:
        if len(messages) > self.most:
            raise ContextTooLong(len(messages), self.most, 1)
        top = (Alternative("True", math.log(self.p)), Alternative(" False", math.log(1 - self.p)))
        return [Said(" True", StopReason.END, (SaidToken(" ", 0.0), SaidToken("True", math.log(self.p), top)))]


def test_a_context_without_room_for_the_examples_leaves_their_answer_open() -> None:
    asked = FewShotQuestion(shown("a", "x"), [shown("b", "y")])
    assert said_of(Says(0.8), asked) == {"id": "a", "ask_chat": pytest.approx(0.8), "ask_shots": pytest.approx(0.8), "shots": ["b"]}
    assert said_of(Says(0.8, most=1), asked)["ask_shots"] is None


def answer(**changes: Any) -> dict[str, Any]:
    one = {"id": "p:f:1:line", "task": "line", "inserted": "y", "truth": "y", "measures": {"length": 1.0}, "labels": {"exact_match": True}}
    return {"id": "p:f:1", "project": "p", "file": "f", "generations": [{**one, **changes}]}


def test_only_first_choices_in_files_as_they_are_are_asked_about() -> None:
    answers: list[Any] = [answer(), answer(inserted=None), answer(rank=2), answer(arm="no_suffix")]
    long = "".join(f"line {number}\n" for number in range(1000))
    (found,) = shown_answers(answers, lambda *_: long, "exact_match")
    assert (found.group, found.completion, found.right) == ("p", "y", True)
    assert found.code.startswith("line 960\n")
    assert found.code.endswith("line 999\n")


def test_what_was_said_is_a_measure_and_an_open_answer_a_stand_in(tmp_path: Path) -> None:
    about = {"schema": "assay/run/3", "study": "calibration", "model": "0" * 16, "model_name": "m", "prompt": "1" * 16, "seed": 0}
    run = Run.begin(tmp_path / "run", {**about, "shots": 2, "shots_asked": "chat 0123456789abcdef"})
    run.records(SHOTS).add({"id": "p:f:1:line", "ask_chat": 0.25, "ask_shots": None, "shots": []})
    (one,) = with_shots(run, [answer()])[0]["generations"]
    assert one["measures"] == {"length": 1.0, "ask_chat": 0.25, "ask_shots": 0.5}
    assert one["fallbacks"] == ["ask_shots"]
    assert one["asked"].keys() == {"ask_chat", "ask_shots"}
    assert len(set(one["asked"].values())) == 2


def test_the_tables_set_both_beside_each_other() -> None:
    def sample(number: int) -> Sample:
        right = number % 3 > 0
        return Sample(
            id=str(number), model="0" * 16, prompt="1" * 16, task="line", language="python", project=f"p{number % 7}", file="f", seed=0,
            measures={"ask_chat": 0.5 + number % 2 / 10, "ask_shots": 0.8 if right else 0.3 + number % 5 / 10},
            labels={"exact_match": right, "tests_pass": None, "kept": None}, text_sha256="2" * 64,
            asked={"ask_chat": "3" * 16, "ask_shots": "4" * 16},
        )  # fmt: skip

    cells = study_tables({Setting("line"): [sample(number) for number in range(70)]}).cells
    gain = cells["D/line/docstring/exact_match/shots"]
    assert gain.low is not None
    assert gain.low > 0
    assert "T5/tests_pass/line/docstring/ask_chat/raw/skill" not in cells, "a run without labels of tests has no row for them"


def test_the_embedded_model_is_not_asked() -> None:
    assert shots_of(ModelChoice(), None) is None
    for where in (None, "embedded"):
        with pytest.raises(UsageError, match="answers no questions"):
            check_shots(ModelChoice(where))

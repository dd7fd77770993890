"""Repairs in the model's process: others go first, and the repairs stay the same."""

from __future__ import annotations

import io
import math
import threading
from contextlib import closing
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tiny_gguf import TinyModel
from tiny_models import OpenTiny

from assay.inference.asking.asker import Message, Said
from assay.inference.completion.prompt import Surroundings
from assay.inference.completion.settings import Settings
from assay.inference.errors import ServerTimedOut
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Cancel, StopReason
from assay.server.model.ipc import HEADER_BYTES, arguments_of, frame, model_part, parse, read_frame
from assay.server.model.worker_repairs import Instructed, Others, OwnAsker, PatientAsker, repairs_of, surprises_of
from assay.suggestion.complete import complete
from assay.suggestion.repair.asking import Asking, never

from ..wanted import wanted

TEXT = "def f(a, b):\n    if a < b:\n        return a\n    return b\n"
ASKED: dict[str, Any] = {
    "text": TEXT,
    "first": 1,
    "end": 2,
    "language": "python",
    "encoding": "utf-16",
    "most": 5,
    "max_ms": 600_000.0,
    "message": "",
    "instruct": "",
}
# As little as can be, for a model that knows no end of a line.
SETTINGS = Settings(prefix_tokens=64, suffix_tokens=32, line_tokens=4, block_tokens=4, function_tokens=4)
MESSAGES = (Message("user", "repair this"),)


class Impatient:
    """Somebody who asks for a completion at every so many looks of the model."""

    def __init__(self, model: LlamaModel, every: int) -> None:
        self.answered = 0
        self._model, self._every, self._looks, self._waits = model, every, 0, False

    def wait(self) -> bool:
        self._looks += 1
        self._waits = self._waits or self._looks % self._every == 0
        return self._waits

    def answer(self) -> None:
        if self._waits:
            self._waits = False
            complete(self._model, "def g():\n    return ", "\n", settings=SETTINGS)
            self.answered += 1


def asking(model: LlamaModel, is_over: Cancel = never) -> Asking:
    return Asking(model, SETTINGS, is_over=is_over)


def found(model: LlamaModel, others: Others) -> list[tuple[str, tuple[str, ...]]]:
    answer = repairs_of(ASKED, asking(model), others, Instructed(), lambda _: None)
    assert answer["stopped_by"] is None
    return [(repair["suggestion"]["text"], tuple(repair["sources"])) for repair in answer["found"]]


@pytest.mark.slow
def test_others_go_first_and_the_repairs_are_the_same(tiny: LlamaModel) -> None:
    alone = found(tiny, Others())
    impatient = Impatient(tiny, 40)
    assert found(tiny, Others(impatient.wait, impatient.answer)) == alone
    assert alone
    assert impatient.answered


def test_surprises_are_the_same_as_well(tiny: LlamaModel) -> None:
    impatient = Impatient(tiny, 40)
    alone = surprises_of(ASKED, asking(tiny), Others())
    beside = surprises_of(ASKED, asking(tiny), Others(impatient.wait, impatient.answer))
    assert [line["line"] for line in alone["lines"]] == [line["line"] for line in beside["lines"]] == [1]
    assert [token["text"] for token in alone["lines"][0]["tokens"]] == [token["text"] for token in beside["lines"][0]["tokens"]]
    assert impatient.answered


def test_who_no_longer_wants_repairs_gets_none_of_those_that_are_left(tiny: LlamaModel) -> None:
    answer = repairs_of(ASKED, asking(tiny, lambda: True), Others(), Instructed(), lambda _: None)
    assert (answer["found"], answer["stopped_by"]) == ((), "cancelled")


def test_the_model_itself_is_asked_in_chat_and_lets_others_go_first(open_tiny: OpenTiny) -> None:
    model = open_tiny(TinyModel(metadata={"tokenizer.chat_template": "{% for m in messages %}{{ m['content'] }}{% endfor %}"}))
    with closing(Instructed()) as own:
        impatient = Impatient(model, 20)
        how: dict[str, Any] = {"n": 2, "temperature": 0.6, "max_tokens": 8, "seed": 3}
        alone = OwnAsker(model, own, Others(), never).say(MESSAGES, **how)
        asker = OwnAsker(model, own, Others(impatient.wait, impatient.answer), never)
        for _ in range(20):
            assert [said.text for said in asker.say(MESSAGES, **how)] == [said.text for said in alone]
        assert impatient.answered
        assert all(not said.text for said in OwnAsker(model, own, Others(), lambda: True).say(MESSAGES, **how))
    assert Instructed().template(open_tiny(TinyModel())) is None


class Slow:
    """An instruct model that answers when it is let."""

    def __init__(self, error: Exception | None = None) -> None:
        self.let, self.error = threading.Event(), error

    def say(self, messages: object, **_: Any) -> list[Said]:
        assert messages == MESSAGES
        self.let.wait(60)
        if self.error is not None:
            raise self.error
        return [Said("an answer", StopReason.END)]


def test_while_an_instruct_model_answers_others_are_answered_again_and_again() -> None:
    slow, answered = Slow(), 0

    def answer() -> None:
        nonlocal answered
        answered += 1
        if answered == 5:
            slow.let.set()

    asker = PatientAsker(slow, Instructed(), Others(answer=answer), lambda: False)  # type: ignore[arg-type]
    assert asker.say(MESSAGES)[0].text == "an answer"
    assert answered >= 5


def test_an_instruct_model_that_fails_is_not_asked_again_and_one_that_is_not_wanted_is_not_waited_for() -> None:
    slow = Slow(ServerTimedOut("http://x", "no answer", 1.0))
    slow.let.set()
    asker = PatientAsker(slow, Instructed(), Others(), lambda: False)  # type: ignore[arg-type]
    assert asker.say(MESSAGES)[0].text == asker.say(MESSAGES)[0].text == ""
    assert "http://x" in asker.trouble
    unwanted = Slow()
    assert PatientAsker(unwanted, Instructed(), Others(), lambda: True).say(MESSAGES)[0].text == ""  # type: ignore[arg-type]
    unwanted.let.set()


# Half a character, too, which no UTF-8 can say.
TEXTS = st.text(st.characters(codec=None, categories=None), max_size=30)


@example("\ud800", "", "\udc80", 1)
@given(TEXTS, TEXTS, TEXTS, st.integers(-(10**30), 10**30))
def test_whatever_a_text_holds_it_arrives_as_it_was(prefix: str, suffix: str, path: str, number: int) -> None:
    request = wanted(prefix, suffix, surroundings=Surroundings("head", path, ((path, prefix),)), settings=Settings(line_tokens=9), count=3)
    message = {"id": 1, "asked": model_part(request), "options": {"n_ctx": number}}
    found = read_frame(io.BytesIO(frame(message)))
    assert found["options"] == {"n_ctx": number}
    assert arguments_of(found["asked"]) == {
        "prefix": prefix,
        "suffix": suffix,
        "kind": "line",
        "language": "plaintext",
        "settings": request.settings,
        "surroundings": request.surroundings,
        "max_ms": None,
        "count": 3,
    }


def test_a_log_probability_that_is_not_known_stays_so() -> None:
    for text in ("a", "\ud800"):
        found = parse(frame({"text": text, "logprob": math.nan})[HEADER_BYTES:])
        assert math.isnan(found["logprob"])


@pytest.mark.parametrize("body", [b"", b"{", b"\x90"])
def test_what_is_no_message_is_an_error(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse(body)


def test_a_stream_that_ends_inside_a_message_has_no_more() -> None:
    whole = frame({"id": 1})
    assert read_frame(io.BytesIO(whole)) == {"id": 1}
    assert all(read_frame(io.BytesIO(whole[:end])) is None for end in range(len(whole)))

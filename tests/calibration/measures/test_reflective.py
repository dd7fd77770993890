from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest
from tiny_gguf import TinyModel, scripted, write_tiny_gguf

from assay.calibration.measures.reflective import (
    FALLBACK,
    PERCENTAGE,
    TRUE_OR_FALSE,
    Question,
    ask_true,
    questions_for,
    reflect,
    verbalise,
)
from assay.calibration.measures.registry import MEASURES, raw_probability
from assay.inference.completion.prompt import prompt_at
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Generation, Prompt
from assay.inference.remote.model import RemoteModel
from assay.inference.stopping.stop import LINE

from ...inference.completion_server import Speech, serving

BEFORE, AFTER = "def area(width, height):\n    return ", "\n\n\ndef volume(width, height, depth):\n    return area(width, height) * depth\n"


def written(model: LlamaModel, before: str = "x = ", after: str = "\ny = 2\n") -> tuple[Prompt, Generation]:
    prompt = model.fim(before, after)
    return prompt, model.generate(prompt, stop=LINE, max_tokens=12)


def test_p_true_is_summed_over_the_first_tokens_of_its_spellings_each_once(tiny: LlamaModel) -> None:
    """A vocabulary of bytes: "True" and "TRUE" begin alike and count once; " True" begins as " False" does and counts for neither."""
    prompt = prompt_at(tiny, "area = wi", "\n")
    assert prompt.held, "the question stands behind what is there and shown"
    generation = tiny.generate(prompt, stop=LINE, max_tokens=12)
    question = TRUE_OR_FALSE.text.replace("{completion}", generation.text)
    asked = Prompt((*prompt.tokens, *tiny.tokenize(prompt.held + generation.text), *tiny.tokenize(question)), prompt.layout)
    t, true, f, false = (math.exp(tiny.score(asked, tiny.tokenize(letter))[0]) for letter in "TtFf")
    found = ask_true(tiny, prompt, generation, TRUE_OR_FALSE)
    assert found == pytest.approx((math.log(t + true), math.log((t + true) / (f + false))), abs=1e-5)
    assert raw_probability("ask_true_normalised", found[1]) == pytest.approx((t + true) / (t + true + f + false), abs=1e-5)


def test_words_that_can_not_be_told_apart_by_a_first_token_have_no_measure(tiny: LlamaModel) -> None:
    prompt, generation = written(tiny)
    alike = Question(TRUE_OR_FALSE.text, (" True",), (" False",))
    assert ask_true(tiny, prompt, generation, alike) is None
    said = reflect(tiny, prompt, generation, {"ask_true": alike, "ask_true_normalised": alike})
    assert (said.measures, said.asked) == ({}, {})


def test_a_stated_percentage_is_read_from_the_greedy_answer(tmp_path: Path) -> None:
    model = scripted(b" ", b"8", b"5", b"%", b"\n", prompt=b":")
    with LlamaModel(write_tiny_gguf(tmp_path / "m.gguf", model), threads=1) as says:
        said = reflect(says, *written(says), questions_for(says))
    assert said.measures["verbalised"] == 0.85
    assert said.answers == (" 85%",)
    assert said.fallbacks == ()
    assert said.measures.keys() == said.asked.keys() == {"verbalised", "ask_true", "ask_true_normalised"}


def test_without_a_stated_percentage_it_is_asked_three_times_more_and_then_marked(tiny: LlamaModel) -> None:
    said = reflect(tiny, *written(tiny), {"verbalised": PERCENTAGE})
    assert said.measures == {"verbalised": FALLBACK}
    assert said.fallbacks == ("verbalised",)
    assert said.asked == {"verbalised": PERCENTAGE.fingerprint}
    assert len(set(said.answers)) == len(said.answers) == MEASURES["verbalised"].cost  # of what is drawn, each is another
    assert reflect(tiny, *written(tiny), {"verbalised": PERCENTAGE}).answers == said.answers
    assert reflect(tiny, *written(tiny), {"verbalised": PERCENTAGE}, seed=7).answers[1:] != said.answers[1:]


def test_a_retry_that_states_one_is_taken(tmp_path: Path) -> None:
    """Behind the space the model is as likely to say x as 5 %; greedily it says x."""
    chain = TinyModel(script=(b":", b" ", b"5", b"%", b"\n", b" ", b"x", b"\n"), fim=False, seed=2)
    with LlamaModel(write_tiny_gguf(tmp_path / "m.gguf", chain), threads=1) as model:
        prompt, generation = written(model)
        said, answers = verbalise(model, prompt, generation, PERCENTAGE)
    assert said == 0.05
    assert answers[0] == " x"
    assert answers[-1] == " 5%"
    assert set(answers[:-1]) == {" x"}


def test_a_question_that_has_no_room_in_the_context_is_left_out(tiny_gguf: Path) -> None:
    with LlamaModel(tiny_gguf, threads=1, n_ctx=48) as model:
        prompt, generation = written(model)
        assert reflect(model, prompt, generation, questions_for(model)).measures == {}


def test_of_a_server_only_what_it_can_be_asked_is() -> None:
    with serving(Speech()) as address, RemoteModel(address) as model:
        assert questions_for(model).keys() == {"ask_true", "ask_true_normalised", "verbalised"}
        prompt = model.fim("?", "")
        said = reflect(model, prompt, model.generate(prompt, stop=LINE, max_tokens=5), questions_for(model))
        assert said.measures.keys() == said.asked.keys() == {"ask_true", "ask_true_normalised", "verbalised"}
    with serving(Speech(kind="openai")) as address, RemoteModel(address) as model:
        assert questions_for(model) == {}


def test_another_question_has_another_fingerprint() -> None:
    """Pinned: what is asked is part of what was measured, so that a change of a question is seen here, and in every sample."""
    pinned = {TRUE_OR_FALSE: "8c5f00579c3ae5c9", PERCENTAGE: "52570cfffb6f4316"}
    assert {question: question.fingerprint for question in pinned} == pinned
    assert replace(PERCENTAGE, text=PERCENTAGE.text + " ").fingerprint not in pinned.values()
    assert replace(TRUE_OR_FALSE, true=("True",)).fingerprint not in pinned.values()

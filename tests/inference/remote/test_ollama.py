"""Ollama is asked by its own interface: the model is shown the prompt that its family was trained with, never its chat template."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_server import EXACT, HOW_TO_BUILD, is_built, running

from assay.inference.errors import AnswerCutOff, ContextTooLong, NoSuchServedModel, RequestRefused, Unavailable
from assay.inference.llamacpp.model import LlamaModel
from assay.inference.model import Capabilities, StopReason
from assay.inference.opening import EMBEDDED, ModelChoice
from assay.inference.remote.http import whole_lines
from assay.inference.remote.model import RemoteModel
from assay.inference.stopping.stop import LINE, NONE

from ..completion_server import MID, Speech, encode, logprobs, serving
from ..ollama_server import CONTEXT, MODELS, an_ollama

QWEN, CODELLAMA, LLAMA = MODELS


def as_ollama(**how: Any) -> Speech:
    return Speech(kind="ollama", **how)


def shown_to(name: str, prefix: str, suffix: str) -> tuple[str, str, str]:
    """What the model of this name is shown for a line, the line, and the way that is told."""
    server = an_ollama()
    with serving(as_ollama(), handler=server) as address, RemoteModel(address, model=name) as model:
        generation = model.generate(model.fim(prefix, suffix), stop=LINE, max_tokens=8)
        assert generation.timings.prompt_tokens == 0
        return server.shown[-1], generation.text, model.way


def test_a_model_is_shown_its_own_layout_or_without_a_middle_the_text_as_it_is() -> None:
    shown, text, way = shown_to(QWEN, "def f():\n    x", "\n    return x\n")
    assert shown == "<|fim_prefix|>def f():\n<|fim_suffix|>\n    return x\n<|fim_middle|>    x"
    assert text == "abc"
    assert way == "/api/generate of Ollama: text, raw, laid out for qwen2.5-coder"
    shown, text, way = shown_to(LLAMA, "x = ?", "\nprint(x)\n")
    assert (shown, text) == ("x = ?", " abc")
    assert "/api/generate of Ollama: text, raw, what stands before the cursor" in way


@pytest.mark.parametrize(("suffix", "laid"), [(")\n", ")\n"), ("", "\n")])
def test_a_model_whose_tokens_text_can_not_say_is_laid_out_by_its_template(suffix: str, laid: str) -> None:
    shown, _, way = shown_to(CODELLAMA, "print(a", suffix)
    assert shown == f"<PRE> print(a <SUF>{laid} <MID>"
    assert way == "/api/generate of Ollama: prompt and suffix as text, laid out by the server with the model's template"


def test_the_log_probabilities_are_the_models_own_and_the_best_other_is_told() -> None:
    with serving(as_ollama(), handler=an_ollama()) as address, RemoteModel(address, model=QWEN) as model:
        assert model.capabilities == Capabilities(
            entropy=False, score=False, next_token=False, tokenize=False, files=True, heals=False, memory=False, replay=False
        )
        assert (model.context_length, model.fingerprint.parameters, model.fingerprint.quantisation) == (CONTEXT, 494_032_768, "Q4_K_M")
        assert model.served.runtime == "ollama 0.14.1"
        generation = model.generate(model.fim("x", "\n"), stop=NONE, max_tokens=4, temperature=0.7, seed=3)
        row = sorted(logprobs(MID))
        assert generation.stopped_by is StopReason.TOKENS
        assert (generation.tokens[0].logprob, generation.tokens[0].best_other_logprob) == pytest.approx((row[-1], row[-2]))
    silent = as_ollama(most_logprobs=0)
    with serving(silent, handler=an_ollama()) as address, RemoteModel(address, model=QWEN, context_length=512) as model:
        assert (model.capabilities.logprobs, model.context_length) == (False, 512)
        generation = model.generate(model.fim("x", "\n"), stop=LINE, max_tokens=8)
        assert (generation.text, math.isnan(generation.tokens[0].logprob)) == ("abc", True)
    body = silent.asked[-1][2]
    assert body["options"].items() >= {"stop": [], "repeat_penalty": 1.0, "min_p": 0.0, "num_ctx": 512}.items(), (
        "the model's file has others"
    )
    assert (body["raw"], body["truncate"], body["think"]) == (True, False, False)


def test_a_text_that_ollama_breaks_off_because_it_repeats_itself_is_kept() -> None:
    def repeated(event: dict[str, Any]) -> dict[str, Any]:
        return event | ({"response": " b"} if event.get("response") else {})

    speech = as_ollama(cut_after=31, garble=repeated)
    with serving(speech, handler=an_ollama()) as address, RemoteModel(address, model=QWEN) as model:
        generation = model.generate(model.fim("x", "\n"), stop=NONE, max_tokens=40, temperature=2.0, seed=3)
        assert (generation.text, generation.stopped_by) == (" b" * 31, StopReason.REPETITION)
        speech.cut_after, speech.garble = 2, None
        with pytest.raises(AnswerCutOff):
            model.generate(model.fim("x", "\n"), stop=NONE, max_tokens=8)


def test_a_character_of_which_not_all_tokens_are_told_has_no_number() -> None:
    def accented(event: dict[str, Any]) -> dict[str, Any]:
        return event | ({"response": "é"} if event.get("response") == "b" else {})

    speech = as_ollama(garble=lambda event: accented(event) if "details" not in event else event)
    with serving(speech, handler=an_ollama()) as address, RemoteModel(address, model=QWEN) as model:
        generation = model.generate(model.fim("x", "\n"), stop=LINE, max_tokens=8)
    assert generation.text == "aéc"
    assert [math.isnan(token.logprob) for token in generation.tokens[:3]] == [False, True, False]


def test_what_ollama_says_of_a_refusal_is_passed_on() -> None:
    server = an_ollama(**{"gone:1b": MODELS[LLAMA]})
    speech = as_ollama()
    with serving(speech, handler=server) as address:
        with pytest.raises(NoSuchServedModel, match="gone:1b"):
            RemoteModel(address, model=QWEN)
        with RemoteModel(address) as model:
            speech.fail.append((400, {}, b'{"error": "the prompt is longer than the context length"}'))
            with pytest.raises(RequestRefused, match="/api/generate answered HTTP 400: the prompt is longer than the context length"):
                model.generate(model.fim("x", ""), stop=LINE, max_tokens=8)


def test_a_control_token_in_the_file_is_refused_and_that_a_model_runs_elsewhere_is_told() -> None:
    class Cloud(an_ollama()):  # type: ignore[misc]
        def show(self, body: dict[str, Any]) -> object | None:
            return {**super().show(body), **({"remote_host": "https://ollama.example:443"} if body["model"] == QWEN else {})}

    with serving(as_ollama(), handler=Cloud) as address:
        for name in (QWEN, CODELLAMA):
            with RemoteModel(address, model=name) as model, pytest.raises(Unavailable, match="control token"):
                model.fim("x = '<|fim_middle|>", "'")
            told = f"{address}: {name} runs at https://ollama.example:443, so what it is shown is sent there."
            assert model.warnings == ((told,) if name == QWEN else ())


def test_the_family_is_told_by_the_vocabulary_whatever_the_model_is_called() -> None:
    for tokens in (MODELS[QWEN].tokens, ()):  # by the template, where the vocabulary is not told
        library = MODELS[QWEN].__class__(MODELS[QWEN].template, None, "qwen2", tokens)
        with serving(as_ollama(), handler=an_ollama(**{"mine:latest": library})) as address, RemoteModel(address) as model:
            assert "laid out for qwen2.5-coder" in model.way


def test_any_server_that_puts_what_it_continues_into_a_chat_template_is_told() -> None:
    def counted(tokens: int) -> Speech:
        return Speech(kind="openai", garble=lambda answer: answer | {"usage": {"prompt_tokens": tokens}} if "choices" in answer else answer)

    for tokens, told in ((2, 0), (9, 1)):
        with serving(counted(tokens)) as address, ModelChoice(address).open() as model:
            assert len(model.warnings) == told


@given(st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=("Cs",)))), st.sampled_from(["\n", "\r\n"]), st.data())
def test_lines_are_the_same_wherever_a_stream_is_cut(lines: list[str], end: str, data: st.DataObject) -> None:
    stream = "".join(line + end for line in [*lines, "last"]).encode()
    places = sorted({0, len(stream), *data.draw(st.lists(st.integers(0, len(stream))))})
    rest = bytearray()
    found = [line for start, stop in pairwise(places) for line in whole_lines(rest, stream[start:stop])]
    assert [line.decode() for line in found if line] == [*filter(None, lines), "last"]
    assert not rest


def test_any_text_is_replayed_though_few_tokens_are_told_of() -> None:
    with serving(Speech()) as address, RemoteModel(address, context_length=20) as model:
        for prefix in ("x", "x\n", "y = "):
            prompt = model.fim(prefix, "")
            own = model.generate(prompt, stop=LINE, max_tokens=8)
            again = model.replay(prompt, own.text, stop=LINE)
            assert (again.text, again.stopped_by, again.tokens) == (own.text, own.stopped_by, own.tokens)
        with pytest.raises(ContextTooLong, match="a given text"):
            model.replay(model.fim("x", ""), "a" * 30, stop=NONE)
        prompt = model.fim("", "")
        replayed = model.replay(prompt, "xyz", stop=LINE)
        before = [MID, *encode("xyz")]
        assert [token.text for token in replayed.tokens] == [b"x", b"y", b"z", b"\n"]
        assert [token.logprob for token in replayed.tokens] == pytest.approx(
            [logprobs(last)[token] for last, token in zip(before, [*encode("xyz"), ord("\n")], strict=True)]
        )
        assert replayed.tokens[0].best_other_logprob == pytest.approx(max(logprobs(MID)))
        assert sum(model.score(prompt, encode("xyz\n"))) == pytest.approx(sum(token.logprob for token in replayed.tokens))


@pytest.mark.parametrize("speech", [Speech(kind="openai"), Speech(scoring=False), Speech(guides=None)])
def test_a_server_that_can_not_says_so(speech: Speech) -> None:
    with serving(speech) as address, RemoteModel(address) as model:
        assert not model.capabilities.replay
        with pytest.raises(Unavailable, match="a given text"):
            model.replay(model.fim("x", ""), "a", stop=LINE)


@pytest.mark.slow
@pytest.mark.skipif(not is_built(), reason=HOW_TO_BUILD)
def test_llama_server_says_of_a_text_what_the_model_here_says(tmp_path: Path) -> None:
    code, behind = "def multiply(first, second):\n    ret", "\n\n\nprint(multiply(2, 3))\n"
    with running(EMBEDDED, *EXACT) as address, RemoteModel(address) as remote, LlamaModel(EMBEDDED, threads=1, kv_type="f32") as local:
        prompt = local.fim(code, behind)
        for text in ("urn first * second", "urn second - 'é'", "zzz", local.generate(prompt, stop=LINE, max_tokens=30).text):
            theirs, ours = (model.replay(prompt, text, stop=LINE) for model in (remote, local))
            assert (theirs.text, theirs.stopped_by in (StopReason.LINE, StopReason.END)) == (text, True)
            assert [token.text for token in theirs.tokens] == [token.text for token in ours.tokens]
            assert [token.logprob for token in theirs.tokens] == pytest.approx([token.logprob for token in ours.tokens], abs=0.1)

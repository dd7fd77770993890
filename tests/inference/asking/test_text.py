"""Asking a model that only continues texts: real tiny models in this process, and a server of completions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tiny_gguf import scripted, write_tiny_gguf
from tiny_hf import write_tiny_hf
from tiny_models import OpenTiny, open_exact

from assay.inference.asking.asker import Message, Said, alternatives_behind, last_block
from assay.inference.asking.prompts import load_prompt
from assay.inference.asking.text import TextAsker, as_text
from assay.inference.hf.model import HFModel
from assay.inference.model import StopReason
from assay.inference.remote.model import RemoteModel

from ..completion_server import AB, Speech, logprobs, serving

JUDGE = Path(__file__).with_name("judge.txt")
ASK = [Message("user", "Is it right?"), Message("assistant", "[ANSWER]")]


@pytest.fixture(scope="module")
def sampling(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TextAsker]:
    """A model of random weights, which writes something else with each seed."""
    with TextAsker(open_exact(write_tiny_gguf(tmp_path_factory.mktemp("gguf") / "tiny.gguf"))) as asker:
        yield asker


def judging(open_tiny: OpenTiny, *pieces: bytes) -> TextAsker:
    """A model that writes these pieces behind "]"."""
    return TextAsker(open_tiny(scripted(*pieces, prompt=b"]")))


def test_the_layout_is_the_messages_with_blank_lines_and_the_beginning_of_the_answer() -> None:
    text = as_text(load_prompt(JUDGE).render(program="def f(): ..."))
    assert text.startswith("You are given a Python function")
    assert "[/PYTHON]\n\n[ANSWER]Correct[/ANSWER]\n\n[PYTHON]\n" in text
    assert text.endswith("[PYTHON]\ndef f(): ...\n[/PYTHON]\n\n[ANSWER]")
    assert as_text([Message("user", "Say it.")]) == "Say it.\n\n"


def test_an_answer_ends_at_the_closing_tag_and_is_whole(open_tiny: OpenTiny) -> None:
    with judging(open_tiny, b"Cor", b"rect", b"[", b"/ANSWER", b"] more") as asker:
        (said,) = asker.say(ASK, stop=["[/ANSWER]"], max_tokens=20, top_logprobs=3)
    assert (said.text, said.stopped_by, said.given) == ("[ANSWER]Correct[/ANSWER]", StopReason.END, len("[ANSWER]"))
    assert last_block(said.text, "ANSWER") == "Correct"
    assert [token.text for token in said.tokens] == ["Cor", "rect"]
    top = alternatives_behind(said, "[ANSWER]")
    assert (len(top), top[0].text, top[0].logprob) == (3, "Cor", pytest.approx(said.tokens[0].logprob, abs=1e-4))
    assert [one.logprob for one in top] == sorted((one.logprob for one in top), reverse=True)
    assert said.tokens[1].top == ()


def test_a_stop_within_a_token_cuts_the_answer_there(open_tiny: OpenTiny) -> None:
    with judging(open_tiny, b"Yes", b", it is\n\nAnd", b" no") as asker:
        (said,) = asker.say(ASK, stop=["\n\n", "And"], max_tokens=20)
    assert (said.text, [token.text for token in said.tokens]) == ("[ANSWER]Yes, it is", ["Yes", ", it is\n\nAnd"])


def test_an_answer_without_its_closing_tag_is_cut_at_the_token_limit(open_tiny: OpenTiny) -> None:
    with judging(open_tiny, b"Cor", b"rect", b" or", b" not") as asker:
        (said,) = asker.say(ASK, stop=["[/ANSWER]"], max_tokens=3)
    assert (said.text, said.stopped_by, last_block(said.text, "ANSWER")) == ("[ANSWER]Correct or", StopReason.TOKENS, None)


def test_a_model_that_ends_by_itself_has_ended(open_tiny: OpenTiny) -> None:
    with judging(open_tiny, b"Cor", b"rect", b"<|endoftext|>") as asker:
        (said,) = asker.say(ASK, stop=["[/ANSWER]"], max_tokens=20)
    assert (said.text, said.stopped_by) == ("[ANSWER]Correct[/ANSWER]", StopReason.END)
    assert [token.text for token in said.tokens] == ["Cor", "rect"]


def test_an_answer_is_the_same_whatever_is_asked_with_it(sampling: TextAsker) -> None:
    together = sampling.say(ASK, n=4, temperature=1.0, max_tokens=12, seed=3, top_logprobs=2)
    alone = [sampling.say(ASK, temperature=1.0, max_tokens=12, seed=seed, top_logprobs=2)[0] for seed in range(3, 7)]
    assert [said.text for said in together] == [said.text for said in alone]
    assert len({said.text for said in together}) > 1
    for one, other in zip(together, alone, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-5)


def test_threads_that_share_a_model_take_turns(sampling: TextAsker) -> None:
    def ask(seed: int) -> Said:
        return sampling.say(ASK, temperature=1.0, max_tokens=8, seed=seed)[0]

    with ThreadPoolExecutor(8) as threads:
        at_once = list(threads.map(ask, range(16)))
    assert [said.text for said in at_once] == [ask(seed).text for seed in range(16)]


def test_a_transformers_model_is_asked_as_a_gguf_is(tmp_path: Path) -> None:
    folder = write_tiny_hf(tmp_path / "hf", script=(b"]", b"Y", b"e", b"s", b"\n"))
    with TextAsker(HFModel(folder, device="cpu", dtype="float32")) as asker:
        (said,) = asker.say(ASK, stop=["\n"], max_tokens=20, top_logprobs=2)
    assert (said.text, [token.text for token in said.tokens]) == ("[ANSWER]Yes", ["Y", "e", "s"])
    assert (said.tokens[0].top[0].text, said.tokens[0].top[0].logprob) == ("Y", pytest.approx(said.tokens[0].logprob, abs=1e-4))


@pytest.mark.parametrize("kind", ["vllm", "openai"])
def test_a_server_of_completions_is_asked_in_plain_text(kind: str) -> None:
    speech = Speech(kind=kind, token_names=kind == "vllm")
    with serving(speech) as address, TextAsker(RemoteModel(address)) as asker:
        (said,) = asker.say([Message("user", "x"), Message("assistant", "=")], stop=["\n"], max_tokens=9, top_logprobs=2)
        sent = [body for _, path, body in speech.asked if path == "/v1/completions" and body["stream"]][-1]
    assert said.text == "=abc"
    assert [token.text for token in said.tokens] == ["ab", "c"]
    assert said.tokens[0].logprob == pytest.approx(logprobs(ord("="))[AB])
    assert sent["prompt"] == ("x\n\n=" if kind == "openai" else list(b"x\n\n="))
    # Only a server that takes token ids tells the likeliest of them.
    assert len(said.tokens[0].top) == (2 if kind == "vllm" else 0)


def test_a_server_without_log_probabilities_answers_all_the_same() -> None:
    with serving(Speech(kind="tgi")) as address, TextAsker(RemoteModel(address)) as asker:
        (said,) = asker.say([Message("user", "x"), Message("assistant", "=")], stop=["\n"], max_tokens=9, top_logprobs=2)
    assert (said.text, said.logprobs) == ("=abc", None)
    assert not any(math.isnan(token.logprob) for token in said.tokens)

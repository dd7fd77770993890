"""Asking a model that only continues texts: real tiny models in this process, and a server of completions."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tiny_gguf import scripted, write_tiny_gguf
from tiny_models import OpenTiny, open_exact

from assay.inference.asking.asker import (
    Alternative,
    Message,
    Said,
    SaidToken,
    alternatives_behind,
    last_block,
    tokens_of,
    whole_characters,
)
from assay.inference.asking.prompts import load_prompt
from assay.inference.asking.text import TextAsker, as_text
from assay.inference.errors import BadPromptFile
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
        (short,) = asker.say(ASK, stop=["[/ANSWER]"], max_tokens=2)
    assert (short.text, short.stopped_by, last_block(short.text, "ANSWER")) == ("[ANSWER]Correct", StopReason.TOKENS, None)
    with judging(open_tiny, b"Cor", b"rect", b"<|endoftext|>") as asker:
        assert asker.say(ASK, stop=["[/ANSWER]"], max_tokens=20)[0].text == "[ANSWER]Correct[/ANSWER]", "it ended by itself"
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


def test_an_answer_is_the_same_whatever_is_asked_with_it_also_in_other_threads(sampling: TextAsker) -> None:
    together = sampling.say(ASK, n=4, temperature=1.0, max_tokens=12, seed=3, top_logprobs=2)
    alone = [sampling.say(ASK, temperature=1.0, max_tokens=12, seed=seed, top_logprobs=2)[0] for seed in range(3, 7)]
    assert [said.text for said in together] == [said.text for said in alone]
    assert len({said.text for said in together}) > 1
    for one, other in zip(together, alone, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-5)

    def ask(seed: int) -> Said:
        return sampling.say(ASK, temperature=1.0, max_tokens=8, seed=seed)[0]

    with ThreadPoolExecutor(8) as threads:
        at_once = list(threads.map(ask, range(16)))
    assert [said.text for said in at_once] == [ask(seed).text for seed in range(16)]


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


def test_the_last_complete_block_counts() -> None:
    assert last_block("[ANSWER]Correct[/ANSWER] or [ANSWER]\n Incorrect\n[/ANSWER]", "ANSWER") == "Incorrect"
    assert last_block("[ANSWER]Correct[/ANSWER] and then [ANSWER]Inco", "ANSWER") == "Correct"
    assert last_block("[ANSWER] I mean [ANSWER]Correct[/ANSWER]", "ANSWER") == "Correct"
    assert last_block("[ANSWER]a[/ANSWER] b[/ANSWER]", "ANSWER") == "a"
    assert last_block("[/ANSWER]a[ANSWER]", "ANSWER") is None
    assert last_block("[ANSWER]a[/THOUGHT]", "ANSWER") is None
    assert last_block("[A.B]x[/A.B] [AxB]y[/AxB]", "A.B") == "x"


def token(text: str, logprob: float = -1.0) -> SaidToken:
    return SaidToken(text, logprob, (Alternative(text, logprob),))


def told(text: str, tokens: Sequence[SaidToken], *, thought: bool = False) -> tuple[list[str], bool]:
    found, complete = tokens_of(text, tokens, thought=thought)
    return [one.text for one in found], complete


def test_the_tokens_of_a_text_are_those_that_write_it_and_those_left_out_at_the_end_are_missed() -> None:
    tokens = [token(text) for text in (" ", "Yes", "", "é", "[/A", "]", "<end>")]
    assert told("Yesé", tokens) == (["Yes", "", "é"], True)
    assert told("esé[", tokens[1:], thought=True) == (["Yes", "", "é", "[/A"], True)
    assert told("No", tokens) == told("é", tokens) == ([], True)
    assert told("Yes", [token("Yes", math.nan)]) == ([], True)
    tokens = [token(text) for text in ("\n", "Yes", "!")]
    assert told("Yes!?", tokens) == (["Yes", "!"], False)
    assert told("\nYes!?", tokens) == (["\n", "Yes", "!"], False)
    assert told("?", []) == ([], False)
    assert Said("Yes!?", StopReason.END, tuple(tokens[1:]), complete=False).logprobs is None
    assert whole_characters(["é".encode()[:1], "é".encode()[1:], b"a", b"\xff"]) == ["", "é", "a", "\ufffd"]


def test_the_alternatives_behind_a_tag_are_those_of_the_word_there() -> None:
    tokens = tuple(token(text) for text in ("[ANSWER", "]", "\n", "Cor", "rect"))
    said = Said("[ANSWER]\nCorrect", StopReason.END, tokens)
    assert alternatives_behind(said, "[ANSWER]") == (Alternative("Cor", -1.0),)
    given_first = Said("[ANSWER]Correct", StopReason.END, (token("Cor"), token("rect")), given=len("[ANSWER]"))
    assert alternatives_behind(given_first, "[ANSWER]") == (Alternative("Cor", -1.0),)
    assert alternatives_behind(said, "[THOUGHT]") == alternatives_behind(Said("[ANSWER]x", StopReason.END), "[ANSWER]") == ()
    assert alternatives_behind(Said("[ANSWER]Yes, no", StopReason.END, (token("no"),), given=13), "[ANSWER]") == ()


def test_a_prompt_is_its_messages_with_the_slots_filled(tmp_path: Path) -> None:
    prompt = load_prompt(JUDGE)
    messages = prompt.render(program="def f():\n    return {{program}}, {}")
    assert [message.role for message in messages] == ["system", *["user", "assistant"] * 3]
    assert messages[2] == Message("assistant", "[ANSWER]Correct[/ANSWER]")
    assert messages[-2].text == "[PYTHON]\ndef f():\n    return {{program}}, {}\n[/PYTHON]"
    assert (prompt.version, prompt.fingerprint) == (1, hashlib.sha256(JUDGE.read_bytes()).hexdigest())
    (tmp_path / "prompt.txt").write_bytes(JUDGE.read_bytes().replace(b"\n", b"\r\n"))
    assert load_prompt(tmp_path / "prompt.txt").messages == prompt.messages
    with pytest.raises(ValueError, match=r"slots \['code'\] were given, the prompt has \['program'\]"):
        load_prompt(JUDGE).render(code="")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("assay/prompt/2\nversion: 1\n=== user\nHi", "1: the first line is not"),
        ("assay/prompt/1\n=== user\nHi", '2: the second line is not "version: N"'),
        ("assay/prompt/1\nversion: 1\nHi\n=== user\nHi", "3: text before"),
        ("assay/prompt/1\nversion: 1\n=== robot\nHi", '3: "robot" is no role: system, user, assistant'),
        ("assay/prompt/1\nversion: 1\n=== system\n\n=== user\nHi", "3: the message is empty"),
        ("assay/prompt/1\nversion: 1\n=== system\nHi", "4: no message is the user's"),
    ],
)
def test_a_file_that_is_no_prompt_is_refused_with_its_line(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "prompt.txt"
    file.write_text(text)
    with pytest.raises(BadPromptFile) as refused:
        load_prompt(file)
    assert str(refused.value).startswith(f"{file}:{told}")


def test_a_file_that_is_not_there_or_no_text_is_refused(tmp_path: Path) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    for file in (binary, tmp_path / "missing", tmp_path):
        with pytest.raises(BadPromptFile, match="can't be read"):
            load_prompt(file)

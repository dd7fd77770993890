"""Asking by chat: servers of several kinds, seeds, stops, log-probabilities, threads, and what fails in which way."""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any, Literal

import pytest

from assay.inference.asking.asker import Alternative, Message, alternatives_behind, last_block
from assay.inference.asking.chat import ChatAsker
from assay.inference.errors import (
    SERVER_FAILURES,
    AnswerCutOff,
    BadAnswer,
    ModelClosed,
    ModelError,
    NoChat,
    NoSuchServedModel,
    RequestRefused,
    ServerBusy,
    ServerFailed,
    ServerTimedOut,
    ServerUnreachable,
)
from assay.inference.model import StopReason
from assay.inference.remote.http import Timeouts

from ..chat_server import ChatSpeech, chatting
from ..nonsense import with_one_part_changed

HELLO = [Message("user", "Hi")]
QUICK = Timeouts(connect=1.0, silence=1.0, total=5.0, retry=0.05, load=0.5)


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever asks again asks soon."""
    monkeypatch.setattr("assay.inference.asking.asker._FIRST_PAUSE_S", 0.01)


def open_chat(address: str, patience_s: float = 0.2, **options: Any) -> ChatAsker:
    return ChatAsker(address, timeouts=QUICK, patience_s=patience_s, **options)


def test_what_is_sent_is_the_messages_with_every_option() -> None:
    speech = ChatSpeech()
    with chatting(speech) as address, open_chat(address) as asker:
        speech.asked.clear()
        messages = [Message("system", "Be brief."), Message("user", "Hi"), Message("assistant", "[ANSWER]")]
        asker.say(messages, temperature=0.8, top_p=0.9, max_tokens=7, stop=["[/ANSWER]"], seed=3, top_logprobs=5)
    (sent,) = speech.chats
    # The beginning of the answer is the model's to write.
    assert sent["messages"] == [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    wanted = {"temperature": 0.8, "top_p": 0.9, "max_tokens": 7, "stop": ["[/ANSWER]"], "seed": 3, "logprobs": True, "top_logprobs": 5}
    neutral = {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0}  # vLLM's own defaults are switched off
    assert {**sent, **wanted, **neutral} == sent


def test_each_of_several_answers_is_asked_for_with_its_own_seed() -> None:
    speech = ChatSpeech(kind="ollama", reply=lambda body: [f"seed {body.get('seed')}"])
    with chatting(speech) as address, open_chat(address) as asker:
        three = asker.say(HELLO, n=3, temperature=1.0, seed=5)
        assert [said.text for said in three] == ["seed 5", "seed 6", "seed 7"]
        assert asker.say(HELLO, temperature=1.0, seed=7) == three[2:]
        speech.asked.clear()
        assert [said.text for said in asker.say(HELLO, n=3)] == ["seed None"] * 3
        assert len(speech.chats) == 1  # at temperature 0 all answers are one
        asker.say(HELLO, temperature=1.0, seed=(1 << 32) - 1)
        assert 0 <= speech.chats[-1]["seed"] < 1 << 31, "some servers take others for none"


def test_log_probabilities_and_alternatives_are_those_of_the_answers_tokens() -> None:
    speech = ChatSpeech(most_logprobs=5)
    with chatting(speech) as address, open_chat(address) as asker:
        (said,) = asker.say(HELLO, top_logprobs=2)
        assert ([token.text for token in said.tokens], said.logprobs) == (["Hello", " there"], (-0.5, -0.5))
        assert said.tokens[0].top == (Alternative("Hello", -0.5), Alternative("yes", -1.5))
        assert asker.say(HELLO)[0].tokens[0].top == ()
        assert asker.say(HELLO, top_logprobs=20)[0].logprobs is not None
        assert speech.chats[-1]["top_logprobs"] <= 5, "as many as the server gives"


def test_a_stop_ends_an_answer_and_the_block_that_it_closes_is_whole() -> None:
    speech = ChatSpeech(reply=lambda _: ["[ANSWER", "]", "Correct", "[/", "ANSWER]", " and more"])
    with chatting(speech) as address, open_chat(address) as asker:
        (said,) = asker.say(HELLO, stop=["[/ANSWER]"], top_logprobs=1)
        assert (said.text, said.stopped_by) == ("[ANSWER]Correct[/ANSWER]", StopReason.END)
        assert last_block(said.text, "ANSWER") == "Correct"
        assert alternatives_behind(said, "[ANSWER]") == (Alternative("Correct", -0.5),)
        assert [token.text for token in said.tokens] == ["[ANSWER", "]", "Correct"]
        (short,) = asker.say(HELLO, max_tokens=2, stop=["[/ANSWER]"])
        assert (short.text, short.stopped_by, last_block(short.text, "ANSWER")) == ("[ANSWER]", StopReason.TOKENS, None)


def test_what_a_server_keeps_apart_or_does_not_tell_is_left_out() -> None:
    speech = ChatSpeech(thought=["Hello", " is polite", "</think>"])
    with chatting(speech) as address, open_chat(address) as asker:
        (said,) = asker.say(HELLO)
        assert (said.text, [token.text for token in said.tokens]) == ("Hello there", ["Hello", " there"])
    with chatting(ChatSpeech(kind="ollama", tells=False)) as address, open_chat(address) as asker:
        (said,) = asker.say(HELLO, top_logprobs=5)
        assert (said.text, said.tokens, said.logprobs) == ("Hello there", (), None)
    with chatting(ChatSpeech(shaped=True)) as address, open_chat(address) as asker:
        assert asker.say(HELLO, temperature=0.5)[0].logprobs is None, "they depend on the temperature"


def test_of_several_models_one_is_named() -> None:
    speech = ChatSpeech(kind="ollama", models=("small:1b", "large:7b"), reply=lambda body: [body["model"]])
    with chatting(speech) as address:
        with pytest.raises(NoSuchServedModel, match="small:1b, large:7b"):
            open_chat(address)
        with open_chat(address, model="large:7b") as asker:
            assert (asker.name, asker.say(HELLO)[0].text) == ("large:7b", "large:7b")


def test_a_server_without_chat_and_a_model_without_a_chat_template_say_so() -> None:
    silent = ChatSpeech(kind="lmstudio", garble=lambda answer: answer if "data" in answer else {"error": "no chat"})
    with chatting(silent) as address, pytest.raises(NoChat, match=r"can't be asked in chat .* or ask in plain text"):
        open_chat(address)
    refusal = (400, {}, b'{"error": {"message": "you must provide a chat template", "code": 400}}')
    models = (200, {}, json.dumps({"data": [{"id": "base", "owned_by": "vllm"}]}).encode())
    missing = (404, {}, b"{}")
    with (
        chatting(ChatSpeech(fail=[models, missing, missing, missing, *[refusal] * 20])) as address,
        pytest.raises(NoChat, match="you must provide a chat template"),
    ):
        open_chat(address)


@pytest.mark.parametrize(
    "failure", [(503, {}, b'{"error": "not now"}'), (0, {}, b""), (200, {"Content_Length": "10000"}, b'{"choices": [')]
)
def test_a_failure_that_passes_is_asked_again(failure: tuple[int, dict[str, str], bytes]) -> None:
    speech = ChatSpeech()
    with chatting(speech) as address, open_chat(address, patience_s=10) as asker:
        speech.fail = [failure] * 2
        assert asker.say(HELLO)[0].text == "Hello there"
        assert not speech.fail


def test_a_server_that_says_when_to_come_back_is_asked_no_earlier() -> None:
    speech = ChatSpeech()
    with chatting(speech) as address, open_chat(address, patience_s=10) as asker:
        speech.fail = [(429, {"Retry_After": "1"}, b"{}")]
        began = time.monotonic()
        asker.say(HELLO)
        assert time.monotonic() - began >= 1


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        ((429, {}, b'{"error": "slow down"}'), ServerBusy),
        ((500, {}, b'{"error": {"message": "CUDA error"}}'), ServerFailed),
        ((200, {"Content_Length": "10000"}, b"{"), AnswerCutOff),
        ((200, {}, b'{"choices": [{"message": {"content": 7}}]}'), BadAnswer),
        ((200, {}, b"no json"), BadAnswer),
    ],
)
def test_a_failure_that_lasts_is_the_servers(failure: tuple[int, dict[str, str], bytes], error: type[ModelError]) -> None:
    speech = ChatSpeech()
    with chatting(speech) as address, open_chat(address) as asker:
        speech.fail = [failure] * 1000
        with pytest.raises(error) as lost:
            asker.say(HELLO)
        assert isinstance(lost.value, SERVER_FAILURES)
        assert address in str(lost.value)


def test_a_request_that_is_wrong_is_refused_at_once_and_is_not_the_servers_failure() -> None:
    speech = ChatSpeech()
    with chatting(speech) as address, open_chat(address, patience_s=60) as asker:
        speech.fail = [(400, {}, b'{"error": {"message": "maximum context length is 4096 tokens"}}')] * 2
        with pytest.raises(RequestRefused, match="maximum context length") as refused:
            asker.say(HELLO)
        assert not isinstance(refused.value, SERVER_FAILURES)
        assert len(speech.fail) == 1


def test_a_server_that_falls_silent_is_given_up_and_a_dead_one_is_unreachable() -> None:
    speech = ChatSpeech()
    with chatting(speech) as address:
        asker = open_chat(address)
        speech.gate = threading.Event()
        with pytest.raises(ServerTimedOut):
            asker.say(HELLO)
        speech.gate.set()
    speech.fail = [(0, {}, b"")]  # to the connection that is still open
    with asker, pytest.raises(ServerUnreachable):
        asker.say(HELLO)


def test_an_answer_that_is_too_long_is_not_taken_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.inference.asking.chat._MAX_ANSWER_BYTES", 10_000)
    speech = ChatSpeech()
    with chatting(speech) as address, open_chat(address) as asker:
        speech.reply = lambda _: ["x" * 9_000, "x" * 9_000]
        with pytest.raises(BadAnswer, match="more than 10,000 bytes"):
            asker.say(HELLO)


def test_many_threads_share_one_asker_and_no_more_requests_run_than_it_allows() -> None:
    speech = ChatSpeech(reply=lambda body: [body["messages"][0]["content"]], pause_s=0.01)
    with chatting(speech) as address, open_chat(address, at_once=3) as asker, ThreadPoolExecutor(16) as threads:
        speech.at_once = 0
        asked = [str(number) for number in range(40)]
        said = list(threads.map(lambda text: asker.say([Message("user", text)])[0].text, asked))
    assert said == asked
    assert 1 < speech.at_once <= 3


def test_closing_ends_the_calls_that_wait() -> None:
    speech = ChatSpeech()
    with chatting(speech) as address, ThreadPoolExecutor(2) as threads:
        asker = ChatAsker(address)
        speech.gate = threading.Event()
        waiting = [threads.submit(asker.say, HELLO) for _ in range(2)]
        while speech.running < 2:
            time.sleep(0.005)
        asker.close()
        for one in waiting:
            with pytest.raises(ModelClosed):
                one.result(timeout=10)
        speech.gate.set()
        with pytest.raises(ModelClosed):
            asker.say(HELLO)


def garbling(seed: int) -> Callable[[Any], Any]:
    chance, numbers = Random(seed), itertools.count()
    return lambda answer: with_one_part_changed(answer, chance) if next(numbers) % 2 else answer


@pytest.mark.slow
def test_nonsense_is_an_error_of_ours_or_does_no_harm() -> None:
    speech = ChatSpeech()
    with chatting(speech) as address, open_chat(address, patience_s=0.0) as asker:
        for seed in range(100):
            speech.garble = garbling(seed)
            with contextlib.suppress(ModelError):
                said = asker.say(HELLO, n=2, temperature=1.0, top_logprobs=3)
                assert all(logprob <= 0 for one in said for logprob in one.logprobs or ())


def test_what_nobody_can_be_asked_is_a_mistake_of_the_caller() -> None:
    wrong: list[dict[str, Any]] = [{"messages": []}, {"n": 0}, {"max_tokens": 0}, {"stop": [""]}, {"temperature": -1}]
    with chatting(ChatSpeech()) as address, open_chat(address) as asker:
        for options in wrong:
            with pytest.raises(ValueError):  # noqa: PT011
                asker.say(**{"messages": HELLO, **options})


@pytest.mark.parametrize(
    ("kind", "several", "requests"),
    [("vllm", "yes", 1), ("vllm", "ignored", 5), ("vllm", 400, 6), ("vllm", 500, 6), ("lmstudio", "yes", 5)],
)
def test_several_answers_are_one_request_where_the_server_can_and_the_same_where_it_can_not(
    kind: Literal["vllm", "lmstudio"], several: Literal["yes", "ignored", 400, 500], requests: int
) -> None:
    speech = ChatSpeech(kind=kind, several=several, reply=lambda body: [f"number {body.get('seed', 0)}"])
    with chatting(speech) as address, open_chat(address) as asker:
        speech.asked.clear()
        said = asker.say(HELLO, n=5, temperature=0.8, seed=7)
        assert [one.text for one in said] == [f"number {7 + number}" for number in range(5)]
        assert len(speech.chats) == requests
        speech.asked.clear()
        asker.say(HELLO, n=5, temperature=0.8, seed=7)
        assert len(speech.chats) == (1 if requests == 1 else 5), "what a server can't do is asked of it once"

"""Servers that leave things out, say nonsense, or stand behind a proxy: what is not known is said so, and no failure is without a name."""

from __future__ import annotations

import contextlib
import gc
import itertools
import logging
import math
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

from assay.calibration.measures.registry import measures_of
from assay.inference.errors import BadAnswer, ModelError, ServerBusy, Unavailable
from assay.inference.model import Prompt, StopReason
from assay.inference.remote.http import Connection, Timeouts, whole_lines
from assay.inference.remote.model import RemoteModel
from assay.inference.stopping.stop import LINE, NONE

from ..completion_server import MID, Speech, logprobs, serving
from ..nonsense import with_one_part_changed

QUICK = Timeouts(connect=1.0, silence=1.0, total=5.0, retry=0.5, load=0.5)


def garbling(seed: int, which: int) -> Callable[[Any], Any]:
    """Changes one part of the answer of this number, counted from 0."""
    chance, numbers = Random(seed), itertools.count()
    return lambda answer: with_one_part_changed(answer, chance) if next(numbers) == which else answer


@pytest.mark.slow
def test_nonsense_while_a_model_is_opened_is_an_error_of_ours_or_does_no_harm() -> None:
    speech = Speech()
    with serving(speech) as address:
        for seed in range(10):
            speech.garble = garbling(seed, which=Random(seed).choice([0, 1, 5, *range(48, 60)]))
            with contextlib.suppress(ModelError), RemoteModel(address, timeouts=QUICK) as model:
                assert model.generate(model.fim("x", "y"), stop=LINE, max_tokens=2).tokens


@pytest.mark.slow
def test_nonsense_from_an_open_model_is_an_error_of_ours_or_does_no_harm() -> None:
    speech = Speech()
    with serving(speech) as address, RemoteModel(address, timeouts=QUICK) as model:
        prompt = model.fim("x", "y")
        questions: list[Callable[[], Sequence[float]]] = [
            lambda: [token.logprob for token in model.generate(prompt, stop=LINE, max_tokens=5).tokens],
            lambda: model.score(prompt, [97, 98]),
            lambda: model.next_token_logprobs(prompt, ["a", "z"]),
            lambda: [one.tokens[0].logprob for one in model.alternatives(prompt, 2, stop=LINE, max_tokens=2)],
        ]
        for seed, ask in itertools.product(range(30), questions):
            speech.garble = garbling(seed, which=seed % 3)
            with contextlib.suppress(ModelError):
                assert all(math.isnan(logprob) or logprob <= 0 for logprob in ask())
        speech.garble = None
        assert model.generate(prompt, stop=LINE, max_tokens=9).text == "abc"


def test_json_that_is_nested_too_deep_is_no_json() -> None:
    deep = b"[" * 200_000
    speech = Speech()
    with serving(speech) as address, RemoteModel(address, timeouts=QUICK) as model:
        speech.fail.append((200, {}, deep))
        with pytest.raises(BadAnswer, match="not JSON"):
            model.tokenize("one")
        speech.fail.append((400, {}, deep))
        with pytest.raises(ModelError):
            model.tokenize("two")
        speech.fail.append((200, {"Content_Type": "text/event-stream"}, b"data: " + deep + b"\n\n"))
        with pytest.raises(BadAnswer, match="not JSON"):
            model.generate(model.fim("x", ""), stop=LINE, max_tokens=3)


@pytest.mark.parametrize("kind", ["vllm", "openai"])
@pytest.mark.parametrize("bundle", [4])
def test_an_end_whose_token_is_not_told_has_no_log_probability(kind: str, bundle: int) -> None:
    known, untold = Speech(kind=kind, bundle=bundle, token_names=kind == "vllm"), Speech(kind=kind, bundle=bundle, tells_end=False)
    for speech in (known, untold):
        with serving(speech) as address, RemoteModel(address, layout="left_to_right") as model:
            generation = model.generate(model.fim("x!", ""), stop=NONE, max_tokens=5)
            assert (generation.text, generation.stopped_by, len(generation.tokens)) == ("", StopReason.END, 1)
            assert math.isnan(generation.tokens[0].logprob) == (not speech.tells_end)
            assert ("total_logprob" in measures_of(generation)) == speech.tells_end


@pytest.mark.slow
def test_a_token_keeps_its_space_where_the_server_takes_it_from_a_text() -> None:
    for speech in (Speech(strips_space=True), Speech(strips_space=True, bundle=3)):
        with serving(speech) as address, RemoteModel(address, layout="left_to_right") as model:
            (one,) = model.alternatives(model.fim("?", ""), 1, stop=LINE, max_tokens=9)
            alone = model.generate(model.fim("?", ""), stop=LINE, max_tokens=9)
            assert [token.text for token in one.tokens] == [token.text for token in alone.tokens] == [b" ", b"a", b"b", b"c", b"\n"]


def test_a_proxy_that_answers_with_pages_hides_no_server_and_is_asked_again_not_too_often() -> None:
    with serving(Speech(kind="openai", page_for_unknown=True, token_names=False)) as address, RemoteModel(address) as model:
        assert model.generate(model.fim("x", ""), stop=LINE, max_tokens=9).tokens[0].logprob == pytest.approx(max(logprobs(MID)))
        with pytest.raises(Unavailable, match="token ids"):
            model.generate(Prompt((97,), "left_to_right"), stop=LINE, max_tokens=1)
    page = (502, {"Content_Type": "text/html", "Retry_After": "0"}, b"<html><h1>502 Bad Gateway</h1></html>")
    speech = Speech(fail=[page, page])
    with serving(speech) as address:
        RemoteModel(address).close()
        speech.fail = [page] * 1000
        with pytest.raises(ServerBusy, match="HTTP 502: Bad Gateway"):
            RemoteModel(address, timeouts=QUICK)
        assert len(speech.fail) > 990


@pytest.mark.slow
def test_nothing_is_left_running_when_a_model_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    with serving(Speech(pause_s=0.05)) as address:
        model = RemoteModel(address)
        connection: Connection = model._connection
        begun = [connection._start(connection._json("POST", "/v1/completions", {"prompt": "x"}, None)) for _ in range(3)]
        streams = connection.stream("/v1/completions", [{"prompt": [1], "max_tokens": 90, "stream": True, "temperature": 0}] * 3)
        time.sleep(0.1)
        streams.end(0)
        with caplog.at_level(logging.ERROR):
            model.close()
            gc.collect()
        assert all(future.done() for future in [*begun, *streams._futures])
        assert caplog.text == ""


def test_an_endless_line_is_taken_in_at_the_speed_it_comes() -> None:
    rest, began = bytearray(), time.thread_time()
    for _ in range(100_000):
        whole_lines(rest, b"x" * 16)
    assert time.thread_time() - began < 2

"""The server backend against servers that speak as documented, and against everything that goes wrong."""

from __future__ import annotations

import json
import logging
import math
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from llama_server import free_port

from assay.inference.errors import (
    AccessRefused,
    AnswerCutOff,
    BadAnswer,
    BadServerAddress,
    ContextTooLong,
    ModelError,
    NoSuchEndpoint,
    NoSuchServedModel,
    NotACompletionServer,
    RequestRefused,
    ServerBusy,
    ServerTimedOut,
    ServerUnreachable,
    Unavailable,
    UnreadableKey,
)
from assay.inference.model import Capabilities, Prompt, StopReason
from assay.inference.remote.address import find_key, is_loopback, read_key, server_address
from assay.inference.remote.http import Connection, Timeouts
from assay.inference.remote.model import RemoteModel
from assay.inference.remote.tokenizer import estimated_tokens
from assay.inference.stopping.stop import LINE, NONE

from ..completion_server import MID, NAME, PRE, SUF, Speech, encode, logprobs, serving

QUICK = Timeouts(connect=1.0, silence=1.0, total=5.0, retry=0.5, load=1.0)


def test_vllm_is_recognised_and_asked_for_all_it_has() -> None:
    with serving(Speech()) as address, RemoteModel(address) as model:
        assert model.capabilities == Capabilities(entropy=False, memory=False)
        assert (model.layout, model.context_length, model.served.runtime) == ("anchored", 500, "vllm 0.11.0")
        assert model.fim("ab\nd", "c") == Prompt((PRE, *encode("ab\n"), SUF, *encode("c"), MID), "anchored", held="d")
        prompt = model.fim("ab\n", "c")
        generation = model.generate(prompt, stop=NONE, max_tokens=6)
        assert (generation.text, generation.stopped_by) == ("abc\nab", StopReason.TOKENS)
        before = [ord("\n"), *(token.id for token in generation.tokens)]
        for last, token in zip(before, generation.tokens, strict=False):
            row = sorted(logprobs(last))
            assert (token.logprob, token.best_other_logprob) == pytest.approx((row[-1], row[-2]))
            assert token.entropy is None
        text = "x = '<|fim_middle|>' + <b> + '<|endoftext|>'"
        assert model.tokenize(text) == [ord(c) for c in text], "the spelling of a control token stays text"
        assert model.count_tokens(text) == len(text)
        with pytest.raises(ContextTooLong):
            model.generate(model.fim("x" * 600, ""), stop=LINE, max_tokens=1)


def test_any_token_is_scored_though_few_are_told_of_and_alternatives_begin_with_the_likeliest() -> None:
    with serving(Speech()) as address, RemoteModel(address) as model:
        prompt = model.fim("ab", "")
        given = encode("xyz")
        expected = [logprobs(last)[token] for last, token in zip([MID, *given], given, strict=False)]
        assert model.score(prompt, given) == pytest.approx(expected)
        room = model.context_length - len(prompt.tokens)
        assert len(model.score(prompt, [97] * (room - 1))) == room - 1
        with pytest.raises(ContextTooLong):
            model.score(prompt, [97] * room)
        assert model.next_token_logprobs(prompt, ["zebra", "a"]) == pytest.approx([logprobs(MID)[ord("z")], logprobs(MID)[ord("a")]])
        answers = model.alternatives(
            model.fim("", ""), 3, stop=LINE, max_tokens=8, on_token=lambda number, _, text: number == 1 and len(text) == 2
        )
        assert [answer.text for answer in answers] == ["abc", "bc", "c"]
        assert answers[1].stopped_by is StopReason.CALLER
        assert [answer.tokens[0].logprob for answer in answers] == pytest.approx(sorted(logprobs(MID))[:-4:-1])


@pytest.mark.parametrize("bundle", [1, 3])
@pytest.mark.parametrize("token_names", [False, True])
def test_the_line_ends_where_it_does_though_tokens_come_together(bundle: int, token_names: bool) -> None:
    with serving(Speech(bundle=bundle, token_names=token_names)) as address, RemoteModel(address) as model:
        generation = model.generate(model.fim("x", ""), stop=LINE, max_tokens=30)
        assert (generation.text, generation.stopped_by, len(generation.tokens)) == ("abc", StopReason.LINE, 4)


def test_what_a_server_reports_shaped_is_asked_for_at_temperature_1_only() -> None:
    with serving(Speech(processed=True)) as address, RemoteModel(address) as model:
        prompt = model.fim("", "")
        assert model.generate(prompt, stop=LINE, max_tokens=2, temperature=1.0).text
        assert model.generate(prompt, stop=LINE, max_tokens=2).text
        for temperature, top_p in ((0.5, 1.0), (1.0, 0.9)):
            with pytest.raises(Unavailable, match="temperature"):
                model.generate(prompt, stop=LINE, max_tokens=2, temperature=temperature, top_p=top_p)


def test_tgi_is_asked_in_text_and_gives_no_log_probabilities() -> None:
    with serving(Speech(kind="tgi")) as address, RemoteModel(address) as model:
        assert model.capabilities == Capabilities(
            logprobs=False,
            best_other=False,
            entropy=False,
            score=False,
            next_token=False,
            tokenize=False,
            files=True,
            heals=False,
            memory=False,
            replay=False,
        )
        assert model.context_length == 2048
        prompt = model.fim("x", "y")
        assert prompt == Prompt((), "anchored", ("x", "y"), begun=1)
        generation = model.generate(prompt, stop=LINE, max_tokens=9)
        assert (generation.text, generation.stopped_by) == ("abc", StopReason.LINE)
        assert all(math.isnan(token.logprob) and token.best_other_logprob is None and token.id == -1 for token in generation.tokens)
        for ask in (lambda: model.score(prompt, [97]), lambda: model.next_token_logprobs(prompt, ["a"])):
            with pytest.raises(Unavailable, match="log-probabilities"):
                ask()
        with pytest.raises(Unavailable, match=r"<\|fim_suffix\|>"):
            model.fim("a <|fim_suffix|>", "")


def test_another_server_is_asked_with_no_more_than_openai_documents() -> None:
    with serving(Speech(kind="openai", most_logprobs=5, token_names=False)) as address, RemoteModel(address, context_length=64) as model:
        assert model.capabilities == Capabilities(
            entropy=False, score=False, next_token=False, tokenize=False, files=True, heals=False, memory=False, replay=False
        )
        assert (model.layout, model.context_length) == ("anchored", 64)
        generation = model.generate(model.fim("x", "y"), stop=LINE, max_tokens=9)
        assert generation.text == "abc"
        row = sorted(logprobs(MID))
        assert (generation.tokens[0].logprob, generation.tokens[0].best_other_logprob) == pytest.approx((row[-1], row[-2]))
        assert model.count_tokens("x = 1\n") == estimated_tokens("x = 1\n") == 3
        with pytest.raises(Unavailable, match="token ids"):
            model.tokenize("x")


@pytest.mark.slow
def test_cancel_and_time_end_what_a_silent_server_was_asked() -> None:
    says_on = threading.Event()
    speech = Speech(silent_until=says_on, pause_s=0.5)  # between its words: then the connection is closed
    with serving(speech) as address, RemoteModel(address) as model:
        prompt = model.fim("", "")
        for options, reason in (({"max_ms": 50.0}, StopReason.TIME), ({"cancel": asked_after(0.05)}, StopReason.CANCELLED)):
            assert model.generate(prompt, stop=NONE, max_tokens=50, **options).stopped_by == reason  # type: ignore[arg-type]
        says_on.set()
        assert speech.broken_off.wait(30)


def asked_after(seconds: float):  # noqa: ANN201
    over = time.perf_counter() + seconds
    return lambda: time.perf_counter() > over


def opened(fail: list[tuple[int, dict[str, str], bytes]], **speech: object) -> None:
    with serving(Speech(fail=fail, **speech)) as address:  # type: ignore[arg-type]
        RemoteModel(address, timeouts=QUICK).close()


@pytest.mark.parametrize(
    ("fail", "error", "said"),
    [
        ((200, {"Content_Type": "text/html"}, b"<html>hello</html>"), NotACompletionServer, "web page"),
        ((200, {}, b"[1, 2"), BadAnswer, "not JSON"),
        ((200, {}, b"[1, 2]"), NotACompletionServer, "no list of models"),
        ((200, {}, b'{"data": []}'), NoSuchServedModel, "no model is there"),
        ((200, {}, b'{"data": [{"id": "one"}, {"id": "two"}]}'), NoSuchServedModel, "--server-model .*: one, two"),
        ((302, {"Location": "http://elsewhere.example/"}, b""), NotACompletionServer, "elsewhere.example"),
        ((401, {}, b"{}"), AccessRefused, "ASSAY_API_KEY"),
        ((400, {}, b'{"error": {"message": "no such thing"}}'), RequestRefused, "no such thing"),
        ((200, {"Content_Length": "10000"}, b'{"data'), AnswerCutOff, "cut off"),
    ],
)
def test_each_failure_of_opening_says_what_it_is(fail: tuple[int, dict[str, str], bytes], error: type[ModelError], said: str) -> None:
    with pytest.raises(error, match=said):
        opened([fail])


@pytest.mark.slow
def test_a_server_that_loads_or_is_busy_is_asked_again() -> None:
    loading = (503, {}, b'{"error": {"message": "Loading model", "code": 503}}')
    opened([(0, {}, b""), loading])
    opened([(429, {"Retry_After": "0"}, b"{}")])
    with pytest.raises(ServerBusy, match="Loading model"):
        opened([loading] * 50)
    # it would be answered if it were asked again
    with pytest.raises(ServerBusy):
        opened([(429, {"Retry_After": "3600"}, b"{}")])


def test_a_model_that_is_not_there_and_a_server_without_completions() -> None:
    with serving(Speech()) as address:
        with pytest.raises(NoSuchServedModel, match=NAME):
            RemoteModel(address, model="gpt-5")
        RemoteModel(f"{address}/v1/", model=NAME).close()
        with pytest.raises(NoSuchEndpoint, match="/v1/completions"):
            RemoteModel(f"{address}/somewhere", timeouts=QUICK)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fail", "error"),
    [
        ((200, {"Content_Type": "text/event-stream"}, b"data: {]\n\n"), BadAnswer),
        ((200, {"Content_Type": "text/event-stream"}, b'data: {"choices": [{"logprobs": {"tokens": ["a"]}}]}\n\n'), BadAnswer),
        ((200, {"Content_Type": "text/event-stream"}, b'data: {"error": {"message": "CUDA", "code": 500}}\n\n'), RequestRefused),
        ((200, {"Content_Type": "text/event-stream"}, b"data: [DONE]\n\n"), AnswerCutOff),
        ((200, {"Content_Type": "text/html"}, b"<html>"), NotACompletionServer),
    ],
)
def test_each_failure_of_a_stream_says_what_it_is(fail: tuple[int, dict[str, str], bytes], error: type[ModelError]) -> None:
    speech = Speech()
    with serving(speech) as address, RemoteModel(address, timeouts=QUICK) as model:
        prompt = model.fim("", "")
        speech.fail.append(fail)
        with pytest.raises(error, match=address):
            model.generate(prompt, stop=LINE, max_tokens=3)
        assert model.generate(prompt, stop=LINE, max_tokens=3).text == "abc"


def test_nothing_is_asked_again_once_a_token_has_come() -> None:
    speech = Speech()
    with serving(speech) as address, RemoteModel(address, timeouts=QUICK) as model:
        prompt = model.fim("", "")
        speech.cut_after = 2
        speech.asked.clear()
        with pytest.raises(AnswerCutOff):
            model.generate(prompt, stop=LINE, max_tokens=4)
        assert len(speech.asked) == 1


@pytest.mark.slow
def test_a_server_that_falls_silent_is_given_up() -> None:
    speech, says_on = Speech(), threading.Event()
    with serving(speech) as address, RemoteModel(address, timeouts=Timeouts(silence=1)) as model:
        prompt = model.fim("x", "")
        speech.silent_until = says_on
        with pytest.raises(ServerTimedOut, match="1 s"):
            model.generate(prompt, stop=LINE, max_tokens=4)
        says_on.set()


@pytest.mark.slow
def test_a_server_that_drips_is_given_up_when_the_time_of_a_request_is_over() -> None:
    speech = Speech()
    with serving(speech) as address, RemoteModel(address, timeouts=Timeouts(total=2)) as model:
        prompt = model.fim("x", "")
        speech.pause_s = 0.1
        with pytest.raises(ServerTimedOut, match=r"not done within 2 s"):
            model.generate(prompt, stop=NONE, max_tokens=40)
        speech.pause_s = 0.0
        assert model.generate(prompt, stop=LINE, max_tokens=4).text == "abc"


def test_the_key_goes_to_its_server_and_nowhere_else(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    speech, elsewhere = Speech(key="k3y-of-mine"), Speech()
    (tmp_path / "key").write_text("k3y-of-mine\n")
    with serving(elsewhere) as other, serving(speech) as address:
        with RemoteModel(address, key=read_key(tmp_path / "key")) as model:
            assert model.warnings == ()
            assert {headers.get("Authorization") for headers in speech.headers} == {"Bearer k3y-of-mine"}
            speech.fail.append((307, {"Location": other}, b""))
            with pytest.raises(NotACompletionServer, match="redirects to"):
                model.tokenize("somewhere else")
            speech.fail.append((400, {}, json.dumps({"error": "you sent k3y-of-mine"}).encode()))
            with pytest.raises(RequestRefused) as refused:
                model.tokenize("said back")
        shown = str(refused.value) + repr(refused.value) + repr(model) + repr(vars(model)) + repr(vars(model._connection)) + caplog.text
        assert "k3y" not in shown
        assert elsewhere.headers == []
        with pytest.raises(AccessRefused) as denied:
            RemoteModel(address, key="wr0ng")
        assert "wr0ng" not in str(denied.value)


def test_where_a_key_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine, url = str(tmp_path / "key"), "https://a.example/v1"
    assert find_key(url, {}) is None
    for address, warned in (("http://gpu.example", True), ("https://gpu.example", False), ("http://localhost:1", False)):
        connection = Connection(address, "k", QUICK)
        assert bool(connection.warnings) == warned, "a key would go in the clear"
        connection.close()
    monkeypatch.setenv("ASSAY_API_KEY", "from-environment")
    (tmp_path / "key").write_text("from-file\n")
    assert find_key(url, {}) == "from-environment"
    assert find_key(url, {"": mine}) == find_key(url, {"https://A.example:443": mine, "": ""}) == "from-file"
    for other in ("http://a.example", "https://a.example:8443", "https://b.a.example", "https://a.example.org"):
        assert find_key(other, {"https://a.example": mine, "": ""}) is None
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "lines").write_text("one\ntwo")
    (tmp_path / "device").symlink_to("/dev/zero")
    for name in ("missing", "empty", "lines", "device"):
        with pytest.raises(UnreadableKey, match=name):
            read_key(tmp_path / name)


@pytest.mark.parametrize("url", ["", "gpu:8000", "ftp://gpu", "http://me:secret@gpu", "http://gpu:99999"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(BadServerAddress) as refused:
        server_address(url)
    assert "secret" not in str(refused.value)
    assert server_address("https://host/team/v1") == "https://host/team"
    assert server_address("http://gpu:8000/v1/completions") == "http://gpu:8000"


def test_the_loopback_is_never_asked_through_a_proxy_and_one_that_can_not_be_used_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{free_port()}")
    with serving(Speech()) as address:
        RemoteModel(address).close()
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.setenv(name, "nonsense://proxy")
    with pytest.raises(ServerUnreachable, match="proxy"):
        Connection("http://gpu.example", None, QUICK)
    assert [is_loopback(host) for host in ("127.0.0.9", "::1", "localhost", "10.0.0.1", "gpu")] == [True, True, True, False, False]


@pytest.mark.slow
def test_without_httpx_the_way_to_get_it_is_said() -> None:
    code = "import sys; sys.modules['httpx'] = None; from assay.inference.opening import open_model; open_model('http://localhost:1')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "PackageMissing" in done.stderr
    assert "pip install 'httpx>=0.27'" in done.stderr

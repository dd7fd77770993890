"""A llama-server with several models is told in each request which is meant, and what it says of a refusal is passed on.

Its router takes the model's name from the body of a POST and from the address of a GET (llama.cpp tools/server/README.md, "Using multiple
models"; README-dev.md, "Router mode"): without one it answers "model name is missing from the request".
"""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from assay.inference.asking.asker import Message
from assay.inference.asking.chat import ChatAsker
from assay.inference.errors import RequestRefused
from assay.inference.found.servers import served_models
from assay.inference.remote.model import RemoteModel
from assay.inference.stopping.stop import LINE

from ..completion_server import Handler, Speech, encode, generated, logprobs, serving, text_of

CODER, OTHER = "org/Qwen2.5-Coder-GGUF:Q8_0", "models/gemma-3-4b.gguf"


class Router(Handler):
    """The router, and behind it two models that it loads when they are asked for."""

    loaded: set[str]
    can_load = True

    def answer(self, body: dict[str, Any]) -> None:
        speech, asked = self.speech, urlsplit(self.path)
        speech.asked.append((self.command, self.path, body))
        query = {name: values[0] for name, values in parse_qs(asked.query).items()}
        named = body.get("model") if self.command == "POST" else query.get("model")
        if asked.path == "/v1/models":
            return self.send_json({"data": [self.entry(name) for name in (CODER, OTHER)]})
        if asked.path == "/props" and named is None:
            return self.send_json({"role": "router", "model_path": "none", "default_generation_settings": {"params": None, "n_ctx": 0}})
        if not named:
            return self.refuse(400, "model name is missing from the request")
        if named not in (CODER, OTHER):
            return self.refuse(400, f"model '{named}' not found")
        if named not in self.loaded:
            if query.get("autoload") == "false":
                return self.refuse(400, "model is not loaded")
            if not self.can_load:
                return self.refuse(500, f"model name={named} failed to load")
            self.loaded.add(named)
        known = {"/props": self.props, "/tokenize": self.tokenize, "/detokenize": self.pieces, "/completion": self.complete}
        if asked.path == "/v1/chat/completions":
            return self.send_json({"choices": [{"message": {"content": str(body["model"])}, "finish_reason": "stop"}]})
        if asked.path not in known:
            return self.refuse(404, "File Not Found")
        if (answer := known[asked.path](body)) is not None:
            self.send_json(answer)
        return None

    def refuse(self, status: int, message: str) -> None:
        self.send_json({"error": {"code": status, "message": message, "type": "invalid_request_error"}}, status)

    def entry(self, name: str) -> dict[str, Any]:
        meta = {"meta": {"n_vocab": 128, "n_params": 7_000, "ftype": "Q8_0"}} if name in self.loaded else {}
        return {"id": name, "object": "model", "owned_by": "llamacpp", "status": {"value": "loaded" if meta else "unloaded"}, **meta}

    def props(self, _: dict[str, Any]) -> object:
        return {"default_generation_settings": {"n_ctx": 400}, "eos_token": "<|endoftext|>", "build_info": "b7300", "chat_template": "x"}

    def tokenize(self, body: dict[str, Any]) -> object:
        text = body["content"]
        if isinstance(text, list):
            return {"tokens": [{"id": number, "piece": text_of(number)} for number in encode("".join(text))]}
        return {"tokens": encode(text) if body["parse_special"] else [ord(character) % 128 for character in text]}

    def pieces(self, body: dict[str, Any]) -> object:
        return {"content": "".join(map(text_of, body["tokens"]))}

    def complete(self, body: dict[str, Any]) -> object | None:
        if body.get("grammar"):
            return {"content": "", "completion_probabilities": []}
        before = body["prompt"]
        tokens = list(generated(before, body["n_predict"]))
        told = [self.told(last, token, body["n_probs"]) for last, token in zip([*before, *tokens][len(before) - 1 :], tokens, strict=False)]
        if not body["stream"]:
            return {"content": "".join(map(text_of, tokens)), "completion_probabilities": told}
        self.begin_stream("text/event-stream")
        for count, entry in enumerate(told, 1):
            event = {"content": entry["token"], "tokens_predicted": count, "stop": False, "completion_probabilities": [entry]}
            self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
        end = {"content": "", "stop": True, "stop_type": "limit", "tokens_predicted": len(told)}
        self.wfile.write(b"data: " + json.dumps(end).encode() + b"\n\n")
        return None

    def told(self, last: int, token: int, top: int) -> dict[str, Any]:
        row = logprobs(last)
        likely = sorted(range(128), key=lambda number: -row[number])[:top]
        each = [{"id": n, "token": text_of(n), "bytes": list(text_of(n).encode()), "logprob": row[n]} for n in likely]
        return {"id": token, "token": text_of(token), "bytes": list(text_of(token).encode()), "logprob": row[token], "top_logprobs": each}


def a_router(*, can_load: bool = True) -> type[Router]:
    return type("ARouter", (Router,), {"loaded": set(), "can_load": can_load})


@pytest.mark.parametrize("name", [CODER, OTHER])
def test_each_request_names_the_model(name: str) -> None:
    speech = Speech()
    with serving(speech, handler=a_router()) as address, RemoteModel(address, model=name) as model:
        assert (model.context_length, model.fingerprint.parameters, model.fingerprint.quantisation) == (400, 7_000, "Q8_0")
        generation = model.generate(model.fim("x", "\n"), stop=LINE, max_tokens=8)
        assert (generation.text, model.layout, model.count_tokens("ab\n")) == ("abc", "anchored", 3)
        assert model.way == "/completion of llama-server: token ids, laid out for qwen2.5-coder"
    posts = [body for method, _, body in speech.asked if method == "POST"]
    assert {body.get("model") for body in posts} == {name}
    assert {path for _, path, _ in speech.asked} >= {"/tokenize", "/completion", "/detokenize"}
    with serving(speech, handler=a_router()) as address, ChatAsker(address, model=name) as asker:
        assert asker.say([Message("user", "hello")])[0].text == name


def test_a_refusal_of_the_router_or_of_the_tokenizer_is_told_in_the_servers_words() -> None:
    said = r"HTTP 500: model name=org/Qwen2\.5-Coder-GGUF:Q8_0 failed to load"
    with serving(Speech(), handler=a_router(can_load=False)) as address, pytest.raises(RequestRefused, match=said):
        RemoteModel(address, model=CODER)

    class Refuses(a_router()):  # type: ignore[misc]
        def tokenize(self, _: dict[str, Any]) -> object | None:
            return self.refuse(400, "the vocabulary is not there")

    with serving(Speech(), handler=Refuses) as address, pytest.raises(RequestRefused, match="the vocabulary is not there"):
        RemoteModel(address, model=CODER)


def test_a_list_of_models_loads_none() -> None:
    server = a_router()
    with serving(Speech(), handler=server) as address:
        port = urlsplit(address).port or 0
        found = served_models([], [("llama-server", port)])
        assert [(model.server_model, model.fingerprint) for model in found] == [(CODER, ""), (OTHER, "")]
        assert server.loaded == set()
        with RemoteModel(address, model=CODER) as model:
            coder, other = served_models([], [("llama-server", port)])
            assert (coder.fingerprint, other.fingerprint) == (model.fingerprint.id, "")


def test_a_router_that_passes_no_question_about_a_model_on_is_asked_as_any_server() -> None:
    class Bare(a_router()):  # type: ignore[misc]
        def answer(self, body: dict[str, Any]) -> None:
            if self.path == "/v1/completions":
                assert body["model"] == CODER
                return self.send_json({"choices": [{"text": "a", "finish_reason": "length"}]})
            return super().answer(body) if self.path in ("/v1/models", "/props") else self.refuse(404, "File Not Found")

    with serving(Speech(), handler=Bare) as address, RemoteModel(address, model=CODER) as model:
        assert model.served.kind == "openai"

"""A small HTTP server that speaks as vLLM, TGI or OpenAI do, over a distribution that a test can compute itself.

Written from vLLM's vllm/entrypoints/openai/completion/{protocol,serving}.py, TGI's router/src/{lib,server}.rs and OpenAI's reference of
`/v1/completions`. A token is an ASCII character, its id the character's code; below 4 are control tokens. Token 4 is "ab", which no text is
cut into, but which a model may write.
"""

from __future__ import annotations

import json
import math
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any, Literal

END, PRE, SUF, MID = 0, 1, 2, 3
CONTROL = {"<|endoftext|>": END, "<|fim_prefix|>": PRE, "<|fim_suffix|>": SUF, "<|fim_middle|>": MID}
SPELLING = {number: spelling for spelling, number in CONTROL.items()}
AB = 4
ANYTHING = r"(.|\n)*"
NAME = "acme/Qwen2.5-Coder-tiny"
# What is most likely behind each character; "!" is followed by the end.
FOLLOWS = {"a": "b", chr(AB): "c", "b": "c", "c": "\n", "\n": "a", "!": None, "?": " ", "=": chr(AB), chr(MID): "a"}


def logprobs(last: int, temperature: float = 1.0) -> list[float]:
    """log p of every id behind a token, at a temperature."""
    following = FOLLOWS.get(chr(last), "a")
    best = END if following is None else ord(following)
    logits = [-0.25 * ((number - best) % 128) / temperature for number in range(128)]
    total = math.log(sum(math.exp(logit) for logit in logits))
    return [logit - total for logit in logits]


def text_of(number: int) -> str:
    """The text of a token; none for a control token."""
    return "ab" if number == AB else "" if number in SPELLING else chr(number)


def agreeing(held: str) -> list[int]:
    """The tokens that may be next where this text must be written."""
    texts = [(number, text_of(number)) for number in range(128)]
    return [number for number, text in texts if text and (held.startswith(text) or text.startswith(held))]


def encode(text: str) -> list[int]:
    """As a tokenizer of Hugging Face does it: the spelling of a control token becomes the token."""
    parts = re.split("(" + "|".join(map(re.escape, CONTROL)) + ")", text)
    return [number for part in parts for number in ([CONTROL[part]] if part in CONTROL else [ord(c) % 128 for c in part])]


@dataclass
class Speech:
    """How a server speaks, and what it was asked. fail: answers given instead, in turn: (status, headers, body).

    tells_end: whether the token that ends a text is in its log-probabilities; page_for_unknown: paths that it does not have are answered
    with a web page; strips_space: the first token of what it detokenizes loses its space; garble: what is made of each answer before it
    is sent; silent_until: nothing is told of a completion before that; guides: the field by which it is held to a regular expression, as
    vLLM's versions have it; masks_first: whether log-probabilities are then among what agrees.
    """

    kind: str = "vllm"
    processed: bool = False
    key: str | None = None
    token_names: bool = True
    scoring: bool = True
    most_logprobs: int = 20
    pause_s: float = 0.0
    silent_until: threading.Event | None = None
    cut_after: int | None = None
    bundle: int = 1
    tells_end: bool = True
    guides: Literal["structured_outputs", "guided_regex"] | None = "structured_outputs"
    masks_first: bool = True
    page_for_unknown: bool = False
    strips_space: bool = False
    garble: Callable[[Any], Any] | None = None
    fail: list[tuple[int, dict[str, str], bytes]] = field(default_factory=list)
    asked: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    broken_off: threading.Event = field(default_factory=threading.Event)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    speech: Speech

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self.answer({})

    def do_POST(self) -> None:
        self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def answer(self, body: dict[str, Any]) -> None:
        speech = self.speech
        speech.asked.append((self.command, self.path, body))
        speech.headers.append(dict(self.headers))
        if speech.fail:
            status, headers, data = speech.fail.pop(0)
            self.close_connection = "Content_Length" in headers
            if status == 0:
                self.close_connection = True
                self.connection.close()
                return
            self.send(status, data, **headers)
            return
        if speech.key and self.headers.get("Authorization") != f"Bearer {speech.key}":
            self.send_json({"error": {"message": f"wrong key {self.headers.get('Authorization')}"}}, 401)
            return
        known = self.paths()
        if speech.kind == "vllm":
            known |= {"/tokenize": self.tokenize, "/detokenize": self.detokenize, "/version": lambda _: {"version": "0.11.0"}}
        if speech.kind == "tgi":
            known |= {"/tokenize": lambda _: self.send_json({"error": "missing field `inputs`"}, 422)}
        if self.path not in known:
            if speech.page_for_unknown:
                self.send(404, b"<html><title>404 Not Found</title></html>", Content_Type="text/html")
            else:
                self.send_json({"detail": "Not Found"}, 404)
            return
        if (answer := known[self.path](body)) is not None:
            self.send_json(speech.garble(answer) if speech.garble else answer)

    def paths(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        return {"/v1/models": self.models, "/v1/completions": self.completions}

    def send(self, status: int, data: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content_Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def send_json(self, answer: object, status: int = 200) -> None:
        self.send(status, json.dumps(answer).encode(), Content_Type="application/json")

    def models(self, _: dict[str, Any]) -> object:
        entry = {"id": NAME, "object": "model", "owned_by": self.speech.kind, "created": int(time.time())}
        return {"object": "list", "data": [entry | ({"max_model_len": 500} if self.speech.kind == "vllm" else {})]}

    def tokenize(self, body: dict[str, Any]) -> object:
        tokens = encode(body["prompt"])
        return {"count": len(tokens), "max_model_len": 500, "tokens": tokens}

    def detokenize(self, body: dict[str, Any]) -> object:
        text = "".join(SPELLING.get(number) or text_of(number) for number in body["tokens"])
        return {"prompt": text.removeprefix(" ") if self.speech.strips_space else text}

    def completions(self, body: dict[str, Any]) -> object | None:
        speech = self.speech
        if isinstance(body["prompt"], list) and speech.kind != "vllm":
            return self.send_json({"error": {"message": "prompt must be a string", "type": "invalid_request_error"}}, 400)
        if speech.kind == "openai" and (unknown := body.keys() - OPENAI_FIELDS):
            return self.send_json({"error": {"message": f"Unrecognized request argument supplied: {min(unknown)}"}}, 400)
        if (body.get("logprobs") or 0) > speech.most_logprobs:
            return self.send_json({"error": {"message": f"logprobs: at most {speech.most_logprobs}"}}, 400)
        prompt = encode(body["prompt"]) if isinstance(body["prompt"], str) else body["prompt"]
        tokens = list(generated(prompt, body["max_tokens"], self.held(body)))
        if body["stream"]:
            return self.stream(body, prompt, tokens)
        choice = self.choice(body, prompt, tokens, done=True)
        if speech.scoring and body.get("prompt_logprobs") is not None:
            places = [{str(b): {"logprob": logprobs(a)[b], "rank": 1}} for a, b in pairwise(prompt)]
            choice["prompt_logprobs"] = [None, *places]
        return {"id": "cmpl-1", "object": "text_completion", "choices": [choice]}

    def held(self, body: dict[str, Any]) -> str:
        """What must be written first: all of the regular expression but what stands for anything."""
        guided = body.get(self.speech.guides or "")
        regex: str = (guided["regex"] if self.speech.guides == "structured_outputs" else guided) if guided else ANYTHING
        assert regex.endswith(ANYTHING)
        return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), regex.removesuffix(ANYTHING))

    def begin_stream(self, content_type: str) -> None:
        """Answer in parts, which end with the connection."""
        self.send_response(200)
        self.send_header("Content-Type", content_type)
        self.send_header("Connection", "close")
        self.close_connection = True
        self.end_headers()

    def stream(self, body: dict[str, Any], prompt: list[int], tokens: list[int]) -> None:
        self.begin_stream("text/event-stream; charset=utf-8")
        size = self.speech.bundle
        if self.speech.silent_until is not None:
            self.speech.silent_until.wait(60)
        try:
            for start in range(0, len(tokens), size):
                if self.speech.cut_after is not None and start >= self.speech.cut_after:
                    return
                time.sleep(self.speech.pause_s)
                done = start + size >= len(tokens)
                event: Any = {"choices": [self.choice(body, [*prompt, *tokens[:start]], tokens[start : start + size], done=done)]}
                if self.speech.garble:
                    event = self.speech.garble(event)
                self.wfile.write(b"data: " + json.dumps(event).encode() + b"\n\n")
            self.wfile.write(b'data: {"choices": [], "usage": {}}\n\ndata: [DONE]\n\n')
        except OSError:
            self.speech.broken_off.set()

    def choice(self, body: dict[str, Any], before: Sequence[int], tokens: Sequence[int], done: bool) -> dict[str, Any]:
        speech, ended = self.speech, bool(tokens) and tokens[-1] == END
        reason = ("stop" if ended else "length") if done else None if speech.kind != "tgi" else ""
        text = "".join(map(text_of, tokens))
        choice: dict[str, Any] = {"index": 0, "text": text, "finish_reason": reason, "logprobs": None}
        if body.get("logprobs") is None or speech.kind == "tgi":
            return choice
        if ended and not speech.tells_end:
            tokens = tokens[:-1]
        temperature = body["temperature"] if speech.processed and body["temperature"] > 0 else 1.0
        rows = [logprobs(last, temperature) for last in [*before, *tokens][len(before) - 1 : -1]]
        if (held := self.held(body)) and speech.masks_first:
            rows = [masked(row, held) for row in rows[:1]] + rows[1:]
        named = speech.token_names and body.get("return_tokens_as_token_ids")

        def name(number: int) -> str:
            return f"token_id:{number}" if named else SPELLING.get(number) or text_of(number)

        wanted = body.get("logprob_token_ids")
        tops = [wanted or sorted(range(128), key=lambda n, row=row: -row[n])[: body["logprobs"]] for row in rows]
        choice["logprobs"] = {
            "tokens": [name(number) for number in tokens],
            "token_logprobs": [row[number] for row, number in zip(rows, tokens, strict=True)],
            "top_logprobs": [{name(n): row[n] for n in {*top, number}} for row, top, number in zip(rows, tops, tokens, strict=True)],
        }
        return choice


OPENAI_FIELDS = {"model", "prompt", "max_tokens", "temperature", "top_p", "seed", "stream", "logprobs", "echo"}


def masked(row: list[float], held: str) -> list[float]:
    """The log-probabilities among the tokens that agree."""
    total = math.log(sum(math.exp(row[number]) for number in agreeing(held)))
    return [row[number] - total if number in agreeing(held) else -9999.0 for number in range(128)]


def generated(prompt: Sequence[int], most: int, held: str = "") -> Iterator[int]:
    """What comes greedily. held: what must be written first."""
    last = prompt[-1]
    for _ in range(most):
        row = masked(logprobs(last), held) if held else logprobs(last)
        last = row.index(max(row))
        held = held[len(text_of(last)) :]
        yield last
        if last == END:
            return


class Server(ThreadingHTTPServer):
    request_queue_size = 64
    daemon_threads = True


@contextmanager
def serving(speech: Speech, port: int = 0, handler: type[Handler] = Handler) -> Iterator[str]:
    """The server, in a thread; its address."""
    server = Server(("127.0.0.1", port), type("Speaking", (handler,), {"speech": speech}))
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()

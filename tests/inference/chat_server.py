"""A small HTTP server that speaks `/v1/chat/completions` as vLLM, Ollama or LM Studio do.

Written from vLLM's vllm/entrypoints/openai/chat_completion/{protocol,serving}.py, Ollama's openai/openai.go and LM Studio's documentation
of its OpenAI-compatible endpoints. It says what a test tells it to, token by token.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal

from .completion_server import Handler, Speech, serving

CHAT = "/v1/chat/completions"
# What is likely at every place, besides the token that is said.
OTHERS = ("yes", "no", " maybe")


@dataclass
class ChatSpeech(Speech):
    """reply: the tokens of an answer, from the request's body. tells: whether log-probabilities are told. shaped: whether they are those at
    the temperature. ending: tokens told behind the text's, as vLLM does of the one that ends it. thought: tokens of a thought, which is
    kept apart. models: their names. gate: answers wait for it. several: what becomes
    of a request for several answers. at_once: most requests that were answered at the same time."""

    kind: Literal["vllm", "ollama", "lmstudio"] = "vllm"  # type: ignore[assignment]
    reply: Callable[[dict[str, Any]], Sequence[str]] = lambda _: ["Hello", " there"]
    tells: bool = True
    shaped: bool = False
    ending: Sequence[str] = ("<|im_end|>",)
    thought: Sequence[str] = ()
    models: Sequence[str] = ("acme/chat-tiny",)
    gate: threading.Event | None = None
    several: Literal["yes", "ignored", 400, 500] = "yes"
    at_once: int = 0
    running: int = 0

    @property
    def chats(self) -> list[dict[str, Any]]:
        """The bodies that the chat was asked with."""
        return [body for _, path, body in self.asked if path == CHAT]


_COUNTING = threading.Lock()


class ChatHandler(Handler):
    speech: ChatSpeech

    def paths(self) -> dict[str, Callable[[dict[str, Any]], Any]]:
        return {"/v1/models": self.models, CHAT: self.chat}

    def answer(self, body: dict[str, Any]) -> None:
        if self.speech.kind == "lmstudio" and self.path not in self.paths():
            self.send_json({"error": f"Unexpected endpoint or method. ({self.command} {self.path})"})
            return
        super().answer(body)

    def models(self, _: dict[str, Any]) -> object:
        owner = {"vllm": "vllm", "ollama": "library", "lmstudio": "organization_owner"}[self.speech.kind]
        return {"object": "list", "data": [{"id": name, "object": "model", "owned_by": owner} for name in self.speech.models]}

    def chat(self, body: dict[str, Any]) -> object | None:
        speech = self.speech
        if body["model"] not in speech.models:
            return self.send_json({"error": {"message": f'model "{body["model"]}" not found', "type": "api_error"}}, 404)
        if body.get("logprobs") and body["top_logprobs"] > speech.most_logprobs:
            return self.send_json({"error": {"message": f"top_logprobs: at most {speech.most_logprobs}"}}, 400)
        if isinstance(speech.several, int) and body.get("n", 1) > 1:
            return self.send_json({"error": {"message": "Only one completion choice is allowed"}}, speech.several)
        with _COUNTING:
            speech.running += 1
            speech.at_once = max(speech.at_once, speech.running)
        if speech.gate is not None:
            speech.gate.wait(60)
        time.sleep(speech.pause_s)
        with _COUNTING:
            speech.running -= 1
        n = body.get("n", 1) if speech.several == "yes" else 1
        choices = [{**self.chat_choice({**body, **({"seed": body["seed"] + at} if at else {})}), "index": at} for at in range(n)]
        return {"object": "chat.completion", "choices": choices[::-1]}

    def chat_choice(self, body: dict[str, Any]) -> dict[str, Any]:
        speech = self.speech
        tokens, cut = list(speech.reply(body))[: body["max_tokens"]], None
        text = "".join(tokens)
        stops = [at for stop in body.get("stop", ()) if (at := text.find(stop)) >= 0]
        if stops:
            cut = min(stops)
        whole = cut is not None or len(speech.reply(body)) <= body["max_tokens"]
        message = {"role": "assistant", "content": text[:cut]}
        if speech.thought:
            message["reasoning_content"] = "".join(speech.thought)
        told = None
        if body.get("logprobs") and speech.tells:
            shape = body["temperature"] if speech.shaped and body["temperature"] > 0 else 1.0
            said = [*speech.thought, *tokens, *(speech.ending if whole else ())]
            told = {"content": [self.entry(token, -0.5 / shape, body["top_logprobs"]) for token in said]}
        return {"index": 0, "message": message, "finish_reason": "stop" if whole else "length", "logprobs": told}

    def entry(self, token: str, logprob: float, top: int) -> dict[str, Any]:
        likely = [(token, logprob), *((other, logprob - 1 - rank) for rank, other in enumerate(OTHERS))]
        return {**_told(token, logprob), "top_logprobs": [_told(*one) for one in likely[:top]]}


def _told(token: str, logprob: float) -> dict[str, Any]:
    return {"token": token, "logprob": logprob, "bytes": list(token.encode())}


def chatting(speech: ChatSpeech, port: int = 0) -> AbstractContextManager[str]:
    """The server, in a thread; its address."""
    return serving(speech, port, ChatHandler)

"""A model that is asked by the chat messages of an OpenAI-compatible server (`/v1/chat/completions`).

References: OpenAI's reference of chat completions (`choices[0].logprobs.content`, each with token, bytes, logprob and top_logprobs); vLLM's
vllm/entrypoints/openai/chat_completion/protocol.py; llama-server's tools/server/server-common.cpp, oaicompat_chat_params_parse, which
passes on fields that it does not know; Ollama's openai/openai.go.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import itertools
import math
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..completion.settings import Sampling
from ..errors import SERVER_FAILURES, BadAnswer, ModelClosed, NoChat, NoSuchEndpoint, NotACompletionServer, RequestRefused, ServerFailed
from ..model import Fingerprint, StopReason
from ..remote.formats import ServedToken, same_distribution, spelled_token
from ..remote.http import Connection, Timeouts
from ..remote.identify import identify
from ..remote.served import Served
from .asker import PATIENCE_S, Alternative, Asker, Form, Message, Said, SaidToken, check_asked, closed, retried, tokens_of, whole_characters

PATH = "/v1/chat/completions"
# What llama-server has for a model without a chat template (common/chat.cpp, CHATML_TEMPLATE_SRC).
STAND_IN_TEMPLATE = (
    "{%- for message in messages -%}\n"
    "  {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' -}}\n"
    "{%- endfor -%}\n"
    "{%- if add_generation_prompt -%}\n"
    "  {{- '<|im_start|>assistant\n' -}}\n"
    "{%- endif -%}"
)
# Every server reads these as they are; llama-server takes 2^32 - 1 for a random one.
_SEEDS = 1 << 31


@dataclass(frozen=True, slots=True)
class ChatAnswer:
    """The answer of one request.

    tokens: with those of a thought in front, and those that ended the text behind it; empty where not told. thought: whether there is one.
    """

    text: str
    stopped_by: StopReason
    tokens: tuple[ServedToken, ...]
    thought: bool


def chat_request(
    served: Served,
    messages: Sequence[tuple[str, str]],
    *,
    max_tokens: int,
    sampling: Sampling,
    stop: Sequence[str] = (),
    top: int | None = None,
    n: int = 1,
) -> dict[str, Any]:
    """A body. messages: roles and texts. top: how many log-probabilities at each place, None for none at all. n: answers."""
    body: dict[str, Any] = {
        "model": served.model,
        "messages": [{"role": role, "content": text} for role, text in messages],
        "max_tokens": max_tokens,
        "temperature": sampling.temperature,
        "stream": False,
    }
    if sampling.temperature > 0:
        body |= {"top_p": sampling.top_p, "seed": sampling.seed % _SEEDS}
    if n > 1:
        body["n"] = n
    if stop:
        body["stop"] = list(stop)
    if top is not None:
        body |= {"logprobs": True, "top_logprobs": top}
    if served.kind == "llama-server":
        body |= {"samplers": ["temperature", "top_p"]} if sampling.temperature > 0 else {"samplers": ["top_k"], "top_k": 1}
    return {**body, **served.extras}


def chat_answers(answer: Mapping[str, Any]) -> list[ChatAnswer]:
    """The choices of an answer, at least one, in their order. Raises one of `MALFORMED`."""
    first, *others = answer["choices"]
    return [_choice(choice) for choice in (sorted([first, *others], key=lambda choice: choice["index"]) if others else [first])]


def _choice(choice: Mapping[str, Any]) -> ChatAnswer:
    message = choice["message"]
    text = message.get("content")
    if text is not None and not isinstance(text, str):
        raise TypeError(f"content is {type(text).__name__}")
    told = choice.get("logprobs") or {}
    tokens = tuple(spelled_token(entry) for entry in told.get("content") or ())
    stopped_by = StopReason.TOKENS if choice.get("finish_reason") == "length" else StopReason.END
    return ChatAnswer(text or "", stopped_by, tokens, bool(message.get("reasoning_content") or message.get("reasoning")))


# A whole answer comes at once, so a server is silent for as long as it writes.
TIMEOUTS = Timeouts(silence=900.0, total=1800.0)
AT_ONCE = 32
# While nothing is written yet that would take time.
_SILENCE_S = 60.0
# Larger than any real answer: 32,000 tokens with 20 alternatives each take 60 MB.
_MAX_ANSWER_BYTES = 1 << 26
_HELLOS = ((("user", "Say one word."),), (("user", "Write a Python function that adds two numbers."),))
# Asked for at another temperature, where the first token may be only a part of a character.
_DRAWS = 16
# OpenAI's limit of alternatives, which is vLLM's and Ollama's too, and one that older servers have.
_TOPS = (20, 5)
# How many answers vLLM is asked for in one request.
_SEVERAL = 64
_NO_CHAT = (NoSuchEndpoint, RequestRefused, BadAnswer, NotACompletionServer)


class ChatAsker(Asker):
    """The `Asker` protocol over `/v1/chat/completions`.

    vLLM and llama-server are asked for several answers in one request, which they write side by side; number i has the seed plus i there,
    as it has here (vllm/v1/engine/parallel_sampling.py; server-task.h, add_child). Of llama-server these are at most its slots. Of others
    each answer is a request of its own: some refuse several, some ignore their number, and none says what their seeds are. These are asked
    one after another, so that the server finds the prompt in its cache.

    Of the requests of several threads at most `at_once` are on their way, and further ones wait. So one asker may be shared by any number
    of threads.

    Log-probabilities are told only where they are the model's own at every temperature. A beginning of the answer is not sent, because not
    every server continues one: the model writes it itself.

    Parameters
        url: http(s)://HOST[:PORT], with or without /v1.
        model: which of the server's models; None for its only one.
        key: as for `RemoteModel`.
        patience_s: for how long a request that the server failed at is retried.

    Attributes
        served: what the server says of the model.
        told: how many alternatives are told at each place, 0 for no log-probabilities.
        has_template: False where the server is known to stand a template in for a model that has none.

    Raises on opening what `RemoteModel` raises; NoChat where the model can't be asked so.
    """

    form: Form = "chat"

    def __init__(
        self,
        url: str,
        *,
        model: str | None = None,
        key: str | None = None,
        timeouts: Timeouts = TIMEOUTS,
        patience_s: float = PATIENCE_S,
        at_once: int = AT_ONCE,
    ) -> None:
        with contextlib.closing(Connection(url, key, replace(timeouts, silence=min(timeouts.silence, _SILENCE_S)))) as opening:
            self.served, props = identify(opening, model)
            named = opening.in_every_body
        self.has_template = props.get("chat_template") != STAND_IN_TEMPLATE
        self._connection = Connection(url, key, timeouts, _MAX_ANSWER_BYTES)
        self._connection.in_every_body |= named
        self._several = {"vllm": _SEVERAL, "llama-server": int(props.get("total_slots") or 1)}.get(self.served.kind, 1)
        self._patience_s, self._closed, self._free = patience_s, threading.Event(), threading.BoundedSemaphore(at_once)
        try:
            self.told = self._find_told()
        except BaseException:
            self._connection.close()
            raise

    @property
    def where(self) -> str:
        """The server's address."""
        return self._connection.where

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the user must be told about the connection."""
        return self._connection.warnings + self.served.warnings

    @property
    def fingerprint(self) -> Fingerprint:
        """What the server says of the model, as for its completions."""
        return self.served.fingerprint

    def say(
        self,
        messages: Sequence[Message],
        *,
        n: int = 1,
        temperature: float = 0.0,
        top_p: float = 1.0,
        max_tokens: int = 512,
        stop: Sequence[str] = (),
        seed: int = 0,
        top_logprobs: int = 0,
    ) -> list[Said]:
        """n answers, as `Asker.say` says."""
        check_asked(messages, n, max_tokens, temperature, top_p, stop)
        sent = [(message.role, message.text) for message in messages]
        if sent[-1][0] == "assistant":
            sent.pop()
        top = max(1, min(top_logprobs, self.told)) if self.told else None
        heard, wanted, several, refused = list[ChatAnswer](), n if temperature > 0 else 1, self._several, False
        while len(heard) < wanted:
            count = min(several, wanted - len(heard))
            how = Sampling(temperature, top_p, seed + len(heard))
            body = chat_request(self.served, sent, max_tokens=max_tokens, sampling=how, stop=stop, top=top, n=count)
            try:
                with self._free:
                    found = retried(functools.partial(self._post, body), 0.0 if count > 1 else self._patience_s, self._closed)
            except (RequestRefused, *SERVER_FAILURES) as failure:
                if count == 1:
                    raise
                # An older version, which says HTTP 400 or 500; or the question or the moment is at fault, as one answer will tell.
                several, refused = 1, isinstance(failure, RequestRefused)
                continue
            heard += found[:count]
            if refused or len(found) < count:
                self._several = several = 1
        said = [_said(each, stop, top_logprobs) for each in heard]
        return said * (n // len(said))

    def close(self) -> None:
        """Close the connections; calls that still wait end with an error. A second time does nothing."""
        self._closed.set()
        self._connection.close()

    def _post(self, body: dict[str, Any]) -> list[ChatAnswer]:
        try:
            return self._connection.ask(PATH, body, chat_answers)
        except concurrent.futures.CancelledError:
            raise ModelClosed(self.where) from None

    def _find_told(self) -> int:
        """How many alternatives are told beside the model's own log-probabilities, 0 for none. Raises NoChat."""
        for top, hello in itertools.product(_TOPS, _HELLOS):
            if cold := self._first_token(hello, top, 0.0):
                others = [self._first_token(hello, top, temperature) for temperature in (1.0, 2.0)]
                return top if all(other and same_distribution(cold, other) for other in others) else 0
        try:
            self._post(chat_request(self.served, _HELLOS[0], max_tokens=1, sampling=Sampling()))
        except ServerFailed:
            raise
        except _NO_CHAT as refused:
            raise NoChat(self.where, str(refused).removeprefix(f"{self.where}: ").rstrip(".")) from None
        return 0

    def _first_token(self, hello: Sequence[tuple[str, str]], top: int, temperature: float) -> ServedToken | None:
        """The first token of an answer, if its log-probability is told. llama-server tells none of a part of a character."""
        for seed in range(_DRAWS if temperature > 0 else 1):
            body = chat_request(self.served, hello, max_tokens=1, sampling=Sampling(temperature, seed=seed), top=top)
            try:
                heard = self._post(body)[0]
            except _NO_CHAT:
                return None
            if heard.tokens and heard.tokens[0].logprob is not None:
                return heard.tokens[0]
            if heard.text and "\ufffd" not in heard.text:
                return None
        return None


def _said(heard: ChatAnswer, stop: Sequence[str], top: int) -> Said:
    generated = [token for token in heard.tokens if token.text]
    texts = whole_characters([token.text for token in generated])
    tokens = [
        SaidToken(
            text,
            math.nan if token.logprob is None else token.logprob,
            tuple(Alternative((other.text or b"").decode("utf-8", "replace"), other.logprob) for other in token.top[:top]),
        )
        for text, token in zip(texts, generated, strict=True)
    ]
    text = closed(heard.text, stop) if heard.stopped_by is StopReason.END else heard.text
    told, complete = tokens_of(heard.text, tokens, thought=heard.thought)
    return Said(text, heard.stopped_by, told, complete=complete)

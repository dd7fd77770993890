"""A model that continues texts, asked in words: by its own chat template, or with the messages laid out as one plain text."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ..errors import Unavailable
from ..model import Cancel, Fingerprint, Generation, Model, Prompt, StopReason, Token
from ..stopping.stop import NONE
from .asker import PATIENCE_S, Alternative, Asker, Form, Message, Said, SaidToken, check_asked, closed, retried, tokens_within
from .template import ChatTemplate

# Answers that are generated side by side.
_AT_ONCE = 8


def as_text(messages: Sequence[Message]) -> str:
    """The messages one below the other, a blank line behind each: tags in their texts say what is what.

    The beginning of the answer, if it is there, ends the text.
    """
    begun = messages[-1].text if messages[-1].role == "assistant" else ""
    before = messages[:-1] if messages[-1].role == "assistant" else messages
    return "".join(f"{message.text}\n\n" for message in before) + begun


class TextAsker(Asker):
    """The `Asker` protocol for any `Model`. It owns the model, and the template by which it is asked; without one it is plain text.

    The calls of several threads take turns, because a model answers one at a time: for more at once open one for each thread. The answers
    of one call are generated side by side, but those of a server, which may take one request at a time: each is what it would be alone, up
    to the rounding of a batch.

    The log-probability of an answer that a stop text ended has the tokens up to that text.

    cancel: ends what it says.
    """

    def __init__(self, model: Model, template: ChatTemplate | None = None, cancel: Cancel | None = None) -> None:
        self._cancel, self._model, self._template, self._turn, self._closed = cancel, model, template, threading.Lock(), threading.Event()
        self._at_once = _AT_ONCE if model.capabilities.memory else 1  # a model in this process gives whole distributions, no server does

    @property
    def form(self) -> Form:
        """Chat with a template, else text."""
        return "text" if self._template is None else "chat"

    @property
    def fingerprint(self) -> Fingerprint:
        """What the model is, with its template where that is not a part of the model's own."""
        model = self._model.fingerprint
        return model if self._template is None else self._template.identify(model)

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
        begun = messages[-1].text if messages[-1].role == "assistant" else ""
        with self._turn:
            if self._template is None:
                prompt = self._model.left_to_right(as_text(messages))
            else:
                prompt, stop = self._template.prompt(messages), (*stop, *self._template.stop)
            likeliest = functools.cache(functools.partial(self._likeliest, prompt, top_logprobs))
            limits: dict[str, Any] = {"stop": NONE, "max_tokens": max_tokens, "temperature": temperature, "top_p": top_p}
            limits["cancel"] = self._cancel

            def together(first: int, count: int) -> list[Said]:
                answers, how = [_Answer(begun, stop) for _ in range(count)], {**limits, "seed": seed + first}
                if count == 1:
                    made = [self._model.generate(prompt, **how, on_token=answers[0].add)]
                else:
                    made = self._model.alternatives(
                        prompt, count, **how, on_token=lambda number, token, text: answers[number].add(token, text)
                    )
                return [answer.said(generation, likeliest) for answer, generation in zip(answers, made, strict=True)]

            wanted = n if temperature > 0 else 1
            said: list[Said] = []
            while len(said) < wanted:
                count = min(self._at_once, wanted - len(said))
                said += retried(functools.partial(together, len(said), count), PATIENCE_S, self._closed)
        return said * (n // len(said))

    def close(self) -> None:
        """Free the model, as soon as a call that has its turn is done."""
        self._closed.set()
        with self._turn:
            self._model.close()
            if self._template is not None:
                self._template.close()

    def _likeliest(self, prompt: Prompt, count: int, *before: int) -> tuple[Alternative, ...]:
        """The most likely tokens behind those of an answer, best first; none where the model does not tell."""
        if not count or (before and self._template is None):
            return ()
        prompt = replace(prompt, tokens=(*prompt.tokens, *before))
        try:
            firsts = self._model.alternatives(prompt, count, stop=NONE, max_tokens=1)
        except Unavailable:
            return ()
        tokens = [one.tokens[0] for one in firsts if one.tokens]
        return tuple(Alternative(token.text.decode("utf-8", "replace"), token.logprob) for token in tokens)


class _Answer:
    """An answer while it is written. begun: its beginning, which is in the prompt; stop: the texts before which it ends."""

    def __init__(self, begun: str, stop: Sequence[str]) -> None:
        self._begun, self._stop = begun, stop
        self._tokens: list[SaidToken] = []
        self._ids: list[int] = []
        self._seen = 0
        self._cut: int | None = None

    def add(self, token: Token, text: str) -> bool:
        """Take the next token; text: all up to it. Returns whether a stop text ends the answer."""
        if token.text:
            self._tokens.append(SaidToken(text[self._seen :], token.logprob))
            self._ids.append(token.id)
        found = [at for one in self._stop if (at := text.find(one, max(0, self._seen - len(one)))) >= 0]
        self._seen, self._cut = len(text), min(found, default=None)
        return self._cut is not None

    def said(self, made: Generation, likeliest: Callable[..., tuple[Alternative, ...]]) -> Said:
        """The answer. likeliest: gives the alternatives behind these tokens of it."""
        text = made.text[: self._cut]
        ended = self._cut is not None or made.stopped_by is StopReason.END
        whole = closed(self._begun + text, self._stop) if ended else self._begun + text
        told = [replace(token, top=likeliest(*self._ids[:at])) for at, token in enumerate(tokens_within(self._tokens, 0, len(text)))]
        return Said(whole, StopReason.END if ended else StopReason.TOKENS, tuple(told), len(self._begun))

"""A model that only continues texts, asked in words: the messages are laid out as one plain text."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Self, TypeVar

from ..errors import Unavailable
from ..model import Fingerprint, Generation, Model, Prompt, StopReason, Token
from ..stopping.stop import NONE
from .asker import Alternative, Form, Message, Said, SaidToken, check_asked
from .reading import closed, tokens_within
from .retry import PATIENCE_S, retried

T = TypeVar("T")


def as_text(messages: Sequence[Message]) -> str:
    """The messages one below the other, a blank line behind each: tags in their texts say what is what.

    The beginning of the answer, if it is there, ends the text.
    """
    begun = messages[-1].text if messages[-1].role == "assistant" else ""
    before = messages[:-1] if messages[-1].role == "assistant" else messages
    return "".join(f"{message.text}\n\n" for message in before) + begun


class TextAsker:
    """The `Asker` protocol for any `Model`. It owns the model.

    The calls of several threads take turns, because a model answers one at a time: for more at once open one for each thread. The answers
    of one call are generated one after another from the cached prompt, so that each is the same whatever else is asked with it.

    The log-probability of an answer that a stop text ended has the tokens up to that text.
    """

    form: Form = "text"

    def __init__(self, model: Model) -> None:
        self._model, self._turn, self._closed = model, threading.Lock(), threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    @property
    def name(self) -> str:
        """The model's name."""
        return self.fingerprint.name

    @property
    def fingerprint(self) -> Fingerprint:
        """What the model is."""
        return self._model.fingerprint

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
            prompt = self._model.left_to_right(as_text(messages))
            top = self._retried(functools.partial(self._likeliest, prompt, top_logprobs))
            sampled = functools.partial(
                self._model.generate, prompt, stop=NONE, max_tokens=max_tokens, temperature=temperature, top_p=top_p
            )
            said = [
                self._retried(functools.partial(_one, functools.partial(sampled, seed=seed + number), begun, stop, top))
                for number in range(n if temperature > 0 else 1)
            ]
        return said * (n // len(said))

    def close(self) -> None:
        """Free the model, as soon as a call that has its turn is done."""
        self._closed.set()
        with self._turn:
            self._model.close()

    def _retried(self, ask: Callable[[], T]) -> T:
        return retried(ask, PATIENCE_S, self._closed)

    def _likeliest(self, prompt: Prompt, count: int) -> tuple[Alternative, ...]:
        """The most likely first tokens, best first; none where the model does not tell."""
        if not count:
            return ()
        try:
            firsts = self._model.alternatives(prompt, count, stop=NONE, max_tokens=1)
        except Unavailable:
            return ()
        tokens = [one.tokens[0] for one in firsts if one.tokens]
        return tuple(Alternative(token.text.decode("utf-8", "replace"), token.logprob) for token in tokens)


def _one(generate: Callable[..., Generation], begun: str, stop: Sequence[str], top: tuple[Alternative, ...]) -> Said:
    """One answer. begun: its beginning, which is in the prompt. top: the alternatives of the first token."""
    tokens: list[SaidToken] = []
    seen, cut = 0, None

    def at_stop(token: Token, text: str) -> bool:
        nonlocal seen, cut
        if token.text:
            tokens.append(SaidToken(text[seen:], token.logprob, () if tokens else top))
        found = [at for one in stop if (at := text.find(one, max(0, seen - len(one)))) >= 0]
        seen, cut = len(text), min(found, default=None)
        return cut is not None

    made = generate(on_token=at_stop)
    text = made.text[:cut]
    ended = cut is not None or made.stopped_by is StopReason.END
    whole = closed(begun + text, stop) if ended else begun + text
    told = tokens_within(tokens, 0, len(text))
    return Said(whole, StopReason.END if ended else StopReason.TOKENS, told, len(begun))

"""One generation of a server as it arrives, event by event."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any

from ..completion.settings import Sampling
from ..errors import AnswerCutOff, BadAnswer, Unavailable
from ..model import Generation, StopReason, Timings, Token
from ..stopping.cancel_or_timeout import StopCheck
from ..stopping.continuation import Continuation
from .beginning import Beginning
from .formats import ServedToken
from .requests import Requests

# How often Ollama lets a token follow itself, but for white space (llm/llama_server.go, Completion, "token repeat limit").
_OLLAMAS_MOST_REPEATS = 30


class StreamedGeneration:
    """A request and the text that has arrived for it.

    Parameters
        begun: what it continues; the tokens of its prompt that were sampled are in the continuation.
        max_tokens: tokens to ask the server for.
    """

    def __init__(
        self, requests: Requests, begun: Beginning, continuation: Continuation, sampling: Sampling, max_tokens: int, stop_check: StopCheck
    ) -> None:
        self.prompt, self.continuation = begun.prompt, continuation
        self._requests, self._sampling, self._max_tokens, self._stop_check = requests, sampling, max_tokens, stop_check
        self._given = len(continuation.sampled)
        self._counted = 0
        self._begun, self._reused, self._first_at = begun, begun.reused or 0, begun.first_at
        self._ended: StopReason | None = None

    @property
    def goes_on(self) -> bool:
        """Whether there is anything left to ask for."""
        return self.continuation.stopped is None and self._max_tokens > 0

    def body(self) -> dict[str, Any]:
        """The body of the request."""
        return self._requests.body(self.prompt, self._max_tokens, self._sampling)

    def take(self, event: dict[str, Any] | None) -> bool:
        """Add an event; None is the end of the stream. Returns whether the text has ended by its own rules.

        Raises AnswerCutOff where the stream ends before the server said why, and Interrupted where the caller's stop check ends a
        question that it needs.
        """
        if event is None:
            if self._ended is None and self._requests.served.kind == "ollama" and self._repeats():
                self._ended = StopReason.REPETITION
            if self._ended is None:
                raise AnswerCutOff(self._requests.where, self._requests.path(self.prompt), "the stream ended without its last event")
            return True
        tokens, ended, sampled = self._requests.heard(event)
        for heard in tokens:
            if self._first_at is None:
                self._first_at = time.perf_counter()
            if self._add(heard):
                return True
        if ended is None:
            return False
        self._ended = ended
        if self._requests.served.kind == "llama-server":
            if self._requests.served.top and sampled > self._counted:
                self._fill(sampled - self._counted, None)
        elif ended is StopReason.END and self._requests.served.top:
            # The server does not report the token that ended the text, so its log-probability is unknown.
            self.continuation.add(Token(-1, b"", math.nan, None, None), ends=True)
        return self.continuation.stopped is not None

    def generation(self, otherwise: StopReason | None, begun: float, done: float) -> Generation:
        """The generation. otherwise: why the caller broke it off. begun, done: in seconds of `time.perf_counter`."""
        first = self._first_at or done
        timings = Timings((first - begun) * 1000, (done - first) * 1000, len(self.prompt.tokens) - self._given, self._reused)
        return self.continuation.generation(self._ended or otherwise or StopReason.TOKENS, timings)

    def _repeats(self) -> bool:
        """Whether Ollama ends a stream without its last event because the text is one token over and over."""
        last = self.continuation.sampled[-_OLLAMAS_MOST_REPEATS:]
        return len(last) == _OLLAMAS_MOST_REPEATS and len({token.text.strip() for token in last}) == 1

    def _add(self, heard: ServedToken) -> bool:
        if self._begun.reused is None:
            self._reused = heard.reused or self._reused
        if heard.count is not None:
            lost = heard.count - self._counted - 1
            self._counted = heard.count
            if lost > 0:
                text = self._fill(lost, heard.text)
                if text is None:
                    return True
                heard = replace(heard, text=text)
        # Ollama passes over tokens that are only parts of a character, and such a text has no number.
        if heard.logprob is None and self._requests.served.top and self._requests.served.kind != "ollama":
            raise Unavailable(
                "log-probability of a token that it sampled", self._requests.where, "Start it without speculative decoding, if it drafts."
            )
        logprob = math.nan if heard.logprob is None else heard.logprob
        token = Token(-1 if heard.id is None else heard.id, heard.text, logprob, heard.best_other, None)
        return self.continuation.add(token, heard.ends) is not None

    def _fill(self, lost: int, text: bytes | None) -> bytes | None:
        """Ask for tokens that the stream left out because each is only a part of a character.

        Greedy decoding takes the most likely token, so the distribution at its place tells which it was. A sampled token is lost.

        Parameters
            lost: how many tokens are missing.
            text: the bytes of the next token, with those of the missing ones; None where the text ended before.

        Returns the next token's own bytes, or None where the text ended.
        """
        if self._sampling.temperature > 0 or not self.prompt.tokens:
            raise Unavailable(
                "log-probabilities of tokens that are parts of a character",
                self._requests.where,
                "Use temperature 0 and a known layout, or another server.",
            )
        for _ in range(lost):
            behind = tuple(token.id for token in self.continuation.sampled[self._given :])
            best, *others = self._requests.row((*self.prompt.tokens, *behind), 2, self._stop_check)
            if best.id is None or best.text is None or not (text is None or text.startswith(best.text)):
                raise BadAnswer(self._requests.where, "/completion", "another token than in the stream, asked for the same place again")
            text = text and text.removeprefix(best.text)
            token = Token(best.id, best.text, best.logprob, others[0].logprob if others else None, None)
            if self.continuation.add(token, self._requests.ends_text(best.id, best.text)):
                return None
        return text

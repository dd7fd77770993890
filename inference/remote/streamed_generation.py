"""One generation of a server as it arrives, event by event."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..completion.settings import Sampling
from ..errors import AnswerCutOff, BadAnswer, ContextTooLong, ModelError, Unavailable
from ..model import Generation, Prompt, StopReason, Timings, Token
from ..stopping.cancel_or_timeout import StopCheck
from ..stopping.continuation import Continuation
from .formats import Candidate, ServedToken
from .healing import ServerHealing
from .http import Interrupted
from .requests import Requests

# Log-probabilities asked for where only the token itself and the best other are wanted.
TOP = 2


@dataclass(frozen=True, slots=True)
class Beginning:
    """What a stream continues.

    Attributes
        prompt: with the tokens that are there already.
        first_at: when the first of these came, in seconds of `time.perf_counter`; None where there is none.
        reused: tokens of the prompt that the server's cache held; None where it did not say yet.
    """

    prompt: Prompt
    first_at: float | None = None
    reused: int | None = None

    def behind(self, token: int, reused: int | None = None) -> Beginning:
        """The same with one more token. reused: what the server said when it was asked for that."""
        prompt = replace(self.prompt, tokens=(*self.prompt.tokens, token))
        return Beginning(prompt, self.first_at or time.perf_counter(), reused if self.reused is None else self.reused)


class Beginnings:
    """Begins generations of one server's model. context_length: tokens that prompt and generation may have together."""

    def __init__(self, requests: Requests, healing: ServerHealing, context_length: int) -> None:
        self._requests, self._healing, self._context_length = requests, healing, context_length

    def write_held(self, begun: Beginning, text: Continuation, sampling: Sampling, stop_check: StopCheck) -> Beginning:
        """Let the model write what the text holds back, if it can be held to that. Raises Interrupted."""
        while text.held and text.stopped is None and self._can_hold(begun.prompt):
            told = self._next_token(begun.prompt, text.held, TOP, sampling, stop_check)
            token = self._held_token(told)
            text.add(token, ends=False)
            begun = begun.behind(token.id, told.reused)
        return begun

    def begin_several(self, prompt: Prompt, texts: Sequence[Continuation], stop_check: StopCheck) -> list[Beginning]:
        """Begin number i with the i-th most likely token; there are fewer where there are fewer tokens.

        What stands before the cursor is written by the same tokens in all, as long as the most likely token writes nothing else.
        Raises Interrupted, Unavailable where the server tells of too few tokens.
        """
        begun, top = Beginning(prompt), max(len(texts), TOP)
        reused: int | None = None
        while (held := texts[0].held) and self._can_hold(begun.prompt):
            told = self._next_token(begun.prompt, held, top, Sampling(), stop_check)
            row: Sequence[Candidate] = told.top
            if len(told.text) > len(held):
                reused = told.reused
                break
            token = self._held_token(told)
            for text in texts:
                text.add(token, ends=False)
            begun = begun.behind(token.id, told.reused)
        else:
            row = self._free_row(begun.prompt, len(texts), stop_check)
        beginnings = []
        for rank, text in enumerate(texts[: len(row)]):
            token = self._token(row, rank)
            text.add(token, self._requests.ends_text(token.id, token.text))
            beginnings.append(self.write_held(begun.behind(token.id, reused), text, Sampling(), stop_check))
        return beginnings

    def _can_hold(self, prompt: Prompt) -> bool:
        return self._healing.heals and bool(prompt.tokens)

    def _next_token(self, prompt: Prompt, held: bytes, count: int, sampling: Sampling, stop_check: StopCheck) -> ServedToken:
        if stopped := stop_check():
            raise Interrupted(stopped)
        if (length := len(prompt.tokens) + 1) > self._context_length:
            raise ContextTooLong(length, self._context_length, f"a prompt of {length - 1:,} tokens and one more")
        return self._healing.next_token(prompt.tokens, held, count, sampling, stop_check)

    def _free_row(self, prompt: Prompt, count: int, stop_check: StopCheck) -> Sequence[Candidate]:
        """The most likely of all next tokens, best first."""
        served = self._requests.served
        if not prompt.tokens or not served.top:
            raise self._unavailable("most likely first tokens of a generation", "Ask for alternatives at a temperature above 0.")
        row = self._requests.row(prompt.tokens, max(count, TOP), stop_check)
        if len(row) < min(count, served.vocabulary or count):
            raise self._unavailable(f"{count} most likely tokens but {len(row)}", "Ask for fewer alternatives.")
        return row

    def _held_token(self, told: ServedToken) -> Token:
        assert told.logprob is not None, "all that a model is held to has one"
        return Token(self._identified(told.id), told.text, told.logprob, told.best_other, None)

    def _token(self, row: Sequence[Candidate], rank: int) -> Token:
        chosen = row[rank]
        others = [candidate.logprob for candidate in row if candidate is not chosen]
        token = self._identified(chosen.id)
        text = self._requests.piece(token) if chosen.text is None else chosen.text
        return Token(token, text, chosen.logprob, max(others) if others else None, None)

    def _identified(self, token: int | None) -> int:
        if token is None:
            raise self._unavailable("ids of the tokens it samples", "Ask for alternatives at a temperature above 0.")
        return token

    def _unavailable(self, what: str, advice: str) -> ModelError:
        return Unavailable(what, self._requests.where, advice)


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

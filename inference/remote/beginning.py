"""The tokens of a generation that are asked for one by one, before the rest is streamed: those that write what is held back, and the
first by which greedy alternatives differ."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..completion.settings import Sampling
from ..errors import ContextTooLong, Unavailable
from ..model import Prompt, Token
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

    def _unavailable(self, what: str, advice: str) -> Unavailable:
        return Unavailable(what, self._requests.where, advice)

"""A given text as a generation of a server's model: one request of one token for each of its tokens."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from ..completion.settings import GREEDY
from ..errors import Unavailable
from ..model import Generation, Prompt, StopReason, Timings, Token
from ..replay.given_text import GivenText
from ..stopping.cancel_or_timeout import never_stop
from ..stopping.continuation import Continuation
from ..stopping.stop import NONE, Stop
from .formats import Candidate
from .healing import ServerHealing
from .requests import Requests
from .tokenizer import ServerTokenizer

# Tokens that are asked for first; all, where none of them fits.
_FEW = 64


class Replays:
    """Replays texts of one server's model, which is held to what stands before the cursor (`ServerHealing.heals`).

    context_length: tokens that prompt and text may have together.
    """

    def __init__(self, requests: Requests, healing: ServerHealing, tokenizer: ServerTokenizer, context_length: int) -> None:
        self._requests, self._healing, self._tokenizer, self._context_length = requests, healing, tokenizer, context_length

    def replay(self, prompt: Prompt, text: str, stop: Stop | None, repeated: Sequence[str]) -> Generation:
        """See `Model.replay`. Raises NotReplayable, ContextTooLong, Unavailable, and the errors of a connection."""
        begun = time.perf_counter()
        first: float | None = None
        given = GivenText(text, stop, repeated, prompt.held_bytes)
        continuation = Continuation(stop or NONE, self._context_length, None, prompt.held_bytes)
        tokens = list(prompt.tokens)
        stopped: StopReason | None = given.stop_check()
        while stopped is None and len(tokens) < self._context_length:
            token = self._next(tokens, continuation.held, given)
            first = first or time.perf_counter()
            ends = self._ends(token)
            given.take(token.text, ends)
            stopped = continuation.add(token, ends) or given.stop_check()
            tokens.append(token.id)
        given.check_whole(len(tokens), self._context_length)
        done = time.perf_counter()
        first = first or done
        timings = Timings((first - begun) * 1000, (done - first) * 1000, len(prompt.tokens), 0)
        return continuation.generation(stopped or StopReason.TOKENS, timings)

    def _next(self, tokens: Sequence[int], held: bytes, given: GivenText) -> Token:
        row = self._row(tokens, held, _FEW)
        chosen = self._chosen(row, given)
        if chosen is None and self._requests.served.kind == "llama-server":
            row = self._row(tokens, held, self._requests.served.vocabulary or 1 << 20)
            chosen = self._chosen(row, given)
        if chosen is None:
            own = self._own(given)
            if held or own is None:
                raise Unavailable("log-probability of a token of this text", self._requests.where, "Use llama-server, or a model's file.")
            chosen = replace(own, logprob=self._requests.logprobs_at(tokens, [own.id])[0])
        others = [candidate.logprob for candidate in row[:2] if candidate.id != chosen.id]
        return replace(chosen, best_other_logprob=max(others, default=None))

    def _row(self, tokens: Sequence[int], held: bytes, count: int) -> Sequence[Candidate]:
        """The most likely next tokens that agree with what is held back, best first."""
        if held:
            return self._healing.next_token(tokens, held, count, GREEDY, never_stop).top
        return self._requests.row(tokens, count)

    def _chosen(self, row: Sequence[Candidate], given: GivenText) -> Token | None:
        """The token of a row that the text goes on with by the rule of `given_text`; None where it is not in the row."""
        fitting = (token for candidate in row if (token := self._token(candidate)) and self._fits(token, given))
        likeliest = next(fitting, None)
        if likeliest is None or likeliest.id == row[0].id or not given.left or (own := self._own(given)) is None:
            return likeliest
        last = own.text == given.left
        found = (token for token in chain([likeliest], fitting) if token.id == own.id or (last and len(token.text) > len(own.text)))
        return next(found, None)

    def _own(self, given: GivenText) -> Token | None:
        """The tokenizer's token for what is left, or behind the text a newline."""
        ids = given.tokens_of(given.left or b"\n", self._tokenizer.encode)
        token = self._token(Candidate(ids[0], None, math.nan)) if ids else None
        return token if token and self._fits(token, given) else None

    def _token(self, candidate: Candidate) -> Token | None:
        """A candidate with its bytes; None where it has no id, or where these are a part of a character that the server does not tell."""
        if candidate.id is None:
            return None
        try:
            text = self._requests.piece(candidate.id) if candidate.text is None else candidate.text
        except Unavailable:
            return None
        return Token(candidate.id, text, candidate.logprob, None, None)

    def _fits(self, token: Token, given: GivenText) -> bool:
        return given.fits(token.text, self._ends(token))

    def _ends(self, token: Token) -> bool:
        return self._requests.ends_text(token.id, token.text)

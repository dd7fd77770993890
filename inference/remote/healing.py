"""Token healing with a server: what is held back is written again by requests of one token, each held to what is left of it.

Log-probabilities are then among the tokens that agree with what stands there. The rest of the text is streamed as any other: a grammar
would cost the server time at each of its tokens.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..completion.settings import Sampling
from ..errors import BadAnswer, Unavailable
from ..healing.pre_tokens import last_pre_token, without_last_space
from ..stopping.cancel_or_timeout import StopCheck
from .formats import (
    Candidate,
    ServedToken,
    agree,
    held_fields,
    llama_allowed_request,
    llama_held,
    llama_held_request,
    openai_tokens,
)
from .requests import Requests
from .tokenizer import ServerTokenizer

# Tokens that a grammar is asked for at least, so that a control token among them is seen.
_MIN_TOP = 64
_MAX_ROUNDS = 8
# More tokens than that are left to a grammar: each is a part of the request.
_MAX_PREFERRED = 2000
# Nearly uniform, so that no token's probability is rounded to 0.
_ALL_ALIKE = 1e4
# Tokens that are remembered with their bytes, over all beginnings of texts.
_MAX_KNOWN = 200_000


class HeldLlama:
    """A llama-server's model that is held to texts. end: a token that ends a text.

    A grammar holds the model to any text, but costs the server a look at its whole vocabulary, 50 ms and more where that is large. So the
    tokens that agree with a text's first two characters are asked for once, by a grammar. From then on those of them that agree with the
    whole text are preferred by `logit_bias`.
    """

    def __init__(self, requests: Requests, tokenizer: ServerTokenizer, end: int) -> None:
        self._requests, self._end = requests, end
        self._controls = set(tokenizer.controls)
        # By a text's first two characters the tokens that agree with these, with their bytes.
        self._known: dict[str, Mapping[int, bytes]] = {}

    def next_token(self, tokens: Sequence[int], held: bytes, count: int, sampling: Sampling, stop_check: StopCheck) -> ServedToken:
        """The next token behind these of those that agree with what must be written; in `top` the `count` likeliest of them."""
        if sampling.temperature > 0:
            count = self._all
        told = self._by_text(tokens, held, count, stop_check) or self._by_distribution(tokens, held, stop_check)
        return _drawn(told, sampling, len(tokens)) if sampling.temperature > 0 else told

    def _by_text(self, tokens: Sequence[int], held: bytes, count: int, stop_check: StopCheck) -> ServedToken | None:
        """None where what must be written begins within a character, or the server does not report the token that it drew."""
        try:
            text = held.decode()
        except UnicodeDecodeError:
            return None
        key, asked = text[:2], None
        # Half a vocabulary begins with a space: where nothing else is there, a grammar is cheaper.
        if key not in self._known and key != " ":
            asked = self._by_grammar(tokens, key, self._all, stop_check, _ALL_ALIKE)
            self._remember(key, asked.top if asked else ())
        allowed = [token for token, piece in self._known.get(key, {}).items() if agree(piece, held)]
        if 0 < len(allowed) <= _MAX_PREFERRED:
            told = self._ask(llama_allowed_request(tokens, allowed, top=min(count, len(allowed))), stop_check)
        else:
            told = self._by_grammar(tokens, text, count, stop_check)
        return replace(told, reused=asked.reused) if told and asked else told

    def _remember(self, key: str, row: Sequence[Candidate]) -> None:
        if sum(map(len, self._known.values())) + len(row) > _MAX_KNOWN:
            self._known.clear()
        self._known[key] = {candidate.id: candidate.text for candidate in row if candidate.id is not None and candidate.text}

    def _by_grammar(
        self, tokens: Sequence[int], text: str, count: int, stop_check: StopCheck, temperature: float = 1.0
    ) -> ServedToken | None:
        told = None
        for _ in range(_MAX_ROUNDS):
            top, never = max(count, _MIN_TOP), sorted(self._controls)
            told = self._ask(llama_held_request(tokens, text, top=top, refused=self._end, never=never, temperature=temperature), stop_check)
            # The grammar takes a control token for its spelling. Unknown ones are seen by their having no text here.
            unknown = set() if told is None else {c.id for c in told.top if not c.text and c.id is not None} - self._controls
            if not unknown:
                break
            self._controls |= unknown
        return told

    def _by_distribution(self, tokens: Sequence[int], held: bytes, stop_check: StopCheck) -> ServedToken:
        """From the distribution of all tokens, which is megabytes."""
        row = [c for c in self._requests.row(tokens, self._all, stop_check) if c.text is not None and agree(c.text, held)]
        if not row:
            raise Unavailable("token for what stands before the cursor", self._requests.where, "Put the cursor elsewhere.")
        total = row[0].logprob + math.log(math.fsum(math.exp(c.logprob - row[0].logprob) for c in row))
        return _chosen(0, tuple(replace(c, logprob=min(0.0, c.logprob - total)) for c in row))

    def _ask(self, body: dict[str, Any], stop_check: StopCheck) -> ServedToken | None:
        return self._requests.connection.ask("/completion", body, llama_held, stop_check)

    @property
    def _all(self) -> int:
        return self._requests.served.vocabulary or 1 << 20


def _chosen(index: int, top: tuple[Candidate, ...], reused: int = 0) -> ServedToken:
    return ServedToken(top[index].id, top[index].text or b"", top[index].logprob, top, reused=reused)


def _drawn(told: ServedToken, sampling: Sampling, place: int) -> ServedToken:
    """One of the tokens in `top`, which are all that agree. It depends on the seed and the place alone."""
    logprobs = np.array([candidate.logprob for candidate in told.top])
    weights = np.exp((logprobs - logprobs[0]) / sampling.temperature)
    reached = np.cumsum(weights / weights.sum())
    kept = int(np.searchsorted(reached, min(sampling.top_p, reached[-1]))) + 1
    random = np.random.default_rng((sampling.seed % (1 << 32), place))
    index = int(np.searchsorted(reached[:kept], random.random() * reached[kept - 1], side="right"))
    return _chosen(min(index, kept - 1), told.top, told.reused)


class ServerHealing:
    """What a server's model is held to, and the requests by which it is. Where there is no way (`Served.holding`), at most a space."""

    def __init__(self, requests: Requests, tokenizer: ServerTokenizer | None) -> None:
        self._requests, self._served = requests, requests.served
        self._tokenizer = tokenizer if self._served.holding else None
        self._pieces = self._tokenizer.pieces if self._tokenizer else None
        end = self._tokenizer.first_control(self._served.ends) if self._tokenizer else None
        self._llama = HeldLlama(requests, self._tokenizer, end) if self._tokenizer and end is not None else None

    @property
    def heals(self) -> bool:
        """Whether the model can be held to a text."""
        return self._tokenizer is not None

    def split(self, prefix: str) -> tuple[str, str]:
        """What of a prefix goes into the prompt, and what is held back: the last pre-token.

        Of that only what stands behind the last character that tokens write in parts, because servers do not tell of such tokens. It is
        seldom joined to the next character, so that texts ended with it in training, too.
        """
        if self._tokenizer is None or self._pieces is None:
            return without_last_space(prefix)
        held = self._tokenizer.written_whole(prefix[last_pre_token(prefix, self._pieces) :])
        return prefix[: len(prefix) - len(held)], held

    def next_token(self, tokens: Sequence[int], held: bytes, count: int, sampling: Sampling, stop_check: StopCheck) -> ServedToken:
        """The next token behind these, of those that agree with what must be written; in `top` the `count` likeliest of them.

        Raises Unavailable for a token that is a part of a character, where the server has no other way to tell of it, and the errors of a
        connection.
        """
        ask = self._by_regex if self._llama is None else self._llama.next_token
        told = ask(tokens, held, count, sampling, stop_check)
        if told.logprob is None or not told.top or not agree(told.text, held):
            path = "/completion" if self._served.kind == "llama-server" else "/v1/completions"
            raise BadAnswer(self._requests.where, path, "a token that does not agree with what stands before the cursor")
        return told

    def _by_regex(self, tokens: Sequence[int], held: bytes, count: int, sampling: Sampling, stop_check: StopCheck) -> ServedToken:
        served, where = self._served, self._requests.where
        assert served.holding is not None, "asked only where the model heals"
        in_part = Unavailable("tokens that are parts of a character", where, "Put the cursor before or behind that character.")
        try:
            fields = held_fields(served.holding, held.decode())
        except UnicodeDecodeError:
            raise in_part from None
        body = served.request(tokens, min(count, served.top), sampling, **fields)
        told = self._requests.connection.ask("/v1/completions", body, lambda answer: openai_tokens(answer)[0], stop_check)
        if not told.text or "\ufffd".encode() in told.text:
            raise in_part
        return told

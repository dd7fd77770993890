"""A generated text as it grows token by token, and the one place that decides when it ends, for every backend."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..model import Generation, OnToken, StopReason, Timings, Token
from .rules import find_stop, text_before_stop
from .stop import Stop, StopPoint

# For each token that was added, by their bytes: `Token.shares` from the token's first byte on.
Shares = Callable[[Sequence[bytes]], Sequence[tuple[float, ...]]]


class _IncrementalText:
    """The text of a stream of bytes. A character appears when its last byte is there; bytes that can't be UTF-8 become U+FFFD."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text = ""

    def add(self, piece: bytes) -> str:
        """The whole text so far, without an unfinished last character."""
        self.text += self._decoder.decode(piece)
        return self.text


class Continuation:
    """The tokens and the text of one generation so far.

    Attributes
        tokens: those of the text.
        sampled: all, with those that write only what is held back, as they were sampled.
        held: what is held back and not written yet.

    Parameters
        max_tokens: how many tokens there may be, at least 1; those that write only what is held back don't count.
        held: what stands before the cursor and is written again first (`Prompt.held_bytes`). Where the first token does not agree, all is
            the text's: a model that can't be held to a space may begin without it.
    """

    def __init__(self, stop: Stop, max_tokens: int, on_token: OnToken | None = None, held: bytes = b"") -> None:
        self.tokens: list[Token] = []
        self.sampled: list[Token] = []
        self.stopped: StopReason | None = None
        self.held = held
        self._stop, self._max_tokens, self._on_token = stop, max_tokens, on_token
        self._text = _IncrementalText()
        self._ended: StopPoint | None = None
        self._checked_until = 0
        self._held_logprob = 0.0

    def add(self, token: Token, ends: bool) -> StopReason | None:
        """Add the next token. Returns why the text ends with it, or None where it continues.

        ends: whether the token is one by which the model ends a text. Of several reasons the first of END, the stop rule, TOKENS, CALLER
        counts.
        """
        self.sampled.append(token)
        if self.held:
            size = min(len(self.held), len(token.text))
            agrees = size and token.text[:size] == self.held[:size]
            self.held = self.held[size:] if agrees else b""
            if agrees and size == len(token.text):
                self._held_logprob += token.logprob
                return None
            token = replace(token, text=token.text[size:] if agrees else token.text)
        if self._held_logprob:
            token, self._held_logprob = replace(token, logprob=token.logprob + self._held_logprob), 0.0
        self.tokens.append(token)
        text = self._text.add(token.text)
        # Called for every token, also the last, so that what is streamed is what is produced.
        asked_to_end = self._on_token is not None and self._on_token(token, text)
        if ends:
            self.stopped = StopReason.END
            return self.stopped
        self._ended, self._checked_until = find_stop(text, self._stop, self._checked_until), len(text)
        if self._ended is not None:
            self.stopped = StopReason(self._ended.by)
        elif len(self.tokens) >= self._max_tokens:
            self.stopped = StopReason.TOKENS
        elif asked_to_end:
            self.stopped = StopReason.CALLER
        return self.stopped

    def generation(self, otherwise: StopReason, timings: Timings, shares: Shares | None = None) -> Generation:
        """The generation. otherwise: why it ended where none of its own rules ended it (time, cancel)."""
        text = self._text.text
        left = text_before_stop(text, self._stop, self._checked_until) if self._ended is None else text[: self._ended.offset]
        tokens = self.tokens if shares is None else _with_shares(self.tokens, self.sampled, shares)
        return Generation(left, tuple(tokens), self.stopped or otherwise, timings)


def _with_shares(tokens: Sequence[Token], sampled: Sequence[Token], shares_of: Shares) -> list[Token]:
    """The tokens with the shares of those that were sampled. The first has those of all tokens that write what is held back, too."""
    shares = shares_of([token.text for token in sampled])
    if not tokens:
        return []
    before = len(sampled) - len(tokens)  # tokens that write only what is held back
    held = sum(len(token.text) for token in sampled[: before + 1]) - len(tokens[0].text)
    first = shares[before][held - sum(len(token.text) for token in sampled[:before]) :]
    at = 0
    for token, told in zip(sampled[:before], shares[:before], strict=True):
        first = added(first, told[held - at :], token.logprob)
        at += len(token.text)
    return [replace(token, shares=told) for token, told in zip(tokens, [first, *shares[before + 1 :]], strict=True)]


def added(shares: tuple[float, ...], earlier: tuple[float, ...], logprob: float) -> tuple[float, ...]:
    """The shares of a token that has the log-probability of an earlier one added to its own.

    earlier: that one's, from the same byte on. Where they end, the earlier one no longer counts.
    """
    return tuple([share + (earlier[index] if index < len(earlier) else logprob) for index, share in enumerate(shares)])

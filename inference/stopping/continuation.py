"""A generated text as it grows token by token, and the one place that decides when it ends, for every backend."""

from __future__ import annotations

import codecs

from ..model import Generation, OnToken, StopReason, Timings, Token
from .rules import find_stop, text_before_stop
from .stop import Stop, StopPoint


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
    """The tokens and the text of one generation so far. max_tokens: how many tokens there may be, at least 1."""

    def __init__(self, stop: Stop, max_tokens: int, on_token: OnToken | None = None) -> None:
        self.tokens: list[Token] = []
        self.stopped: StopReason | None = None
        self._stop, self._max_tokens, self._on_token = stop, max_tokens, on_token
        self._text = _IncrementalText()
        self._ended: StopPoint | None = None
        self._checked_until = 0

    def add(self, token: Token, ends: bool) -> StopReason | None:
        """Add the next token. Returns why the text ends with it, or None where it continues.

        ends: whether the token is one by which the model ends a text. Of several reasons the first of END, the stop rule, TOKENS, CALLER
        counts.
        """
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

    def generation(self, otherwise: StopReason, timings: Timings) -> Generation:
        """The generation. otherwise: why it ended where none of its own rules ended it (time, cancel)."""
        text = self._text.text
        left = text_before_stop(text, self._stop, self._checked_until) if self._ended is None else text[: self._ended.offset]
        return Generation(left, tuple(self.tokens), self.stopped or otherwise, timings)

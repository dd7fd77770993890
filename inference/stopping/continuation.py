"""A text as it grows token by token, and the one place that says when it has ended: the same rules for every backend."""

from __future__ import annotations

from ..model import Generation, OnToken, StopReason, Timings, Token
from .stops import Ending, Stop, ending, kept
from .utf8 import IncrementalText


class Continuation:
    """The tokens of one generation so far. most: how many there may be, at least 1."""

    def __init__(self, stop: Stop, most: int, on_token: OnToken | None = None) -> None:
        self.tokens: list[Token] = []
        self.stopped: StopReason | None = None
        self._stop, self._most, self._on_token = stop, most, on_token
        self._text = IncrementalText()
        self._ended: Ending | None = None
        self._going = 0

    def add(self, token: Token, ends: bool) -> StopReason | None:
        """Take in the next token; why the text ends with it, or None where it goes on.

        ends: the model itself ends the text by it. Where several reasons hold, the first of END, the stop rule, TOKENS, CALLER counts.
        """
        self.tokens.append(token)
        text = self._text.add(token.text)
        # Asked for every token, the last included: what is streamed is what is produced.
        asked_to_end = self._on_token is not None and self._on_token(token, text)
        if ends:
            self.stopped = StopReason.END
            return self.stopped
        self._ended, self._going = ending(text, self._stop, self._going), len(text)
        if self._ended is not None:
            self.stopped = StopReason(self._ended.by)
        elif len(self.tokens) >= self._most:
            self.stopped = StopReason.TOKENS
        elif asked_to_end:
            self.stopped = StopReason.CALLER
        return self.stopped

    def generation(self, otherwise: StopReason, timings: Timings) -> Generation:
        """What was produced; otherwise: why it ended where none of its own rules ended it (time, cancel)."""
        text = self._text.text
        left = kept(text, self._stop, self._going) if self._ended is None else text[: self._ended.offset]
        return Generation(left, tuple(self.tokens), self.stopped or otherwise, timings)

r"""Which token a text is written with next, and the events that tokens are of: a token itself, or "these characters and the line ends".

Models end a line with tokens such as `)\n` and `)\n\n`, and several of them say the same of the line. A place in a file knows only that
the line ends there. So all tokens that have the same characters before a line end are one event.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

_MAX_REMEMBERED = 50_000


class Vocabulary(Protocol):
    """The tokens of a model."""

    @property
    def vocabulary_size(self) -> int:
        """How many there are."""
        ...

    def tokenize(self, text: str) -> Sequence[int]:
        """The tokens of a text."""
        ...

    def token_bytes(self, token: int) -> bytes:
        """What a token stands for; nothing for a control token."""
        ...


class Spelling:
    """How texts are written in the tokens of a vocabulary. An event has the lowest id of its tokens.

    Attributes
        event_of: the event of each token.
        tokens_of: the tokens of each event that has several.
        line_end: the event of a line end by itself. A control token, by which a model ends its text, is one too.
    """

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        groups: dict[bytes, list[int]] = {b"": []}
        for token in range(vocabulary.vocabulary_size):
            text = vocabulary.token_bytes(token)
            head, newline, _ = text.partition(b"\n")
            if newline or not text:
                groups.setdefault(head, []).append(token)
        self.event_of: NDArray[np.int64] = np.arange(vocabulary.vocabulary_size)
        self.tokens_of: dict[int, NDArray[np.int64]] = {}
        for tokens in groups.values():
            if tokens:
                self.event_of[tokens] = tokens[0]
                self.tokens_of[tokens[0]] = np.array(tokens)
        self.line_end: int | None = min(groups[b""], default=None)
        self._events: dict[str, dict[int, int]] = {}
        self._by_bytes: dict[bytes, int] = {}
        self._longest = 0

    def bytes_of(self, token: int) -> bytes:
        """What a token stands for."""
        return self._vocabulary.token_bytes(token)

    def tokens(self, text: str) -> Sequence[int]:
        """The tokens of a text; they spell it, whatever the tokenizer does at the beginning of one."""
        return self._written(text.encode("utf-8", "replace"))

    def next_event(self, text: str, offset: int) -> int | None:
        """The event of the token that a text is continued with behind so many bytes; None where no token can."""
        events = self._events.get(text)
        if events is None:
            if len(self._events) >= _MAX_REMEMBERED:
                self._events.clear()
            events = self._events[text] = self._events_of(text.encode("utf-8", "replace"))
        if offset in events:
            return events[offset]
        # Another way to write the beginning: the rest is a text of its own.
        rest = self._events_of(text.encode("utf-8", "replace")[offset:]).get(0)
        if rest is not None:
            events[offset] = rest
        return rest

    def _events_of(self, text: bytes) -> dict[int, int]:
        """The event of each token of a text, by where it begins."""
        events: dict[int, int] = {}
        at = 0
        for token in self._written(text):
            events[at] = int(self.event_of[token])
            at += len(self._vocabulary.token_bytes(token))
        return events

    def _written(self, text: bytes) -> Sequence[int]:
        tokens = self._vocabulary.tokenize(text.decode("utf-8", "replace"))
        if b"".join(map(self._vocabulary.token_bytes, tokens)) == text:
            return tokens
        # A tokenizer that puts a space before a text, or writes it otherwise: take the longest token each time.
        if not self._by_bytes:
            spelled = ((self._vocabulary.token_bytes(token), token) for token in reversed(range(self._vocabulary.vocabulary_size)))
            self._by_bytes = {piece: token for piece, token in spelled if piece}
            self._longest = max(map(len, self._by_bytes))
        found: list[int] = []
        at = 0
        while at < len(text):
            token = next(
                (t for n in range(min(self._longest, len(text) - at), 0, -1) if (t := self._by_bytes.get(text[at : at + n])) is not None),
                None,
            )
            if token is None:
                break
            found.append(token)
            at += len(self._vocabulary.token_bytes(token))
        return found

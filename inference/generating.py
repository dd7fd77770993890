"""One generation of a model in this process while it is made."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from .distribution import Choose, Distribution, Row, only
from .healing.healing import Healing
from .model import Generation, Prompt, StopReason, Timings, Token
from .stopping.continuation import Continuation

# A row of logits as a distribution; raises ModelError where the logits are not numbers.
ToDistribution = Callable[[Row], Distribution]


class Vocabulary(Protocol):
    """The tokens of a model."""

    @property
    def healing(self) -> Healing:
        """What token healing knows of them."""
        ...

    @property
    def piece(self) -> Callable[[int], bytes]:
        """Gives the bytes of a token; none for a control token."""
        ...

    @property
    def ends(self) -> Callable[[int], bool]:
        """Says whether a token ends the text."""
        ...

    def spelled(self, token: int) -> bytes:
        """The bytes of a token; the spelling of a control token."""
        ...

    def tokenize(self, text: str) -> Sequence[int]:
        """The tokens of a text in the middle of another."""
        ...


class Generating:
    """One generation while it is made.

    Attributes
        sampled: its tokens, all but the last of them decoded.
        ended: when it ended, in seconds of time.perf_counter.
    """

    def __init__(self, prompt: Prompt, choose: Choose, continuation: Continuation, vocabulary: Vocabulary, read: ToDistribution) -> None:
        self.sampled: list[int] = []
        self.ended: float | None = None
        self._choose, self._continuation, self._vocabulary, self._read = choose, continuation, vocabulary, read
        self._typed_along = vocabulary.healing.typed_along()
        self._memory = None if prompt.memory is None else prompt.memory.reader(prompt.held)

    def distribution(self, logits: Row) -> Distribution:
        """What the next token is taken from: the tokens that agree with what is held back and not written yet, else all.

        What the prompt's memory says of them is mixed in.
        """
        held = self._continuation.held
        row = only(logits, self._vocabulary.healing.agreeing(held)) if held else logits
        return self._read(row if self._memory is None else self._memory.mix(row))

    @property
    def remembers(self) -> bool:
        """Whether its prompt has a memory."""
        return self._memory is not None

    def look_ahead(self) -> None:
        """Look up what the memory says behind the text so far, which `distribution` needs next."""
        if self._memory is not None:
            self._memory.look_ahead()

    def take_from(self, other: Generating) -> None:
        """Take the next token from the last distribution of another generation, which has the same text so far."""
        if other._memory is not None:
            self._memory = other._memory.copy()

    def only_holds(self, row: Distribution) -> bool:
        """Whether the most likely token writes nothing but what is held back."""
        held = self._continuation.held
        return bool(held) and len(self._vocabulary.piece(row.top)) <= len(held)

    def take(self, row: Distribution, chosen: int | None = None) -> StopReason | None:
        """Take the next token from its distribution, or `chosen`. Returns why the text ends with it, or None."""
        chosen = self._choose(row) if chosen is None else chosen
        piece = self._vocabulary.piece(chosen)
        self._typed_along.step(row.weights.__getitem__, row.total, piece)
        token = Token(chosen, piece, row.logprob(chosen), row.best_other_logprob(chosen), row.entropy())
        self.sampled.append(chosen)
        if self._memory is not None:
            self._memory.take(chosen)
        stopped = self._continuation.add(token, self._vocabulary.ends(chosen))
        if stopped is not None:
            self.ended = time.perf_counter()
        return stopped

    def generation(self, otherwise: StopReason, timings: Timings) -> Generation:
        """What was made. otherwise: why it ended where none of its own rules ended it."""
        made = self._continuation.generation(otherwise, timings, self._typed_along.shares)
        return made if self._memory is None else replace(made, sources=self._memory.sources())

"""How likely the rest of a text is once its beginning stands there: exactly what a new request would say, without one.

A request whose cursor is k bytes further asks behind the same prompt, as long as the cursor stays in the same pre-token, and renormalises
each token's probability over the tokens that agree with these bytes. So for each token of a generation the share of all tokens that agree
with its first 1, 2, 3 … bytes is noted: log p of the token once k bytes of it are typed is log p − log share(k).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .pre_tokens import MAX_HELD, Pieces, ends_and_reaches
from .sorted_vocabulary import SortedVocabulary, Tokens

Weights = NDArray[np.float32] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Step:
    """The weights of all tokens with the chosen one's first byte, and where these stand in the sorted vocabulary."""

    first: int
    weights: Weights
    total: float


class TypedAlong:
    """The shares of one generation. `step` before each token that is added, then `shares`."""

    def __init__(self, vocabulary: SortedVocabulary, pieces: Pieces) -> None:
        self._vocabulary, self._pieces = vocabulary, pieces
        self._steps: list[_Step | None] = []

    def step(self, weights_of: Callable[[Tokens], Weights], total: float, piece: bytes) -> None:
        """Note the distribution that a token is taken from: unnormalised weights of tokens, and their sum. piece: the token's bytes."""
        if not piece:
            self._steps.append(None)
            return
        first, _, last = self._vocabulary.range_of(piece[:1])
        self._steps.append(_Step(first, weights_of(self._vocabulary.order[first:last]), total))

    def shares(self, pieces: Sequence[bytes]) -> list[tuple[float, ...]]:
        """For each token log share(1), log share(2), … up to the last cursor at which the token is still held back.

        pieces: the bytes of all tokens for which `step` was called. The first begins at the prompt's end, which is a pre-token's border.
        """
        written = b"".join(pieces)
        found: list[tuple[float, ...]] = []
        at = 0
        reaches = _reaches(written, self._pieces)
        for step, piece in zip(self._steps, pieces, strict=True):
            found.append(() if step is None else self._shares(step, written[at : min(reaches[at], at + MAX_HELD)]))
            at += len(piece)
        return found

    def _shares(self, step: _Step, written: bytes) -> tuple[float, ...]:
        reached = np.concatenate(([0.0], np.cumsum(step.weights, dtype=np.float64)))
        shorter = 0.0  # of the tokens that are a beginning of what is typed
        shares: list[float] = []
        for size in range(1, len(written) + 1):
            first, same, last = self._vocabulary.range_of(written[:size])
            first, same, last = first - step.first, same - step.first, last - step.first
            agreeing = shorter + float(reached[last] - reached[first])
            shorter += float(reached[same] - reached[first])
            shares.append(min(0.0, math.log(agreeing / step.total)) if agreeing > 0 else -math.inf)
        return tuple(shares)


def _reaches(written: bytes, pieces: Pieces) -> list[int]:
    """For each byte of a text the last cursor, in bytes, that holds it back."""
    text = written.decode("utf-8", "surrogateescape")
    offsets = [0, *accumulate(len(character.encode("utf-8", "surrogateescape")) for character in text)]
    reaches: list[int] = []
    for end, reach in ends_and_reaches(text, pieces):
        reaches += [offsets[reach]] * (offsets[end] - len(reaches))
    return reaches

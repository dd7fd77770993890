"""How likely the rest of a text is once its beginning stands there, without a new request: its probability given what was typed.

The model alone would say exactly the same at a new request. With a project memory a new request looks up the word that is begun as well,
and may say something else. docs/calibration.md measures how true the probabilities of what is left are.

A request whose cursor is k bytes further asks behind the same prompt, as long as the cursor stays in the same pre-token, and renormalises
each token's probability over the tokens that agree with these bytes. So for each token of a generation the share of all tokens that agree
with its first 1, 2, 3 … bytes is noted: log p of the token once k bytes of it are typed is log p − log share(k).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .pre_tokens import MAX_HELD, Pieces, cost, ends_and_reaches
from .sorted_vocabulary import SortedVocabulary, Tokens

Weights = NDArray[np.float32] | NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Step:
    """The distribution that a token was taken from, as far as its own bytes say which part of it is asked for.

    Attributes
        first: where the tokens stand in the sorted vocabulary that begin like the chosen one, by its first two bytes.
        weights: theirs.
        total: of all tokens. one_byte: of those that agree with the first byte; only_it: of those that are nothing else.
    """

    first: int
    weights: Weights
    total: float
    one_byte: float
    only_it: float


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
        first, same, last = self._vocabulary.range_of(piece[:1])
        weights = weights_of(self._vocabulary.order[first:last])
        one_byte, only_it = float(weights.sum(dtype=np.float64)), float(weights[: same - first].sum(dtype=np.float64))
        if len(piece) > 1:
            # Nearly half of a vocabulary begins with a space: only a part of that is kept.
            begin, _, end = self._vocabulary.range_of(piece[:2])
            weights, first = weights[begin - first : end - first].copy(), begin
        self._steps.append(_Step(first, weights, total, one_byte, only_it))

    def shares(self, pieces: Sequence[bytes]) -> list[tuple[float, ...]]:
        """For each token log share(1), log share(2), … up to the last cursor at which the token is still held back.

        pieces: the bytes of all tokens for which `step` was called. The first begins at the prompt's end, which is a pre-token's border.
        """
        written = b"".join(pieces)
        found: list[tuple[float, ...]] = []
        at = 0
        reaches, costs = _reaches(written, self._pieces), [0, *accumulate(map(cost, written))]
        for step, piece in zip(self._steps, pieces, strict=True):
            if step is None:
                found.append(())
            else:
                held = bisect_right(costs, costs[at] + MAX_HELD) - 1
                found.append(self._shares(step, written[at : min(reaches[at], held)]))
            at += len(piece)
        return found

    def _shares(self, step: _Step, written: bytes) -> tuple[float, ...]:
        shorter = step.only_it  # of the tokens that are a beginning of what is typed
        shares = [_log_share(step.one_byte, step.total)][: len(written)]
        for size in range(2, len(written) + 1):
            first, same, last = self._vocabulary.range_of(written[:size])
            first, same, last = first - step.first, same - step.first, last - step.first
            agreeing = shorter + float(step.weights[first:last].sum(dtype=np.float64))
            shorter += float(step.weights[first:same].sum(dtype=np.float64))
            shares.append(_log_share(agreeing, step.total))
        return tuple(shares)


def _log_share(agreeing: float, total: float) -> float:
    return min(0.0, math.log(agreeing / total)) if agreeing > 0 else -math.inf


def _reaches(written: bytes, pieces: Pieces) -> list[int]:
    """For each byte of a text the last cursor, in bytes, that holds it back."""
    text = written.decode("utf-8", "surrogateescape")
    offsets = [0, *accumulate(len(character.encode("utf-8", "surrogateescape")) for character in text)]
    reaches: list[int] = []
    for end, reach in ends_and_reaches(text, pieces):
        reaches += [offsets[reach]] * (offsets[end] - len(reaches))
    return reaches

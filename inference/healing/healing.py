"""What token healing knows of a model's vocabulary, for every backend that computes whole distributions."""

from __future__ import annotations

import functools
import math
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from .pre_tokens import MAX_HELD, Pieces, cost, ends_and_reaches, last_pre_token, pieces_of

# Byte strings whose ranges are remembered. While somebody types, the same ones come again.
_MAX_REMEMBERED = 1 << 14
_HIGHEST = 0xFF

Tokens = NDArray[np.intp]


class SortedVocabulary:
    """The tokens of a model by their bytes. Tokens without bytes (control tokens) are left out.

    Attributes
        order: token ids, sorted by their bytes, those with the same bytes by id.
        range_of: see `_range_of`; remembered, as is `agreeing`.
    """

    def __init__(self, pieces: Sequence[bytes]) -> None:
        ids = sorted((token for token, piece in enumerate(pieces) if piece), key=pieces.__getitem__)
        self.order: Tokens = np.array(ids, dtype=np.intp)
        self._sorted = [pieces[token] for token in ids]
        self.range_of = functools.lru_cache(maxsize=_MAX_REMEMBERED)(self._range_of)
        self.agreeing = functools.lru_cache(maxsize=_MAX_REMEMBERED)(self._agreeing)
        self.can_spell = functools.lru_cache(maxsize=_MAX_REMEMBERED)(self._can_spell)

    def beginnings(self, text: bytes) -> list[int]:
        """The tokens that are nothing but a beginning of a text."""
        found: list[int] = []
        for size in range(1, len(text) + 1):
            first, same, last = self._range_of(text[:size])
            if first == last:
                break
            found += self.order[first:same].tolist()
        return found

    def longer(self, start: bytes) -> list[int]:
        """The tokens that begin with these bytes and do not end with them."""
        _, same, last = self._range_of(start)
        found: list[int] = self.order[same:last].tolist()
        return found

    def _range_of(self, start: bytes) -> tuple[int, int, int]:
        """Where in `order` the tokens stand that begin with these bytes: first, behind those that are nothing else, and behind the last."""
        first = bisect_left(self._sorted, start)
        same = bisect_right(self._sorted, start, first)
        behind = _successor(start)
        last = len(self._sorted) if behind is None else bisect_left(self._sorted, behind, same)
        return first, same, last

    def _agreeing(self, held: bytes) -> Tokens:
        """The tokens that agree with the bytes that must come next: those that begin with them, and those that they begin with.

        Of the latter only those behind which the rest can be written.
        """
        found = [self.order[same:last] for _, same, last in [self.range_of(held)]]
        for size in range(1, len(held) + 1):
            first, same, _ = self.range_of(held[:size])
            if first < same and self.can_spell(held[size:]):
                found.append(self.order[first:same])
        return np.concatenate(found)

    def _can_spell(self, held: bytes) -> bool:
        """Whether tokens can write something that begins with these bytes."""
        if not held:
            return True
        first, _, last = self.range_of(held)
        if first < last:
            return True
        return any(
            self.range_of(held[:size])[0] < self.range_of(held[:size])[1] and self.can_spell(held[size:]) for size in range(1, len(held))
        )


def _successor(start: bytes) -> bytes | None:
    """The first byte string behind all that begin with these bytes; None where there is none."""
    kept = start.rstrip(bytes([_HIGHEST]))
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None


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
    """How likely the rest of a generation's text is once its beginning stands there. `step` before each token that is added, then `shares`.

    A request whose cursor is k bytes further asks behind the same prompt, as long as the cursor stays in the same pre-token, and
    renormalises each token's probability over the tokens that agree with these bytes. So for each token the share of all tokens that agree
    with its first 1, 2, 3 … bytes is noted: log p of the token once k bytes of it are typed is log p − log share(k). The model alone would
    say exactly the same at a new request; with a project memory a new one looks up the word that is begun as well.
    """

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


class Healing:
    """A vocabulary by the bytes of its tokens, and what its tokenizer joins to one pre-token. pieces: the tokens' bytes, by their ids."""

    def __init__(self, pieces: Sequence[bytes]) -> None:
        self._pieces = pieces_of(pieces)
        self.vocabulary = SortedVocabulary(pieces)

    def split(self, prefix: str) -> tuple[str, str]:
        """What of a prefix goes into the prompt, and what is held back: the last pre-token, unless the vocabulary can't write it."""
        start = last_pre_token(prefix, self._pieces)
        if not self.vocabulary.can_spell(prefix[start:].encode("utf-8", "replace")):
            return prefix, ""
        return prefix[:start], prefix[start:]

    def agreeing(self, held: bytes) -> Tokens:
        """The tokens that may come next where these bytes must be written."""
        return self.vocabulary.agreeing(held)

    def typed_along(self) -> TypedAlong:
        """The shares of a new generation."""
        return TypedAlong(self.vocabulary, self._pieces)

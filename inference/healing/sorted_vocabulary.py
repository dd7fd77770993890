"""A vocabulary sorted by the bytes of its tokens: which tokens begin with some bytes, and which may be the next ones to write them."""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

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

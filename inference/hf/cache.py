"""The cache of a transformers model: one sequence that stays between calls, and batches of sequences that continue it."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from transformers import DynamicCache

from .network import Network


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The state of a cached sequence at a moment.

    No number is copied: a DynamicCache replaces its tensors and never writes into them.
    """

    tokens: tuple[int, ...]
    cache: DynamicCache


class CachedSequence:
    """The sequence of tokens that the network has read. It stays empty where the network can't cache."""

    def __init__(self, network: Network) -> None:
        self.tokens: list[int] = []
        self._network = network
        self._cache = DynamicCache()

    def keep_common(self, tokens: Sequence[int], at_most: int) -> int:
        """Keep the cached tokens that `tokens` begins with, at most at_most of them. Returns how many those are."""
        common = 0
        if self._network.cached:
            for held, wanted in zip(self.tokens, tokens[:at_most], strict=False):
                if held != wanted:
                    break
                common += 1
        self._cut(common)
        return common

    def extend(self, tokens: Sequence[int], *, keep: int = 1) -> Any:
        """Read tokens behind the cached ones. The output's logits have shape (1, keep, vocabulary).

        Raises OutOfMemory, ComputationFailed; the cache is empty then.
        """
        try:
            if self._network.cached:
                output = self._network(self._network.tensor([tokens]), cache=self._cache, keep=keep)
            else:
                output = self._network(self._network.tensor([[*self.tokens, *tokens]]), keep=keep)
        except BaseException:
            # Some layers may hold the new tokens and others not.
            self._cut(0)
            raise
        self.tokens.extend(tokens)
        return output

    def snapshot(self) -> Snapshot:
        """The present state, for `restore`."""
        return Snapshot(tuple(self.tokens), _fork(self._cache))

    def restore(self, held: Snapshot) -> None:
        """Go back to an earlier state."""
        self.tokens, self._cache = list(held.tokens), _fork(held.cache)

    def fork(self, count: int) -> Batch:
        """`count` sequences that all continue the cached one."""
        if not self._network.cached:
            return Batch(self._network, [list(self.tokens) for _ in range(count)], None)
        cache = _fork(self._cache)
        cache.batch_repeat_interleave(count)
        return Batch(self._network, [list(self.tokens) for _ in range(count)], cache)

    def _cut(self, length: int) -> None:
        if length == 0 or not self._network.cached:
            self._cache = DynamicCache()
            self.tokens.clear()
        elif length < len(self.tokens):
            self._cache.crop(length - len(self.tokens))
            del self.tokens[length:]


class Batch:
    """Sequences that all grow by one token in one step of the network."""

    def __init__(self, network: Network, rows: list[list[int]], cache: DynamicCache | None) -> None:
        self._network, self._rows, self._cache = network, rows, cache

    def extend(self, tokens: Sequence[int]) -> Tensor:
        """Read one token behind each sequence. Returns the logits behind it, shape (sequences, vocabulary)."""
        for row, token in zip(self._rows, tokens, strict=True):
            row.append(token)
        if self._cache is None:
            return self._logits()
        logits: Tensor = self._network(self._network.tensor(tokens)[:, None], cache=self._cache, keep=1).logits[:, -1]
        return logits

    def row(self, index: int) -> Snapshot:
        """The state of one of these sequences, for `CachedSequence.restore`."""
        if self._cache is None:
            return Snapshot(tuple(self._rows[index]), DynamicCache())
        cache = _fork(self._cache)
        cache.batch_select_indices(self._network.tensor([index]))
        return Snapshot(tuple(self._rows[index]), cache)

    def keep(self, which: Sequence[int]) -> None:
        """Drop all sequences but these."""
        self._rows = [self._rows[index] for index in which]
        if self._cache is not None:
            self._cache.batch_select_indices(self._network.tensor(which))

    def _logits(self) -> Tensor:
        """The logits behind all sequences, read from their beginning. Padding at the end changes no earlier position."""
        longest = max(map(len, self._rows))
        lasts = sorted({len(row) - 1 for row in self._rows})
        filled = self._network.tensor([row + [0] * (longest - len(row)) for row in self._rows])
        logits = self._network(filled, keep=self._network.tensor(lasts)).logits
        rows = self._network.tensor(range(len(self._rows)))
        last: Tensor = logits[rows, self._network.tensor([lasts.index(len(row) - 1) for row in self._rows])]
        return last


def _fork(cache: DynamicCache) -> DynamicCache:
    """A cache of the same tensors that grows and shrinks independently."""
    forked = copy.copy(cache)
    forked.layers = [copy.copy(layer) for layer in cache.layers]
    return forked

"""What a network has read and keeps: one sequence between calls, and several that grow together."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from transformers import DynamicCache

from .network import Network


@dataclass(frozen=True, slots=True)
class Held:
    """What was held at a moment: no number is copied, for a DynamicCache replaces its tensors and never writes into them."""

    tokens: tuple[int, ...]
    cache: DynamicCache


class Reader:
    """One sequence of tokens that the network has read. tokens: which; empty between calls where the network keeps nothing."""

    def __init__(self, network: Network) -> None:
        self.tokens: list[int] = []
        self._network = network
        self._cache = DynamicCache()

    def keep_common(self, tokens: Sequence[int], at_most: int) -> int:
        """Keep what is held in common with the beginning of `tokens`, and no more than at_most; how many tokens that is."""
        common = 0
        if self._network.cached:
            for held, wanted in zip(self.tokens, tokens[:at_most], strict=False):
                if held != wanted:
                    break
                common += 1
        self._cut(common)
        return common

    def extend(self, tokens: Sequence[int], *, keep: int = 1) -> Any:
        """Read tokens behind those held. The output's logits are (1, keep, vocabulary).

        Raises OutOfMemory, ForwardFailed; nothing is held then.
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

    def held(self) -> Held:
        """What is held, to be put back later."""
        return Held(tuple(self.tokens), _fork(self._cache))

    def put_back(self, held: Held) -> None:
        """Hold again what was held."""
        self.tokens, self._cache = list(held.tokens), _fork(held.cache)

    def fork(self, count: int) -> Batch:
        """So many sequences that all continue what is held."""
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
    """Sequences that grow by one token at a time, in one step for all."""

    def __init__(self, network: Network, rows: list[list[int]], cache: DynamicCache | None) -> None:
        self._network, self._rows, self._cache = network, rows, cache

    def extend(self, tokens: Sequence[int]) -> Tensor:
        """One token behind each sequence; the logits behind it: (sequences, vocabulary)."""
        for row, token in zip(self._rows, tokens, strict=True):
            row.append(token)
        if self._cache is None:
            return self._logits()
        logits: Tensor = self._network(self._network.tensor(tokens)[:, None], cache=self._cache, keep=1).logits[:, -1]
        return logits

    def row(self, index: int) -> Held:
        """One of these sequences by itself, as a Reader holds one."""
        if self._cache is None:
            return Held(tuple(self._rows[index]), DynamicCache())
        cache = _fork(self._cache)
        cache.batch_select_indices(self._network.tensor([index]))
        return Held(tuple(self._rows[index]), cache)

    def keep(self, which: Sequence[int]) -> None:
        """Go on with these sequences only."""
        self._rows = [self._rows[index] for index in which]
        if self._cache is not None:
            self._cache.batch_select_indices(self._network.tensor(which))

    def _logits(self) -> Tensor:
        """All sequences read from their beginning. They are filled up behind, which no earlier position sees."""
        longest = max(map(len, self._rows))
        lasts = sorted({len(row) - 1 for row in self._rows})
        filled = self._network.tensor([row + [0] * (longest - len(row)) for row in self._rows])
        logits = self._network(filled, keep=self._network.tensor(lasts)).logits
        rows = self._network.tensor(range(len(self._rows)))
        last: Tensor = logits[rows, self._network.tensor([lasts.index(len(row) - 1) for row in self._rows])]
        return last


def _fork(cache: DynamicCache) -> DynamicCache:
    """The same tensors in a cache that can grow and shrink by itself."""
    forked = copy.copy(cache)
    forked.layers = [copy.copy(layer) for layer in cache.layers]
    return forked

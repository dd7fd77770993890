"""What a network has read and keeps: one sequence between calls, and several that grow together."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
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

    def extend(self, tokens: Sequence[int], *, keep: int = 1, hidden: bool = False) -> Any:
        """Read tokens behind those held. The output's logits are (1, keep, vocabulary), its hidden states (1, tokens, width) each.

        Raises OutOfMemory, ForwardFailed; nothing is held then.
        """
        try:
            if self._network.cached:
                output = self._network(self._network.tensor([tokens]), cache=self._cache, keep=keep, hidden=hidden)
            else:
                output = self._network(self._network.tensor([[*self.tokens, *tokens]]), keep=keep, hidden=hidden)
                if hidden:
                    output.hidden_states = tuple(states[:, -len(tokens) :] for states in output.hidden_states)
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
            return Batch(self._network, [list(self.tokens) for _ in range(count)], None, None)
        cache = _fork(self._cache)
        cache.batch_repeat_interleave(count)
        return Batch(self._network, [list(self.tokens) for _ in range(count)], cache, None)

    def _cut(self, length: int) -> None:
        if length == 0 or not self._network.cached:
            self._cache = DynamicCache()
            self.tokens.clear()
        elif length < len(self.tokens):
            self._cache.crop(length - len(self.tokens))
            del self.tokens[length:]


class Batch:
    """Sequences that grow by one token at a time, in one step for all. mask: (sequences, tokens), None where none is filled up."""

    def __init__(self, network: Network, rows: list[list[int]], cache: DynamicCache | None, mask: Tensor | None) -> None:
        self._network, self._rows, self._cache, self._mask = network, rows, cache, mask

    @classmethod
    def read(cls, network: Network, prompts: Sequence[Sequence[int]]) -> tuple[Batch, Tensor]:
        """Sequences of their own, and the logits behind each: (sequences, vocabulary). Shorter ones are filled up in front."""
        rows = [list(prompt) for prompt in prompts]
        if not network.cached:
            batch = cls(network, rows, None, None)
            return batch, batch._logits()
        longest = max(map(len, rows))
        mask = network.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])
        batch = cls(network, rows, DynamicCache(), mask)
        filled = network.tensor([[0] * (longest - len(row)) + row for row in rows])
        return batch, network(filled, cache=batch._cache, keep=1, mask=mask).logits[:, -1]

    def extend(self, tokens: Sequence[int]) -> Tensor:
        """One token behind each sequence; the logits behind it: (sequences, vocabulary)."""
        for row, token in zip(self._rows, tokens, strict=True):
            row.append(token)
        if self._cache is None:
            return self._logits()
        if self._mask is not None:
            self._mask = torch.nn.functional.pad(self._mask, (0, 1), value=1)
        logits: Tensor = self._network(self._network.tensor(tokens)[:, None], cache=self._cache, keep=1, mask=self._mask).logits[:, -1]
        return logits

    def row(self, index: int) -> Held:
        """One of these sequences by itself, as a Reader holds one. Not for a batch whose sequences were filled up."""
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
        if self._mask is not None:
            self._mask = self._mask[self._network.tensor(which)]

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

"""What a model says of the next token, from a row of logits; the same numbers for every model in this process."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Distribution:
    """The softmax of a row of logits. Log-probabilities are exact within 1e-6 nats, the entropy within 2e-6.

    Attributes
        logits: the row itself (float32).
        weights: exp(logits - highest) in float32. Their rounding is the only error; sums are taken in float64.
        total: the sum of the weights, so that log p = logit - highest - log(total).
        top: the most probable token, the lowest id of several equal ones.
        spare: working memory of one row.
    """

    logits: Row
    weights: Row
    spare: Row
    total: float
    top: int

    def logprob(self, token: int) -> float:
        """log p of a token, in nats."""
        return float(self.logits[token]) - float(self.logits[self.top]) - math.log(self.total)

    def best_other_logprob(self, token: int) -> float:
        """The highest log p of all tokens but one, in nats; -inf in a vocabulary of one."""
        if token != self.top:
            return self.logprob(self.top)
        logits = self.logits
        other = max(float(logits[:token].max(initial=-math.inf)), float(logits[token + 1 :].max(initial=-math.inf)))
        return other - float(logits[token]) - math.log(self.total)

    def best_other(self, token: int) -> int:
        """The most probable of all tokens but one; that one where all others have probability 0."""
        return next((other for other in self.most_probable(2) if other != token), token)

    def entropy(self) -> float:
        """Entropy in nats: log(total) - E[logit - highest]; a token of probability 0 adds 0."""
        # A product and a sum instead of a dot product: BLAS would compute in float32, and wake threads that compete with the model's.
        products = np.subtract(self.logits, self.logits[self.top], out=self.spare)
        with np.errstate(invalid="ignore"):
            np.multiply(products, self.weights, out=products)
        mean = float(products.sum(dtype=np.float64))
        if math.isnan(mean):
            mean = float(np.nansum(products, dtype=np.float64))
        return max(0.0, math.log(self.total) - mean / self.total)

    def most_probable(self, count: int) -> list[int]:
        """The most probable tokens in order, of equal ones the lowest id first. Tokens of probability 0 are left out."""
        logits = self.logits
        count = min(count, int(np.count_nonzero(logits > -math.inf)))
        least = np.partition(logits, len(logits) - count)[len(logits) - count]
        candidates = np.flatnonzero(logits >= least)
        order = np.argsort(-logits[candidates], kind="stable")[:count]
        return [int(token) for token in candidates[order]]

    def sample(self, temperature: float, top_p: float, random: np.random.Generator) -> int:
        """A token drawn from the distribution at `temperature`, cut to the smallest set of most probable tokens that reaches `top_p`.

        Reference: Holtzman et al. 2020, "The curious case of neural text degeneration", section 3.1.
        """
        weights = np.exp(np.subtract(self.logits, self.logits[self.top], dtype=np.float64) / temperature)
        if top_p >= 1.0:
            return _draw(weights, random)
        order = np.argsort(-weights, kind="stable")
        reached = np.cumsum(weights[order])
        nucleus = order[: int(np.searchsorted(reached, top_p * reached[-1])) + 1]
        return int(nucleus[_draw(weights[nucleus], random)])


def distribution(logits: Row, room: Row | None = None) -> Distribution | None:
    """The distribution of a row of logits; None where a logit is not a number or none is finite.

    Parameters
        logits: shape (vocabulary). The distribution refers to them and holds only as long as they are unchanged.
        room: working memory of shape (2, vocabulary), so that a token allocates none. An earlier distribution in it becomes invalid.
    """
    top = int(logits.argmax())
    if not math.isfinite(logits[top]):
        return None
    weights, spare = np.empty((2, len(logits)), dtype=np.float32) if room is None else room
    np.exp(np.subtract(logits, logits[top], out=weights), out=weights)
    return Distribution(logits, weights, spare, float(weights.sum(dtype=np.float64)), top)


def _draw(weights: NDArray[np.float64], random: np.random.Generator) -> int:
    reached = np.cumsum(weights)
    index = int(np.searchsorted(reached, random.random() * reached[-1], side="right"))
    return min(index, int(np.flatnonzero(weights)[-1]))


Choose = Callable[[Distribution], int]


def sampler(temperature: float, top_p: float, seed: int) -> Choose:
    """The rule that chooses tokens; temperature 0 is greedy."""
    if temperature == 0:
        return lambda row: row.top
    random = np.random.default_rng(seed)
    return lambda row: row.sample(temperature, top_p, random)


def only(logits: Row, tokens: NDArray[np.intp]) -> Row:
    """The logits of these tokens; all others have probability 0."""
    kept = np.full_like(logits, -np.inf)
    kept[tokens] = logits[tokens]
    return kept

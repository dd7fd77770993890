"""One row of logits as a probability distribution over the next token: log-probabilities, entropy, a choice."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Distribution:
    """The softmax of a row of logits: log-probabilities within 1e-6 nats, the entropy within 2e-6.

    logits: the row itself (float32); weights: exp(logits - highest), in float32, whose rounding errors are all that is inexact: sums are
    taken in float64; total: their sum, so that log p = logit - highest - log(total); top: the most probable token, the lowest id where
    several tie; spare: room for a row.
    """

    logits: NDArray[np.float32]
    weights: NDArray[np.float32]
    spare: NDArray[np.float32]
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

    def entropy(self) -> float:
        """Entropy in nats: log(total) - E[logit - highest]; a token of probability 0 adds 0."""
        # A product and a sum, no dot product: BLAS would take float32 all through, and wake threads that compete with the model's.
        products = np.subtract(self.logits, self.logits[self.top], out=self.spare)
        with np.errstate(invalid="ignore"):
            np.multiply(products, self.weights, out=products)
        mean = float(products.sum(dtype=np.float64))
        if math.isnan(mean):
            mean = float(np.nansum(products, dtype=np.float64))
        return max(0.0, math.log(self.total) - mean / self.total)

    def most_probable(self, count: int) -> list[int]:
        """The most probable tokens, most probable first and the lowest id first of equal ones; only such as can come."""
        logits = self.logits
        count = min(count, int(np.count_nonzero(logits > -math.inf)))
        least = np.partition(logits, len(logits) - count)[len(logits) - count]
        candidates = np.flatnonzero(logits >= least)
        order = np.argsort(-logits[candidates], kind="stable")[:count]
        return [int(token) for token in candidates[order]]

    def sample(self, temperature: float, top_p: float, random: np.random.Generator) -> int:
        """A token drawn from the distribution at `temperature`, cut to the smallest set of most probable tokens that reaches `top_p`.

        Source of top_p: Holtzman et al. 2020, "The curious case of neural text degeneration", section 3.1.
        """
        weights = np.exp(np.subtract(self.logits, self.logits[self.top], dtype=np.float64) / temperature)
        if top_p >= 1.0:
            return _draw(weights, random)
        order = np.argsort(-weights, kind="stable")
        reached = np.cumsum(weights[order])
        nucleus = order[: int(np.searchsorted(reached, top_p * reached[-1])) + 1]
        return int(nucleus[_draw(weights[nucleus], random)])


def distribution(logits: NDArray[np.float32], room: NDArray[np.float32] | None = None) -> Distribution | None:
    """The distribution of a row of logits (shape: vocabulary); None where a logit is not a number or none is finite.

    It refers to the logits, and may be asked as long as they are there. room (shape: 2 by vocabulary) is where it is written, so that a
    large vocabulary costs no new memory at each token: what was read into it before is then gone.
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

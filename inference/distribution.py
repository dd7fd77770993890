"""One row of logits as a probability distribution over the next token: log-probabilities, entropy, a choice."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Distribution:
    """The softmax of a row of logits, in float64.

    shifted: logits less their maximum; weights: exp(shifted); log_total: log of the weights' sum, so that log p = shifted - log_total;
    top: the most probable token, the lowest id where several tie.
    """

    shifted: NDArray[np.float64]
    weights: NDArray[np.float64]
    log_total: float
    top: int

    def logprob(self, token: int) -> float:
        """log p of a token, in nats."""
        return float(self.shifted[token]) - self.log_total

    def best_other_logprob(self, token: int) -> float:
        """The highest log p of all tokens but one, in nats; -inf in a vocabulary of one."""
        if token != self.top:
            return self.logprob(self.top)
        others = max(self.shifted[:token].max(initial=-math.inf), self.shifted[token + 1 :].max(initial=-math.inf))
        return float(others) - self.log_total

    def entropy(self) -> float:
        """Entropy in nats: log total - E[shifted]; a token of probability 0 adds 0."""
        with np.errstate(invalid="ignore"):
            mean = float(self.weights @ self.shifted)
        if math.isnan(mean):
            possible = self.weights > 0
            mean = float(self.weights[possible] @ self.shifted[possible])
        return max(0.0, self.log_total - mean * math.exp(-self.log_total))

    def most_probable(self, count: int) -> list[int]:
        """The most probable tokens, most probable first and the lowest id first of equal ones; only such as can come."""
        count = min(count, int(np.count_nonzero(self.weights)))
        least = np.partition(self.shifted, len(self.shifted) - count)[len(self.shifted) - count]
        candidates = np.flatnonzero(self.shifted >= least)
        order = np.argsort(-self.shifted[candidates], kind="stable")[:count]
        return [int(token) for token in candidates[order]]

    def sample(self, temperature: float, top_p: float, random: np.random.Generator) -> int:
        """A token drawn from the distribution at `temperature`, cut to the smallest set of most probable tokens that reaches `top_p`.

        Source of top_p: Holtzman et al. 2020, "The curious case of neural text degeneration", section 3.1.
        """
        weights = np.exp(self.shifted / temperature)
        if top_p >= 1.0:
            return _draw(weights, random)
        order = np.argsort(-weights, kind="stable")
        reached = np.cumsum(weights[order])
        nucleus = order[: int(np.searchsorted(reached, top_p * reached[-1])) + 1]
        return int(nucleus[_draw(weights[nucleus], random)])


def distribution(logits: NDArray[np.float32], room: NDArray[np.float64] | None = None) -> Distribution | None:
    """The distribution of a row of logits (shape: vocabulary); None where a logit is not a number or none is finite.

    room (shape: 2 by vocabulary) is where it is written, so that a large vocabulary costs no new memory at each token: what was read
    into it before is then gone.
    """
    top = int(logits.argmax())
    if not math.isfinite(logits[top]):
        return None
    shifted, weights = (None, None) if room is None else room
    shifted = np.subtract(logits, logits[top], out=shifted, dtype=np.float64)
    weights = np.exp(shifted, out=weights)
    return Distribution(shifted, weights, math.log(weights.sum()), top)


def _draw(weights: NDArray[np.float64], random: np.random.Generator) -> int:
    reached = np.cumsum(weights)
    index = int(np.searchsorted(reached, random.random() * reached[-1], side="right"))
    return min(index, int(np.flatnonzero(weights)[-1]))

"""Rows of logits as distributions over the next token, computed on their device, so that a few numbers of a row are moved and not all.

The formulas are those of llamacpp/distribution.py, on torch tensors.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

Choose = Callable[[Tensor], Tensor]


def widest_float(logits: Tensor) -> Tensor:
    """Logits in the widest float that their device has: float64, or float32 on mps."""
    return logits.to(torch.float32 if logits.device.type == "mps" else torch.float64)


def token_statistics(logits: Tensor, chosen: Tensor) -> list[tuple[int, float, float, float]]:
    """For each row its chosen token, the log p of that and of the best other token, and the entropy, in nats.

    Parameters
        logits: shape (rows, vocabulary), as `widest_float` gives them. In a vocabulary of one the best other has -inf.
        chosen: shape (rows).
    """
    shifted = logits - logits.amax(-1, keepdim=True)
    weights = shifted.exp()
    total = weights.sum(-1)
    log_total = total.log()
    index = chosen[:, None]
    own = shifted.gather(-1, index)[:, 0] - log_total
    other = shifted.scatter(-1, index, -torch.inf).amax(-1) - log_total
    # A token of probability 0 adds 0, not 0 times infinity.
    entropy = (log_total - (weights * shifted.clamp(min=-1e30)).sum(-1) / total).clamp(min=0)
    # One transfer for all. Ids are exact in a float too, because no vocabulary has 2^24 tokens.
    rows = torch.stack([chosen.to(own.dtype), own, other, entropy], -1).tolist()
    return [(int(token), logprob, best_other, spread) for token, logprob, best_other, spread in rows]


def only(row: Tensor, tokens: Tensor) -> Tensor:
    """The logits of these tokens; all others have probability 0."""
    return torch.full_like(row, -torch.inf).index_copy(0, tokens, row[tokens])


def logprobs_of(logits: Tensor, tokens: Tensor) -> list[float]:
    """log p of one token for each row, in nats; shapes as in `token_statistics`."""
    values: list[float] = torch.log_softmax(logits, -1).gather(-1, tokens[:, None])[:, 0].tolist()
    return values


def sample(row: Tensor, temperature: float, top_p: float, uniform: float) -> Tensor:
    """The token that `uniform` chooses at `temperature`, from the smallest set of tokens that reaches `top_p`.

    Parameters
        row: shape (vocabulary), as `widest_float` gives it.
        uniform: a number drawn evenly from [0, 1). It chooses the same token as in llamacpp/distribution.py.
    """
    weights = torch.exp((row - row.max()) / temperature)
    if top_p >= 1.0:
        return _draw(weights, uniform)
    order = torch.argsort(weights, descending=True, stable=True)
    reached = weights[order].cumsum(-1)
    count = torch.searchsorted(reached, top_p * reached[-1:]) + 1
    nucleus = order[: int(count)]
    return nucleus[_draw(weights[nucleus], uniform)]


def chooser(temperature: float, top_p: float, seed: int) -> Choose:
    """The rule that chooses a token from a row of logits: at a temperature above 0 it draws, at 0 it takes the most likely."""
    if temperature == 0:
        return lambda row: row.argmax()
    random = np.random.default_rng(seed)
    return lambda row: sample(row, temperature, top_p, random.random())


def _draw(weights: Tensor, uniform: float) -> Tensor:
    reached = weights.cumsum(-1)
    index = torch.searchsorted(reached, uniform * reached[-1:], right=True)[0]
    return torch.minimum(index, torch.nonzero(weights)[-1, 0])


def best_other(row: Tensor, token: int) -> int:
    """The most likely of all tokens but one, from a row of logits; that one where all others have probability 0."""
    others = row.clone()
    others[token] = -math.inf
    found = int(others.argmax())
    return token if others[found] == -math.inf else found

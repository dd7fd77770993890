"""What is known of each candidate for the next token: where and how often it was seen, and how likely the model finds it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .index import MAX_MATCHED, Numbers
from .lookup import Seen, Written

Floats = NDArray[np.float32]

# Those that were seen behind the most words.
MAX_CANDIDATES = 48
_LEVELS = np.array([1, 2, 3, 4, 6, 9])
_OF_A_SOURCE = 8 + len(_LEVELS)
_STATE_OF_A_SOURCE = 2 + len(_LEVELS)
_STATE = 6


@dataclass(frozen=True, slots=True)
class Evidence:
    """The candidates for the next token.

    Attributes
        events: one of the vocabulary's events each.
        logprobs: log p that the model gives each.
        features: a column for each: of each index what was seen of it there, then the log-probability.
        state: what is the same for all: of each index how much was seen, then what the model says and what is written.
    """

    events: Numbers
    logprobs: Floats
    features: Floats
    state: Floats


@dataclass(frozen=True, slots=True)
class ModelState:
    """What the model says, besides the log-probability of each candidate: that of its most probable token, and its entropy, in nats."""

    top: float
    entropy: float


def feature_counts(sources: int) -> tuple[int, int]:
    """How many features a candidate has, and the state, from so many indexes."""
    return sources * _OF_A_SOURCE + 1, sources * _STATE_OF_A_SOURCE + _STATE


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was seen of each candidate, before the model is asked. kept: their numbers among all events that were seen."""

    kept: Numbers
    features: Floats
    state: Floats


def gathered(seen: Sequence[Seen], count: int) -> Gathered:
    """What was seen of `count` events; of too many, of those behind the most words."""
    sources, rows = len(seen), MAX_MATCHED + 1
    of_candidates, of_state = feature_counts(sources)
    columns, state = np.zeros((of_candidates, count), dtype=np.float32), np.zeros(of_state, dtype=np.float32)
    features, of_sources = columns[:-1].reshape(sources, _OF_A_SOURCE, count), state[:-_STATE].reshape(sources, _STATE_OF_A_SOURCE)
    # counts[s, k, c]: places of a candidate with at least k words the same
    keys = np.concatenate([(each.matched + number * rows) * count + each.of for number, each in enumerate(seen)])
    counts = np.bincount(keys, minlength=sources * rows * count).reshape(sources, rows, count)[:, ::-1].cumsum(axis=1)[:, ::-1]
    totals = counts.sum(axis=2)
    # Each place has at least one, so that these are 0 where a candidate has no place.
    deepest = (counts[:, 1:] > 0).sum(axis=1)
    deep = deepest.max(axis=1)
    source = np.arange(sources)
    at_deepest = counts[source[:, None], deepest, np.arange(count)]
    np.multiply(deepest, 0.25, out=features[:, 0])
    np.equal(deepest, np.maximum(deep, 1)[:, None], out=features[:, 1])
    np.log1p(at_deepest, out=features[:, 2])
    np.divide(at_deepest, np.maximum(totals[source[:, None], deepest], 1), out=features[:, 3])
    for each, own, most in zip(seen, features, deep, strict=True):
        if each.same_next_line is not None:
            similar = np.bincount(each.of, weights=each.same_next_line >= 2, minlength=count)
            own[4] = similar / max(1.0, similar.sum())
            np.maximum.at(own[5], each.of, each.same_next_line * (each.matched >= most - 1))
        if len(each.renamed):
            renamed = np.bincount(each.renamed, minlength=count)
            own[6] = np.log1p(renamed)
            own[7] = renamed / len(each.renamed)
    levels = totals[:, _LEVELS]
    np.divide(counts[:, _LEVELS], np.maximum(levels, 1)[:, :, None], out=features[:, 8:])
    of_sources[:, 0] = deep / 4
    of_sources[:, 1] = np.log1p(np.count_nonzero(counts[source, deep], axis=1))
    of_sources[:, 2:] = np.log1p(levels) / 3
    if count <= MAX_CANDIDATES:
        return Gathered(np.arange(count), columns, state)
    # By the words that were the same, then by how much of what was seen there it is.
    kept = np.argsort(-(4 * features[:, 0] + features[:, 3]).max(axis=0), kind="stable")[:MAX_CANDIDATES]
    return Gathered(kept, columns[:, kept], state)


def evidence_of(found: Gathered, events: Numbers, logprobs: Floats, model: ModelState, written: Written) -> Evidence:
    """The evidence of candidates. Those that the model can't write are left out."""
    features, state = found.features, found.state
    features[-1] = logprobs / 5
    possible = np.isfinite(logprobs)
    if not possible.all():
        events, logprobs, features = events[possible], logprobs[possible], features[:, possible]
    state[-_STATE:] = (
        model.top,
        model.entropy,
        bool(written.ahead),
        min(len(written.begun), 10) / 5,
        written.begun[-1:].isalnum(),
        len(events) / MAX_CANDIDATES,
    )
    return Evidence(events, logprobs, features, state)

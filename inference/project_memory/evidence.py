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
    candidate_features, state_features = feature_counts(len(seen))
    features = np.zeros((candidate_features, count), dtype=np.float32)
    state = np.zeros(state_features, dtype=np.float32)
    for number, each in enumerate(seen):
        of_candidates, of_state = number * _OF_A_SOURCE, number * _STATE_OF_A_SOURCE
        _add(each, features[of_candidates : of_candidates + _OF_A_SOURCE], state[of_state : of_state + _STATE_OF_A_SOURCE])
    if count <= MAX_CANDIDATES:
        return Gathered(np.arange(count), features, state)
    # By the words that were the same, then by how much of what was seen there it is.
    rank = np.max([4 * part[0] + part[3] for part in (features[n * _OF_A_SOURCE :] for n in range(len(seen)))], axis=0)
    kept = np.argsort(-rank, kind="stable")[:MAX_CANDIDATES]
    return Gathered(kept, features[:, kept], state)


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


def _add(seen: Seen, features: Floats, state: Floats) -> None:
    """Fill in what one index says."""
    count = features.shape[1]
    if len(seen.renamed):
        renamed = np.bincount(seen.renamed, minlength=count)
        features[6] = np.log1p(renamed)
        features[7] = renamed / len(seen.renamed)
    of, matched = seen.of, seen.matched
    if not len(of):
        return
    # counts[k, c]: places of a candidate with at least k words the same
    counts = np.bincount(matched * count + of, minlength=(MAX_MATCHED + 1) * count).reshape(-1, count)[::-1].cumsum(axis=0)[::-1]
    totals = counts.sum(axis=1)
    deepest = np.count_nonzero(counts[1:], axis=0)
    deep = int(matched.max())
    at_deepest = counts[deepest, np.arange(count)] * (deepest > 0)
    features[0] = deepest / 4
    features[1] = deepest == deep
    features[2] = np.log1p(at_deepest)
    features[3] = at_deepest / totals[deepest]
    if seen.same_next_line is not None:
        similar = np.bincount(of, weights=seen.same_next_line >= 2, minlength=count)
        features[4] = similar / max(1.0, similar.sum())
        np.maximum.at(features[5], of, seen.same_next_line * (matched >= deep - 1))
    levels = totals[_LEVELS]
    features[8:] = counts[_LEVELS] / np.maximum(levels, 1)[:, None]
    state[0] = deep / 4
    state[1] = np.log1p(np.count_nonzero(counts[deep]))
    state[2:] = np.log1p(levels) / 3

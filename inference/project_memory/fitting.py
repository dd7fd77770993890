"""Fits the weights of the mixture: what is known of each candidate where hidden text was written again, and which of them came."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from ..model import Source
from .evidence import Evidence
from .memory import Memory
from .mixture import MIN_LOGPROB, Row
from .reader import Reader
from .spelling import Spelling
from .weights import Gains

HIDDEN = 16
_MAX_ITERATIONS = 150
# So that a feature that hardly varies is not blown up.
_MIN_SCALE = 1e-2
# A token that the model gives no probability at all costs no more than this, in nats.
_MIN_TRUTH = -50.0


@dataclass(frozen=True, slots=True)
class Step:
    """A token of a hidden text. event: the one that came. logprob: that of the event by the model alone. evidence: None for none."""

    event: int
    logprob: float
    evidence: Evidence | None


class Forced:
    """A memory that lets a model write a given text, and records what the memories say before each of its tokens.

    Attributes
        steps: for each memory those of its reader.
    """

    def __init__(self, memories: Sequence[Memory], spelling: Spelling, tokens: Sequence[int]) -> None:
        self.steps: list[list[Step]] = [[] for _ in memories]
        self._memories, self._spelling, self._tokens = memories, spelling, tokens

    @property
    def is_done(self) -> bool:
        """Whether the text is written."""
        return len(self.steps[0]) >= len(self._tokens)

    def reader(self, held: str) -> _ForcedReader:
        """The reader of one generation."""
        return _ForcedReader(self, [memory.reader(held) for memory in self._memories])


class _ForcedReader:
    def __init__(self, forced: Forced, readers: Sequence[Reader]) -> None:
        self._forced, self._readers = forced, readers
        self._at = 0

    def look_ahead(self) -> None:
        for reader in self._readers:
            reader.look_ahead()

    def mix(self, row: Row) -> Row:
        forced = self._forced
        token = forced._tokens[self._at]
        event = int(forced._spelling.event_of[token])
        for reader, steps in zip(self._readers, forced.steps, strict=True):
            logprob, evidence = reader.evidence(row, event)
            steps.append(Step(event, logprob, evidence))
        only = np.full_like(row, -np.inf)
        only[token] = 0.0
        return only

    def take(self, token: int) -> None:
        self._at += 1
        for reader in self._readers:
            reader.take(token)

    def copy(self) -> Self:
        raise NotImplementedError("a forced text has no alternatives")

    def sources(self) -> tuple[Source, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class _Data:
    """All steps with candidates.

    Attributes
        of_candidates: the features of all candidates, a row each. of_state: those of each step.
        likely: the log-probabilities of the candidates. rest: by step, the probability of all that are none.
        starts: the first candidate of each step. step_of: the step of each candidate.
        came: the candidates that came. truth: by step, the log-probability of what came where that is no candidate, else 0.
    """

    of_candidates: NDArray[np.float64]
    of_state: NDArray[np.float64]
    likely: NDArray[np.float64]
    rest: NDArray[np.float64]
    starts: NDArray[np.int64]
    step_of: NDArray[np.int64]
    came: NDArray[np.int64]
    truth: NDArray[np.float64]


def fit(steps: Sequence[Step], strength: float = 0.01, seed: int = 0, prior: Gains | None = None) -> Gains:
    """The network that makes the texts that came most likely. Raises ValueError where nothing was seen.

    strength: of the regularisation: half of it times the sum of the squared weights is added to the mean loss of a step, which keeps
    weights of features that say little near 0.
    prior: a network that was fitted to another model. The fit begins there, and what is squared is the distance from it: few steps then
    say how this model differs, which takes fewer than to fit one from nothing.
    """
    data = _data(steps)
    of_candidates, of_state = _Scaled.of(data.of_candidates), _Scaled.of(data.of_state)
    sizes = (of_candidates.values.shape[1], of_state.values.shape[1])
    random = np.random.default_rng(seed)
    scale = sum(sizes) ** -0.5
    begin = [random.normal(0, scale, (sizes[0], HIDDEN)), random.normal(0, scale, (sizes[1], HIDDEN)), np.zeros(HIDDEN)]
    begin += [random.normal(0, 0.1, HIDDEN), np.zeros(1)]
    if prior is not None:
        begin = [prior.of_candidate.T * of_candidates.scale[:, None], prior.of_state.T * of_state.scale[:, None]]
        begin += [prior.inner_bias + of_candidates.mean @ prior.of_candidate.T + of_state.mean @ prior.of_state.T]
        begin += [prior.outer.astype(np.float64), np.array([prior.bias])]
    flat = np.concatenate([np.ravel(part).astype(np.float64) for part in begin])
    # Biases are free, unless there is a network to stay near.
    decay = np.concatenate(
        [np.full(part.size, strength if prior is not None or number not in (2, 4) else 0.0) for number, part in enumerate(begin)]
    )
    centre = flat if prior is not None else np.zeros_like(flat)
    steps_count = len(data.starts)

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        inner, inner_of_state, bias, outer, last = _parts(weights, sizes)
        hidden = of_candidates.values @ inner + (of_state.values @ inner_of_state + bias)[data.step_of]
        np.maximum(hidden, 0, out=hidden)
        scores = data.likely + hidden @ outer + last
        highest = np.maximum(np.maximum.reduceat(scores, data.starts), 0)
        shares = np.exp(scores - highest[data.step_of])
        total = np.add.reduceat(shares, data.starts) + data.rest * np.exp(-highest)
        value = float((np.log(total) + highest - data.truth).sum() - scores[data.came].sum()) / steps_count
        slope = shares / total[data.step_of]
        slope[data.came] -= 1
        slope /= steps_count
        back = np.outer(slope, outer) * (hidden > 0)
        back_of_state = np.add.reduceat(back, data.starts, axis=0)
        gradient = [of_candidates.values.T @ back, of_state.values.T @ back_of_state, back.sum(axis=0), hidden.T @ slope, slope.sum()]
        away = weights - centre
        return value + 0.5 * float((decay * away**2).sum()), np.concatenate([np.ravel(part) for part in gradient]) + decay * away

    found = minimize(loss, flat, jac=True, method="L-BFGS-B", options={"maxiter": _MAX_ITERATIONS}).x
    inner, inner_of_state, bias, outer, last = _parts(found, sizes)
    inner, inner_of_state = inner / of_candidates.scale[:, None], inner_of_state / of_state.scale[:, None]
    bias = bias - of_candidates.mean @ inner - of_state.mean @ inner_of_state
    first, second, third, fourth = (part.astype(np.float32) for part in (inner.T, inner_of_state.T, bias, outer))
    return Gains(first, second, third, fourth, float(last[0]))


def nats(steps: Sequence[Step], gains: Gains | None) -> NDArray[np.float64]:
    """For each step -log p of the event that came, mixed with these gains; by the model alone without any."""
    found = np.array([-step.logprob for step in steps])
    for number, step in enumerate(steps):
        evidence = step.evidence
        if gains is None or evidence is None:
            continue
        scores = np.maximum(evidence.logprobs, MIN_LOGPROB) + gains.of(evidence)
        rest = max(0.0, 1 - float(np.exp(evidence.logprobs, dtype=np.float64).sum()))
        came = np.flatnonzero(evidence.events == step.event)
        truth = float(scores[came[0]]) if len(came) else step.logprob
        found[number] = np.log(rest + np.exp(scores, dtype=np.float64).sum()) - truth
    return found


@dataclass(frozen=True, slots=True)
class _Scaled:
    """Features with mean 0 and standard deviation 1, and what they were."""

    values: NDArray[np.float64]
    mean: NDArray[np.float64]
    scale: NDArray[np.float64]

    @staticmethod
    def of(features: NDArray[np.float64]) -> _Scaled:
        mean, scale = features.mean(axis=0), features.std(axis=0) + _MIN_SCALE
        return _Scaled((features - mean) / scale, mean, scale)


def _parts(weights: NDArray[np.float64], sizes: tuple[int, int]) -> tuple[NDArray[np.float64], ...]:
    borders = np.cumsum([sizes[0] * HIDDEN, sizes[1] * HIDDEN, HIDDEN, HIDDEN])
    inner, inner_of_state, bias, outer, last = np.split(weights, borders)
    return inner.reshape(-1, HIDDEN), inner_of_state.reshape(-1, HIDDEN), bias, outer, last


def _data(steps: Sequence[Step]) -> _Data:
    used = [(step, step.evidence) for step in steps if step.evidence is not None]
    if not used:
        raise ValueError("nothing was seen before at any of the places: there is nothing to fit")
    sizes = [len(evidence.events) for _, evidence in used]
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1]))
    came, truth = list[int](), np.zeros(len(used))
    for number, (step, evidence) in enumerate(used):
        among = np.flatnonzero(evidence.events == step.event)
        if len(among):
            came.append(int(starts[number] + among[0]))
        else:
            truth[number] = max(step.logprob, _MIN_TRUTH)
    logprobs = np.concatenate([evidence.logprobs for _, evidence in used]).astype(np.float64)
    return _Data(
        of_candidates=np.concatenate([evidence.features.T for _, evidence in used]).astype(np.float64),
        of_state=np.stack([evidence.state for _, evidence in used]).astype(np.float64),
        likely=np.maximum(logprobs, MIN_LOGPROB),
        rest=np.maximum(0.0, 1 - np.add.reduceat(np.exp(logprobs), starts)),
        starts=starts,
        step_of=np.repeat(np.arange(len(used)), sizes),
        came=np.array(came, dtype=np.int64),
        truth=truth,
    )

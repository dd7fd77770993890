"""Platt scaling that learns from each sample as it comes, starting from a fitted map: online Platt scaling with calibeating.

Sources: Gupta & Ramdas (2023), Online Platt scaling with calibeating: OPS is their algorithm 1, an online Newton step, TOPS their tracking
of it. Foster & Hart (2023), "Calibeating": beating forecasters at their own game, §4. Herbster & Warmuth (1998), Tracking the best expert:
the fixed share. Their notation is kept: θ_t, A_t, γ, ∇_t.

Three forecasters run side by side, and `probability` is their mixture.

start: the fitted map θ_1, for ever.
OPS: A_t = A_{t-1} + ∇_t ∇_tᵀ and θ_{t+1} = θ_t - A_t⁻¹ ∇_t / γ, ∇_t the gradient of the log loss of θ_t at sample t. γ = 0.1 as
published. The paper starts from the identity and 100 · I; this from the fit, with A_0 = V⁻¹ / γ for its covariance V, so that it goes on
where the fit ended. γ makes each step ten times that of a fit to all samples: by and large the map follows the last tenth of them.
TOPS: p of OPS plus the mean residual y - p of earlier samples in its bin of width 0.1, as if each bin began with 20 samples of residual 0
(to show that it is off by 0.1, a bin needs about p (1 - p) / 0.1² of them). The paper says the mean of y instead, which forgets what the
map knows within a bin, and knows nothing until the bins are full. As there, the Brier score is in the end that of OPS less its
calibration error in the bins: the regret of a running mean is O(log T) in squared loss, whether of outcomes or of residuals.

Mixture: weights by Bayes' rule, and after sample t a share 1 / (t + 1) of all weight is dealt out anew in thirds, so that a forecaster
that was long the worse can take over. Whatever comes, drift or adversary, the summed log loss after T samples is at most that of each of
the three plus log 3 + log T nats: a forecaster's weight is a third at first, and t / (t + 1) of it outlives each sharing. So it does not do
worse than its start for long, and no projection of θ (the paper's ball of radius 100) is needed for that.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..arrays import Floats

GAMMA = 0.1
BINS = 10
_FIRST_IN_BIN = 20.0
# far above any real measure, far below what overflows when squared
_LARGEST = 1e12


@dataclass(frozen=True, slots=True)
class OnlinePlatt:
    """The state after t samples: numbers only, so that it goes through JSON (`dataclasses.asdict`, `strict_json.build`) unchanged.

    theta_1 and a_0: the start. theta and a: θ_{t+1} and A_t of OPS. bins: (weight, summed residual) of each of TOPS's. weights: of start,
    OPS and TOPS. n: samples that the start was fitted on. half_life: in samples, None for one that never forgets.
    """

    theta_1: tuple[float, ...]
    a_0: tuple[tuple[float, ...], ...]
    theta: tuple[float, ...]
    a: tuple[tuple[float, ...], ...]
    bins: tuple[tuple[float, float], ...]
    weights: tuple[float, float, float]
    t: int
    n: int
    half_life: float | None


@dataclass(frozen=True, slots=True)
class Forecasts:
    """What each of the three says of one sample: probabilities in [1 / (n + 2), 1 - 1 / (n + 2)]."""

    start: float
    ops: float
    tops: float


def start(
    intercept: float, slopes: Sequence[float], covariance: Sequence[Sequence[float]], n: int, *, half_life: float | None = None
) -> OnlinePlatt:
    """The state before the first sample, from a Platt map that was fitted on n samples.

    covariance (k + 1, k + 1): of (intercept, slopes). One in which only groups count as independent lets the map follow a new project
    faster. half_life: of what was learned, the fit included, in samples: so many after a shift OPS has made good about half of it or more,
    however many it had seen before. Raises ValueError for a covariance that is not positive definite (as where a feature was constant in
    the fit), parameters that are not finite, n < 1 and a half-life below 1.
    """
    theta = (float(intercept), *map(float, slopes))
    v = np.asarray(covariance, dtype=np.float64)
    if v.shape != (len(theta), len(theta)) or not (np.isfinite(theta).all() and np.isfinite(v).all()):
        raise ValueError(f"{len(theta)} finite parameters need a finite covariance of {len(theta)} by {len(theta)}")
    if np.linalg.eigvalsh(v).min() <= 1e-12 * np.abs(v).max():
        raise ValueError("the covariance is not positive definite: a feature that was constant in the fit has nothing to start from")
    if n < 1 or (half_life is not None and not 1 <= half_life < math.inf):
        raise ValueError(f"n = {n} and half_life = {half_life} must be at least 1")
    a_0 = _rows(np.asarray(np.linalg.inv(v) / GAMMA, dtype=np.float64))
    return OnlinePlatt(theta, a_0, theta, a_0, ((0.0, 0.0),) * BINS, (1 / 3, 1 / 3, 1 / 3), 0, n, half_life)


def forecasts(state: OnlinePlatt, x: Sequence[float]) -> Forecasts:
    """What start, OPS and TOPS say of features x (k,), as they enter a map (`measures.enter`).

    Raises ValueError for a number of features that is not the map's, and for one beyond any real measure's.
    """
    ops = _bounded(_sigmoid(_log_odds(state.theta, x)), state.n)
    weight, residual = state.bins[_bin(ops)]
    return Forecasts(
        start=_bounded(_sigmoid(_log_odds(state.theta_1, x)), state.n),
        ops=ops,
        tops=_bounded(ops + residual / (weight + _FIRST_IN_BIN), state.n),
    )


def probability(state: OnlinePlatt, x: Sequence[float]) -> float:
    """P(event) for features x (k,), as they enter a map: the mixture, in [1 / (n + 2), 1 - 1 / (n + 2)]. Raises what `forecasts` raises."""
    said = forecasts(state, x)
    # bounded once more, because the weights add up to 1 only within rounding
    return _bounded(math.fsum(w * p for w, p in zip(state.weights, (said.start, said.ops, said.tops), strict=True)), state.n)


def update(state: OnlinePlatt, x: Sequence[float], y: bool) -> OnlinePlatt:
    """The state after one more sample: features x (k,), as they enter a map, and whether the event happened.

    Deterministic. Raises what `forecasts` raises.
    """
    said = forecasts(state, x)
    keep_a, keep_bins = (1.0, 1.0) if state.half_life is None else (0.5 ** (GAMMA / state.half_life), 0.5 ** (1 / state.half_life))
    gradient = (_sigmoid(_log_odds(state.theta, x)) - y) * np.array([1.0, *x])
    # what is forgotten tends to what one sample of the fit told, not to nothing: what no sample tells of stays determined
    a = keep_a * np.array(state.a) + (1 - keep_a) / state.n * np.array(state.a_0) + np.outer(gradient, gradient)
    theta = np.array(state.theta) - np.linalg.solve(a, gradient) / GAMMA
    bins = [(keep_bins * weight, keep_bins * residual) for weight, residual in state.bins]
    weight, residual = bins[_bin(said.ops)]
    bins[_bin(said.ops)] = (weight + 1, residual + y - said.ops)
    posterior = [w * (p if y else 1 - p) for w, p in zip(state.weights, (said.start, said.ops, said.tops), strict=True)]
    total, share = math.fsum(posterior), 1 / (state.t + 2)
    of_start, of_ops, of_tops = ((1 - share) * w / total + share / 3 for w in posterior)
    return replace(state, theta=tuple(theta.tolist()), a=_rows(a), bins=tuple(bins), weights=(of_start, of_ops, of_tops), t=state.t + 1)


def _log_odds(theta: tuple[float, ...], x: Sequence[float]) -> float:
    if len(x) + 1 != len(theta) or not all(abs(v) <= _LARGEST for v in x):
        raise ValueError(f"{len(theta) - 1} features within {_LARGEST:g} of 0 are needed, not {list(x)}")
    return math.fsum(a * b for a, b in zip(theta, (1.0, *x), strict=True))


def _sigmoid(z: float) -> float:
    return 1 / (1 + math.exp(-z)) if z >= 0 else math.exp(z) / (1 + math.exp(z))


def _bounded(p: float, n: int) -> float:
    return min(max(p, 1 / (n + 2)), 1 - 1 / (n + 2))


def _bin(p: float) -> int:
    return min(int(p * BINS), BINS - 1)


def _rows(matrix: Floats) -> tuple[tuple[float, ...], ...]:
    return tuple(map(tuple, matrix.tolist()))

"""Linear maps to log odds: the fit that Platt, beta and temperature scaling share.

It minimises the log loss to Platt's smoothed targets by Newton's method, with one change: a sample that is predicted beyond its own target
no longer pulls. As published, a hopeless sample far out (log odds of -1000, target 1 / (N- + 2)) pulls the slope towards 0 with a force
that grows with its distance. Where a fifth of the samples are such, a measure with skill 0.36 is left with 0.12 at n = 100 and 0.24 at n =
300. Without that pull it keeps 0.34 and 0.35.

So the loss of a sample is Platt's up to its minimum, which lies at the target, and constant beyond it. That is still convex and smooth.
Where no sample is beyond its target the map is Platt's. With more samples both converge to the truth, because the targets go to 0 and 1. A
sample beyond its target differs from it by less than 1 / (N + 2), so the probabilities still add up to the positives within one or two
samples.

References: Platt (1999), Probabilistic outputs for support vector machines, for the smoothed targets. Lin, Lin & Weng (2007), A note on
Platt's probabilistic outputs, algorithm 1, for Newton's method with step halving.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, sigmoid

_MAX_STEPS = 100
_MAX_HALVINGS = 40
# The least part of the gain promised by the gradient that a step must bring (Armijo's rule).
_MIN_GAIN = 1e-4
# Rows at a time. They stay in the cache, and the products are too small for BLAS to share out among threads, which costs more than it
# saves.
_CHUNK = 8_192
# With more than four times as many samples, the first steps are taken on this many of them.
_WARM = 20_000


@dataclass(frozen=True, slots=True)
class Linear:
    """A fitted map in the units of its features.

    theta (k,): the intercept, where there is one, then the slopes. covariance (k, k): of theta.
    """

    theta: Floats
    covariance: tuple[tuple[float, ...], ...]


def equation(intercept: float, slopes: Sequence[float], features: Sequence[str]) -> str:
    """The map as a formula for people.

    >>> equation(0.25, [0.5, -1.25], ["total_logprob", "length"])
    'log odds = 0.25 + 0.5 · total_logprob − 1.25 · length'
    """
    terms = "".join(f" {'+' if s >= 0 else '−'} {abs(s):.4g} · {f}" for s, f in zip(slopes, features, strict=True))
    return f"log odds = {intercept:.4g}{terms}"


def linear_predictor(intercept: float, slopes: Sequence[float], x: Floats) -> Floats:
    """intercept + Σ slope · feature (n,) of features x (n, k).

    A matrix product would round a row by how many there are beside it; here it is the same alone and among others.
    """
    z = np.full(len(x), intercept)
    for slope, column in zip(slopes, x.T, strict=True):
        z = z + slope * column
    return z


def targets_of(positives: int, n: int) -> tuple[float, float]:
    """Platt's targets (t+, t-): (N+ + 1) / (N+ + 2) for a positive sample, 1 / (N- + 2) for a negative one."""
    return (positives + 1) / (positives + 2), 1 / (n - positives + 2)


def smoothed_targets(y: NDArray[np.bool_]) -> Floats:
    """Platt's target of each sample, (n,)."""
    return np.where(y, *targets_of(int(y.sum()), len(y)))


def residuals(z: Floats, y: NDArray[np.bool_]) -> Floats:
    """Minus the derivative of each sample's loss with respect to its log odds z (n,): target - p, and 0 beyond the target."""
    pull = smoothed_targets(y) - sigmoid(z)
    return np.where(y, np.maximum(pull, 0.0), np.minimum(pull, 0.0))


def total_loss(z: Floats, y: NDArray[np.bool_]) -> float:
    """The loss that `fit_linear` minimises, in nats, of log odds z (n,): Σ log(1 + exp(z)) - target · z, each z clipped at its target."""
    targets = smoothed_targets(y)
    limit = np.log(targets / (1 - targets))
    z = np.where(y, np.minimum(z, limit), np.maximum(z, limit))
    return float((np.logaddexp(0.0, z) - targets * z).sum())


def fit_linear(
    x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp] | None = None, *, intercept: bool = True, ridge: Floats | None = None
) -> Linear:
    """Fit log odds = theta · (1, x) to features x (n, k) and labels y (n,).

    Parameters:
        groups (n,): numbers from 0. Only groups, not samples, are taken as independent for the covariance. Without groups, and where there
            are no more groups than parameters, each sample is.
        intercept: whether theta has one.
        ridge (k,): adds ½ Σ ridge · (slope · spread)² to the loss. The spread of a feature is its standard deviation, or its root mean
            square where there is no intercept.

    Raises ValueError if there are no samples, shapes do not fit or a feature is not finite.
    """
    if x.ndim != 2 or len(x) == 0 or y.shape != (len(x),):
        raise ValueError(f"features of shape {x.shape} and labels of shape {y.shape} are not n > 0 samples")
    if not np.isfinite(x).all():
        raise ValueError("a feature is not finite")
    k = x.shape[1]
    centre = x.mean(axis=0) if intercept else np.zeros(k)
    spread = x.std(axis=0) if intercept else np.sqrt((x**2).mean(axis=0))
    constant = spread <= 1e-12 * np.abs(centre)
    scale = np.where(constant, 1.0, spread)
    design = np.where(constant, 0.0, (x - centre) / scale)
    penalty = np.zeros(k) if ridge is None else ridge
    start = np.zeros(k)
    # theta in the units of the features = raw @ theta of the standardised design
    raw = np.diag(1 / scale)
    if intercept:
        design = np.column_stack([np.ones(len(y)), design])
        penalty = np.concatenate([[0.0], penalty])
        base_rate = smoothed_targets(y).mean()
        start = np.concatenate([[np.log(base_rate / (1 - base_rate))], start])
        raw = np.block([[np.ones((1, 1)), -(centre / scale)[None, :]], [np.zeros((k, 1)), raw]])
    theta, hessian = _minimise(design, y, start, penalty)
    half = _inverse(hessian)
    covariance = half
    if groups is not None and (count := int(groups.max()) + 1) > design.shape[1]:
        # The sandwich H⁻¹ (Σ_g s_g s_gᵀ) H⁻¹ · G / (G - 1), s_g the summed score of group g (Liang & Zeger 1986; CR1).
        pull = residuals(design @ theta, y)
        scores = np.column_stack([np.bincount(groups, pull * column, count) for column in design.T]) @ half
        covariance = scores.T @ scores * (count / (count - 1))
    return Linear(raw @ theta, tuple(map(tuple, (raw @ covariance @ raw.T).tolist())))


def standard_errors(design: Floats, covariance: tuple[tuple[float, ...], ...]) -> Floats:
    """Standard errors of log odds (n,): √(xᵀ V x) for each row x of the design (n, k)."""
    return np.asarray(np.sqrt(np.maximum(0.0, np.einsum("ij,jk,ik->i", design, np.array(covariance), design))), dtype=np.float64)


def _minimise(design: Floats, y: NDArray[np.bool_], start: Floats, penalty: Floats) -> tuple[Floats, Floats]:
    """The theta that minimises the loss, and the Hessian there.

    Converged when half the squared Newton decrement is below 1e-14 of the loss.
    """
    targets = targets_of(int(y.sum()), len(y))
    if len(y) > 4 * _WARM:
        few = slice(None, None, len(y) // _WARM)
        start, _ = _newton([design[few][y[few]], design[few][~y[few]]], targets, start, penalty * _WARM / len(y))
    return _newton([design[y], design[~y]], targets, start, penalty)


def _inverse(hessian: Floats) -> Floats:
    # A direction that the data do not determine (a constant or repeated feature) gets 0 instead of a division by almost 0.
    found: NDArray[Any] = np.linalg.pinv(hessian, rcond=1e-11, hermitian=True)
    return np.asarray(found, dtype=np.float64)


def _newton(classes: list[Floats], targets: tuple[float, float], theta: Floats, penalty: Floats) -> tuple[Floats, Floats]:
    loss, gradient, hessian, beyond = _derivatives(classes, targets, theta, penalty)
    for _ in range(_MAX_STEPS):
        # The Hessian of this loss: a sample beyond its target adds nothing. Counting those, one sample far out would make every step tiny.
        # The gradient has no part in the directions where this Hessian is flat, so its pseudo-inverse loses nothing.
        move = _inverse(hessian - beyond) @ gradient
        decrement = float(gradient @ move)
        if decrement < 2e-14 * max(1.0, loss):
            break
        for halving in range(_MAX_HALVINGS):
            candidate = theta - move * 0.5**halving
            at_candidate = _derivatives(classes, targets, candidate, penalty)
            if at_candidate[0] <= loss - _MIN_GAIN * decrement * 0.5**halving:
                break
        else:
            break
        theta, (loss, gradient, hessian, beyond) = candidate, at_candidate
    return theta, hessian


def _derivatives(
    classes: list[Floats], targets: tuple[float, float], theta: Floats, penalty: Floats
) -> tuple[float, Floats, Floats, Floats]:
    """Loss, gradient, Hessian, and the part of the Hessian that comes from samples beyond their target, all at theta.

    One pass over the design of the positives and that of the negatives. The Hessian counts samples beyond their target, because the
    covariance needs it so.
    """
    loss, gradient, hessian = 0.5 * float(penalty @ theta**2), penalty * theta, np.diag(penalty)
    beyond = np.zeros_like(hessian)
    for design, target, clip in zip(classes, targets, (np.maximum, np.minimum), strict=True):
        least = -target * math.log(target) - (1 - target) * math.log1p(-target)
        for start in range(0, len(design), _CHUNK):
            rows = design[start : start + _CHUNK]
            z = rows @ theta
            e = np.exp(-np.abs(z))
            p = np.where(z >= 0, 1.0, e) / (1.0 + e)
            pull = clip(target - p, 0.0)
            each = np.maximum(z, 0.0) - target * z + np.log1p(e)
            out = pull == 0.0
            loss += float(np.where(out, least, each).sum())
            gradient = gradient - pull @ rows
            weight = p * (1.0 - p)
            # Column by column: a product of two narrow matrices is many times slower.
            hessian = hessian + np.array([(weight * column) @ rows for column in rows.T])
            if out.any():
                beyond = beyond + (rows[out].T * weight[out]) @ rows[out]
    return loss, gradient, hessian, beyond

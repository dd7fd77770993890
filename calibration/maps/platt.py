"""Platt scaling: P(event) = 1 / (1 + exp(-(intercept + slopes · x))), by Newton's method, without a penalty.

Sources: Platt (1999), Probabilistic outputs for support vector machines, eq. for the smoothed targets; Lin, Lin & Weng (2007), A note on
Platt's probabilistic outputs, algorithm 1 (Newton with step halving). A penalty (scikit-learn's LogisticRegression has C = 1 unless told
otherwise) shrinks the slope of a narrow measure until at n = 50 no skill is left; smoothed targets alone keep the map finite.

One departure: a sample that is predicted beyond its own target no longer pulls. As published, every hopeless sample far out (log odds of
-1000, target 1 / (N- + 2)) pulls the slope towards 0 with a force of its distance; where a fifth of the samples are such, a measure with
skill 0.36 is left with 0.12 at n = 100 and 0.24 at n = 300, and with 0.34 and 0.35 without that pull.
A sample's loss is Platt's up to its minimum, which lies at the target, and constant from there: still convex and smooth. Where no sample is
beyond its target the map is Platt's; with more samples both come to the truth: the targets go to 0 and 1. A sample beyond its target
differs from it by less than 1 / (N + 2), so the probabilities still add up to the positives within one or two samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..measures import Floats

_MAX_STEPS = 100
_MAX_HALVINGS = 40


@dataclass(frozen=True, slots=True)
class Platt:
    """A fitted map in the units of the features: log odds = intercept + slopes · x.

    slopes: (k,). covariance: (k + 1, k + 1), intercept first: the inverse Hessian, which takes the samples as independent
    (`clustered_covariance` does not). steps: Newton steps taken.
    """

    intercept: float
    slopes: Floats
    covariance: Floats
    steps: int

    def log_odds(self, x: Floats) -> Floats:
        """(n, k) features to (n,) log odds."""
        return self.intercept + x @ self.slopes

    def probability(self, x: Floats) -> Floats:
        """(n, k) features to (n,) probabilities, not bounded."""
        return sigmoid(self.log_odds(x))


def sigmoid(z: Floats) -> Floats:
    """1 / (1 + exp(-z)), where nothing overflows."""
    e = np.exp(-np.abs(z))
    return np.where(z >= 0, 1.0, e) / (1.0 + e)


def smoothed_targets(y: NDArray[np.bool_]) -> Floats:
    """Platt's targets, (n,): (N+ + 1) / (N+ + 2) for a positive and 1 / (N- + 2) for a negative sample."""
    positives = int(y.sum())
    return np.where(y, (positives + 1) / (positives + 2), 1 / (len(y) - positives + 2))


def fit_platt(x: Floats, y: NDArray[np.bool_]) -> Platt:
    """Fit to features x (n, k), as they enter the map, and labels y (n,).

    Finite for perfect separation and for one class. Features that are constant or repeat one another get the shortest of the equally
    good slopes (0 for a constant one). Raises ValueError for no samples, shapes that do not fit and features that are not finite.
    """
    n, k = x.shape
    if n == 0 or y.shape != (n,):
        raise ValueError(f"features of shape {x.shape} and labels of shape {y.shape} are not n > 0 samples")
    if not np.isfinite(x).all():
        raise ValueError("a feature is not finite")
    targets = smoothed_targets(y)
    centre, spread = x.mean(axis=0), x.std(axis=0)
    constant = spread <= 1e-12 * np.abs(centre)
    scale = np.where(constant, 1.0, spread)
    design = np.column_stack([np.ones(n), np.where(constant, 0.0, (x - centre) / scale)])
    base_rate = targets.mean()
    theta, steps = _newton(design, y, targets, np.concatenate([[np.log(base_rate / (1 - base_rate))], np.zeros(k)]))
    # log odds = theta · (1, (x - centre) / scale): the same in raw units is `raw @ theta`
    raw = np.eye(k + 1)
    raw[0, 1:] = -centre / scale
    raw[1:, 1:] = np.diag(1 / scale)
    inverse = raw @ _inverse(_hessian(design, sigmoid(design @ theta))) @ raw.T
    intercept, *slopes = raw @ theta
    return Platt(float(intercept), np.array(slopes), inverse, steps)


def clustered_covariance(platt: Platt, x: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp]) -> Floats:
    """Covariance of (intercept, slopes), (k + 1, k + 1), where only the groups are independent, not the samples in them.

    The sandwich H⁻¹ (Σ_g s_g s_gᵀ) H⁻¹ · G / (G - 1), s_g the summed score of group g (Liang & Zeger 1986; CR1). groups: (n,) from 0.
    Needs more groups than parameters: raises ValueError otherwise, because it is then singular.
    """
    count = int(groups.max()) + 1
    if count <= x.shape[1] + 1:
        raise ValueError(f"{count} groups are too few for {x.shape[1] + 1} parameters")
    design = np.column_stack([np.ones(len(y)), x])
    residual = _residual(platt.log_odds(x), y, smoothed_targets(y))
    scores = np.column_stack([np.bincount(groups, residual * column, count) for column in design.T])
    half = scores @ platt.covariance
    return np.asarray(half.T @ half * (count / (count - 1)))


def between_group_sd(p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp]) -> float:
    """How much the intercept differs between groups: its standard deviation τ in log odds, by moments (DerSimonian & Laird 1986).

    Each group's offset from the map is taken by one Newton step from 0: δ_g = U_g / I_g with variance 1 / I_g, where U_g = Σ (y - p) and
    I_g = Σ p (1 - p). Then τ² = max(0, (Q - (G - 1)) / (ΣI - ΣI² / ΣI)) with Q = Σ I_g (δ_g - δ̄)². 0 for a single group.
    """
    information = np.bincount(groups, p * (1 - p))
    offset = np.bincount(groups, y - p) / information
    total = information.sum()
    scatter = total - (information**2).sum() / total
    if len(information) < 2:
        return 0.0
    q = (information * (offset - (information * offset).sum() / total) ** 2).sum()
    return float(np.sqrt(max(0.0, (q - (len(information) - 1)) / scatter)))


def _newton(design: Floats, y: NDArray[np.bool_], targets: Floats, theta: Floats) -> tuple[Floats, int]:
    z = design @ theta
    loss = _loss(z, y, targets)
    for step in range(_MAX_STEPS):
        gradient = -design.T @ _residual(z, y, targets)
        move = _inverse(_hessian(design, sigmoid(z))) @ gradient
        # half the squared Newton decrement: how far the loss is from its minimum, in nats over all samples
        if gradient @ move < 2e-14 * max(1.0, loss):
            return theta, step
        for halving in range(_MAX_HALVINGS):
            candidate = theta - move * 0.5**halving
            z = design @ candidate
            if (next_loss := _loss(z, y, targets)) <= loss:
                break
        else:
            return theta, step
        theta, loss = candidate, next_loss
    return theta, _MAX_STEPS


def _up_to_target(z: Floats, y: NDArray[np.bool_], targets: Floats) -> Floats:
    """z, but no further than the log odds of the sample's own target."""
    limit = np.log(targets / (1 - targets))
    return np.where(y, np.minimum(z, limit), np.maximum(z, limit))


def _residual(z: Floats, y: NDArray[np.bool_], targets: Floats) -> Floats:
    """Minus the derivative of each sample's loss by z."""
    return targets - sigmoid(_up_to_target(z, y, targets))


def _loss(z: Floats, y: NDArray[np.bool_], targets: Floats) -> float:
    """Σ log(1 + exp(z)) - t z, each z up to its target."""
    z = _up_to_target(z, y, targets)
    return float((np.maximum(z, 0.0) - targets * z + np.log1p(np.exp(-np.abs(z)))).sum())


def _hessian(design: Floats, p: Floats) -> Floats:
    return np.asarray(design.T @ (design * (p * (1 - p))[:, None]))


def _inverse(hessian: Floats) -> Floats:
    # directions that the data do not determine (a constant feature, a repeated one) get 0 instead of a division by almost 0
    inverse: NDArray[Any] = np.linalg.pinv(hessian, rcond=1e-11, hermitian=True)
    return np.asarray(inverse, dtype=np.float64)

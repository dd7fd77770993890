"""Scores of probabilities for a binary event. Every function takes p (n,), in [0, 1], and y (n,), bool, and raises ValueError
for anything else."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..measures import Floats


def checked(p: ArrayLike, y: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    """p as float64 and y as bool, or ValueError saying what is wrong with them."""
    probabilities, labels = np.asarray(p, dtype=np.float64), np.asarray(y)
    if probabilities.ndim != 1 or probabilities.shape != labels.shape or not len(labels):
        raise ValueError(f"probabilities of shape {probabilities.shape} and labels of shape {labels.shape} are not n > 0 forecasts")
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ValueError("a probability is outside [0, 1] or not a number")
    if labels.dtype != np.bool_ and not ((labels == 0) | (labels == 1)).all():
        raise ValueError("a label is neither 0 nor 1; leave samples with an unknown label out")
    return probabilities, labels.astype(np.bool_)


def brier(p: ArrayLike, y: ArrayLike) -> float:
    """Mean of (p - y)² (Brier 1950): 0 is perfect, 1 the worst."""
    p, y = checked(p, y)
    return float(np.mean((p - y) ** 2))


def reference_brier(y: ArrayLike) -> float:
    """p̄ (1 - p̄): the Brier score of always saying the base rate of these very labels."""
    _, y = checked(np.zeros(np.shape(y)), y)
    return float(y.mean() * (1 - y.mean()))


def skill(p: ArrayLike, y: ArrayLike) -> float:
    """Skill score 1 - brier / reference_brier: 1 is perfect, 0 no better than the base rate (Spiess et al. 2024, §3).

    Raises ValueError when all labels are equal: the reference is then perfect itself.
    """
    reference = reference_brier(y)
    if reference == 0:
        raise ValueError("the skill score is not defined where all labels are equal")
    return 1 - brier(p, y) / reference


def log_loss(p: ArrayLike, y: ArrayLike) -> float:
    """Mean of -log of the probability given to what happened, in nats.

    Raises ValueError when that is infinite, instead of hiding it behind a clip: a calibrator's output is bounded, so it never is.
    """
    p, y = checked(p, y)
    said = np.where(y, p, 1 - p)
    if (said == 0).any():
        raise ValueError("the log loss is infinite: probability 0 was given to something that happened; bound the probabilities first")
    return float(-np.log(said).mean())


def auc(p: ArrayLike, y: ArrayLike) -> float:
    """Probability that a random positive sample has the higher p than a random negative one, ties counted half (Mann & Whitney 1947).

    Raises ValueError when all labels are equal.
    """
    p, y = checked(p, y)
    _, run = np.unique(p, return_inverse=True)
    positives = np.bincount(run, y)
    negatives = np.bincount(run, ~y)
    pairs = positives.sum() * negatives.sum()
    if pairs == 0:
        raise ValueError("the AUC is not defined where all labels are equal")
    below = np.cumsum(negatives) - negatives
    return float((positives * (below + negatives / 2)).sum() / pairs)

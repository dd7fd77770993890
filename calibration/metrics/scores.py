"""Scores of probabilities of a binary event. Every function takes p (n,) in [0, 1] and y (n,), bool; anything else is a ValueError."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays import Floats

_MIN_PROBABILITY, _MAX_PROBABILITY = 5e-324, 1 - 2**-53


def checked(p: ArrayLike, y: ArrayLike) -> tuple[Floats, NDArray[np.bool_]]:
    """p as float64 and y as bool. Raises ValueError that says what is wrong with them."""
    probabilities, labels = np.asarray(p, dtype=np.float64), np.asarray(y)
    if probabilities.ndim != 1 or probabilities.shape != labels.shape or not len(labels):
        raise ValueError(f"probabilities of shape {probabilities.shape} and labels of shape {labels.shape} are not n > 0 forecasts")
    if not ((probabilities >= 0) & (probabilities <= 1)).all():
        raise ValueError("a probability is outside [0, 1] or not a number")
    if labels.dtype != np.bool_ and not ((labels == 0) | (labels == 1)).all():
        raise ValueError("a label is neither 0 nor 1; leave samples with an unknown label out")
    return probabilities, labels.astype(np.bool_)


def inside(p: Floats) -> Floats:
    """0 and 1 moved to the next float inside: the log loss becomes finite, and nothing else changes, not even the order."""
    return np.clip(p, _MIN_PROBABILITY, _MAX_PROBABILITY)


@dataclass(frozen=True, slots=True)
class Pooled:
    """Samples pooled by equal probability. A metric that uses only this does not depend on the order of the samples. All (m,).

    p: the distinct probabilities, ascending. n: samples with each. positives: those of them with the event.
    """

    p: Floats
    n: NDArray[np.int64]
    positives: NDArray[np.int64]


def pooled(p: ArrayLike, y: ArrayLike) -> Pooled:
    """The samples pooled by equal p. -0.0 is 0.0."""
    p, y = checked(p, y)
    # Floats from 0 to 1 are in the order of their bits, read as an integer. They need no sign bit, so the label can have a bit, and one
    # sort of integers does what an argsort and two gathers do in 10 times as long.
    ordered = np.sort(p.view(np.uint64) << np.uint64(1) | y)
    values, labels = (ordered >> np.uint64(1)).view(np.float64), (ordered & np.uint64(1)).astype(np.int64)
    starts = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    return Pooled(values[starts], np.diff(starts, append=len(values)), np.add.reduceat(labels, starts))


def brier(p: ArrayLike, y: ArrayLike) -> float:
    """Mean of (p - y)² (Brier 1950): 0 is perfect, 1 the worst."""
    p, y = checked(p, y)
    return float(np.mean((p - y) ** 2))


def reference_brier(y: ArrayLike, strata: NDArray[np.integer] | None = None) -> float:
    """ȳ (1 - ȳ): the Brier score of always giving the base rate ȳ of these labels.

    strata (n,): integers from 0, such as datasets, projects or languages. With them it is that of giving the base rate of each sample's
    stratum.
    """
    _, y = checked(np.zeros(np.shape(y)), y)
    if strata is None:
        return float(y.mean() * (1 - y.mean()))
    if strata.shape != y.shape or strata.dtype.kind not in "iu" or strata.min() < 0:
        raise ValueError("strata are one integer from 0 per sample")
    n = np.bincount(strata)
    positives = np.bincount(strata, y)
    inhabited = n > 0
    n, positives = n[inhabited], positives[inhabited]
    return float((positives * (1 - positives / n)).sum() / len(y))


def skill(p: ArrayLike, y: ArrayLike, strata: NDArray[np.integer] | None = None) -> float:
    """Skill score 1 - brier / reference_brier: 1 is perfect, 0 no better than the base rate.

    Without strata, a forecaster that knows only the dataset of a sample has skill. With strata (`reference_brier`) it has none, and what is
    left is the skill within strata. The reference knows the rates of these very labels, so a forecaster that knows the true rates of S
    strata is expected to have about -S / n. Strata of a handful of samples ask too much.

    Raises ValueError if all labels, or those of every stratum, are equal: the reference is then perfect.

    References: Spiess et al. (2024), §3.
    """
    reference = reference_brier(y, strata)
    if reference == 0:
        raise ValueError(f"the skill score is not defined where all labels{'' if strata is None else ' of every stratum'} are equal")
    return 1 - brier(p, y) / reference


def log_loss(p: ArrayLike, y: ArrayLike) -> float:
    """Mean of -log of the probability given to what happened, in nats.

    Raises ValueError if it is infinite, instead of hiding that behind a clip. The output of a calibrator is bounded, so it never is.
    """
    p, y = checked(p, y)
    said = np.where(y, p, 1 - p)
    if (said == 0).any():
        raise ValueError("the log loss is infinite: probability 0 was given to something that happened; bound the probabilities first")
    return float(-np.log(said).mean())


def auc(p: ArrayLike, y: ArrayLike) -> float:
    """Probability that a random positive sample has a higher p than a random negative one, with ties counted half (Mann & Whitney 1947).

    It is exact, because it is counted in integers. Raises ValueError if all labels are equal.
    """
    runs = pooled(p, y)
    negatives = runs.n - runs.positives
    pairs = int(runs.positives.sum()) * int(negatives.sum())
    if pairs == 0:
        raise ValueError("the AUC is not defined where all labels are equal")
    below = np.cumsum(negatives) - negatives
    return int((runs.positives * (2 * below + negatives)).sum()) / (2 * pairs)

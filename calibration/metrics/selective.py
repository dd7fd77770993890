"""Selective prediction: only likely samples are shown. Which share is shown, and which share of that is wrong?

Samples are shown from the highest p down. All values are expectations over random orders of equal p's, so they do not depend on the order
of the samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Floats
from .scores import auc, checked, pooled


@dataclass(frozen=True, slots=True)
class Curve:
    """Points (x, y) of a curve, both (m,), x ascending."""

    x: Floats
    y: Floats


def risk_coverage(p: ArrayLike, y: ArrayLike) -> Curve:
    """The risk-coverage curve. x: coverage k / n, the share shown, k = 1 … n. y: risk, the expected share of the k without the event."""
    wrong = _wrong_among(p, y)
    k = np.arange(1, len(wrong) + 1)
    return Curve(k / len(wrong), wrong / k)


def aurc(p: ArrayLike, y: ArrayLike) -> float:
    """Area under the risk-coverage curve: the mean risk over all coverages k / n (Geifman, Uziel & El-Yaniv 2019)."""
    return float(risk_coverage(p, y).y.mean())


def excess_aurc(p: ArrayLike, y: ArrayLike) -> float:
    """`aurc` minus that of the best order, which shows all samples with the event first (Geifman, Uziel & El-Yaniv 2019).

    That of the best order is summed. Its limit r + (1 - r) ln(1 - r) is reached by no order for finite n.
    """
    _, y = checked(p, y)
    return aurc(p, y) - aurc(y.astype(np.float64), y)


def augrc(p: ArrayLike, y: ArrayLike) -> float:
    """Area under the generalised risk-coverage curve: the mean share of all samples that is shown and wrong.

    Computed in closed form, (1 - AUC) r (1 - r) + r² / 2, with r the share without the event. It is exact, also with equal p's.

    References: Traub et al. (2024).
    """
    _, labels = checked(p, y)
    r = 1 - float(labels.mean())
    return r**2 / 2 + ((1 - auc(p, y)) * r * (1 - r) if 0 < r < 1 else 0.0)


def roc(p: ArrayLike, y: ArrayLike) -> Curve:
    """The ROC curve from (0, 0) to (1, 1), with one point for each distinct p. x: false positive rate. y: true positive rate.

    It is straight between points, so its area is `scores.auc`. Raises ValueError if all labels are equal.
    """
    runs = pooled(p, y)
    positives, negatives = runs.positives[::-1], (runs.n - runs.positives)[::-1]
    if not positives.any() or not negatives.any():
        raise ValueError("the ROC curve is not defined where all labels are equal")
    true, false = (np.concatenate([[0], np.cumsum(each)]) for each in (positives, negatives))
    return Curve(false / false[-1], true / true[-1])


def thinned(curve: Curve, columns: int = 1000) -> Curve:
    """The points that a picture of the curve needs: in each of `columns` columns of equal width the first, last, lowest and highest point.

    Drawn `columns` pixels wide, the picture is the same (M4, Jugel et al. 2014).
    """
    span = curve.x[-1] - curve.x[0]
    if len(curve.x) <= 4 * columns or span == 0:
        return curve
    column = np.minimum((curve.x - curve.x[0]) * (columns / span), columns - 1).astype(np.intp)
    first = np.flatnonzero(np.diff(column, prepend=-1))
    last = np.append(first[1:], len(column)) - 1
    size = last - first + 1
    index = np.arange(len(column))
    keep = np.zeros(len(column), dtype=np.bool_)
    keep[first] = keep[last] = True
    for extreme in (np.minimum, np.maximum):
        reaches = curve.y == np.repeat(extreme.reduceat(curve.y, first), size)
        keep[np.minimum.reduceat(np.where(reaches, index, len(index)), first)] = True
    return Curve(curve.x[keep], curve.y[keep])


def _wrong_among(p: ArrayLike, y: ArrayLike) -> Floats:
    """Expected number of samples without the event among the k of highest p, k = 1 … n. Linear within a run of equal p's."""
    runs = pooled(p, y)
    n, wrong = runs.n[::-1], (runs.n - runs.positives)[::-1]
    ends, so_far = (np.concatenate([[0], np.cumsum(each)]) for each in (n, wrong))
    return np.asarray(np.interp(np.arange(1, ends[-1] + 1), ends, so_far))

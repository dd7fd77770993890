"""Figures with their intervals, and measures of how alike two texts are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class Figure:
    """A value with its 95 % interval. n: how many were counted (`unit`). projects: how many projects they come from."""

    value: float
    low: float
    high: float
    n: int
    unit: str
    projects: int

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f}), {self.n:,} {self.unit} of {self.projects} projects"


def ratio(numerators: ArrayLike, denominators: ArrayLike, projects: Sequence[str], unit: str) -> Figure:
    """Σ numerators / Σ denominators, both (n,). The interval is that of percentiles over 2,000 resamples of whole projects."""
    index, count = _numbered(projects)
    above = np.bincount(index, np.asarray(numerators, float), count)
    below = np.bincount(index, np.asarray(denominators, float), count)
    weights = _resamples(count)
    with np.errstate(invalid="ignore"):
        low, high = np.nanpercentile(weights @ above / (weights @ below), [2.5, 97.5])
    return Figure(float(above.sum() / below.sum()), float(low), float(high), len(projects), unit, count)


def mean(values: ArrayLike, projects: Sequence[str], unit: str) -> Figure:
    """The mean of values (n,) in [0, 1], with the interval of `ratio`.

    Where all are 0 or all are 1, resamples say nothing. The interval is then the exact binomial one (Clopper and Pearson 1934), as if no
    two were of one project.
    """
    figure = ratio(values, np.ones(len(projects)), projects, unit)
    v = np.asarray(values, float)
    bound = 0.025 ** (1 / max(1, len(v)))
    if (v == 0).all():
        return replace(figure, high=1 - bound)
    return replace(figure, low=bound) if (v == 1).all() else figure


def _numbered(projects: Sequence[str]) -> tuple[NDArray[np.intp], int]:
    names, index = np.unique(np.asarray(projects), return_inverse=True)
    return index, len(names)


def _resamples(count: int) -> NDArray[np.float64]:
    """How often each of `count` projects is drawn, shape (RESAMPLES, count)."""
    return np.random.default_rng(0).multinomial(count, np.full(count, 1 / count), size=RESAMPLES).astype(float)


def edit_similarity(a: str, b: str) -> float:
    """1 - Levenshtein distance / length of the longer text, in characters: 1 for equal texts, 0 where nothing can stay."""
    if not a or not b:
        return float(a == b)
    row, letters = np.arange(len(b) + 1), np.array(list(b))
    columns = np.arange(len(b) + 1)
    for i, letter in enumerate(a, 1):
        row = np.concatenate(([i], np.minimum(row[1:] + 1, row[:-1] + (letters != letter))))
        row = np.minimum.accumulate(row - columns) + columns  # what is best by inserting from the left
    return 1 - float(row[-1]) / max(len(a), len(b))

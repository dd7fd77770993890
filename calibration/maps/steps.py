"""Steps: a piecewise constant map of one feature. Isotonic regression and histogram binning are two ways to find one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, logit


@dataclass(frozen=True, slots=True)
class StepsMap:
    """log odds = values[i] from edges[i - 1] on and below edges[i], of the first feature as it enters.

    edges (m - 1,), rising; values (m,); errors (m,): their standard errors, taking the steps' places as given.
    """

    kind: Literal["isotonic", "histogram"]
    edges: tuple[float, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...]

    def log_odds(self, x: Floats) -> Floats:
        """(n, k) features to (n,) log odds."""
        return np.array(self.values)[np.searchsorted(self.edges, x[:, 0], side="right")]

    def standard_error(self, x: Floats) -> Floats:
        """(n, k) features to the (n,) standard errors of their log odds."""
        return np.array(self.errors)[np.searchsorted(self.edges, x[:, 0], side="right")]


def rate_and_error(y: NDArray[np.bool_], step: NDArray[np.intp], rate: Floats, groups: NDArray[np.intp] | None) -> tuple[Floats, Floats]:
    """Log odds of each step's rate (m,) and their standard errors, step (n,) the step that each label y (n,) is in.

    The variance of a rate is Σ_g (Σ_{i in g} (y_i - rate))² · G / (G - 1) / n², over the groups that the step has samples of, but no less
    than that of independent samples; divided by rate · (1 - rate) to be in log odds (delta method).
    """
    size = np.bincount(step, minlength=len(rate))
    binomial = rate * (1 - rate) / size
    if groups is not None:
        cell = step * (int(groups.max()) + 1) + groups
        present, index = np.unique(cell, return_inverse=True)
        off = np.bincount(index, y - rate[step])
        of_step = present // (int(groups.max()) + 1)
        squares = np.bincount(of_step, off**2, minlength=len(rate))
        count = np.bincount(of_step, minlength=len(rate))
        binomial = np.maximum(binomial, squares / size**2 * count / np.maximum(count - 1, 1))
    return logit(rate), np.sqrt(binomial) / (rate * (1 - rate))

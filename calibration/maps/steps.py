"""Steps: a piecewise constant map of one feature. Isotonic regression and histogram binning fit one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, logit
from .checks import check_not_negative, check_size


@dataclass(frozen=True, slots=True)
class StepsMap:
    """log odds = values[i] where edges[i - 1] <= feature < edges[i].

    edges (m - 1,): rising. values (m,). errors (m,): standard errors of the values, with the edges taken as given.
    """

    kind: Literal["isotonic", "histogram"]
    edges: tuple[float, ...]
    values: tuple[float, ...]
    errors: tuple[float, ...]

    def log_odds(self, x: Floats) -> Floats:
        """Features (n, k) to log odds (n,)."""
        return np.array(self.values)[np.searchsorted(self.edges, x[:, 0], side="right")]

    def standard_error(self, x: Floats) -> Floats:
        """Features (n, k) to the standard errors of their log odds (n,)."""
        return np.array(self.errors)[np.searchsorted(self.edges, x[:, 0], side="right")]

    def describe(self, features: Sequence[str]) -> str:
        """The map in one line."""
        return f"{self.kind}: {len(self.values)} steps of {features[0]}"

    def problems(self, features: int) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """(field, reason) for each reason why it can't be used."""
        if not len(self.edges) + 1 == len(self.values) == len(self.errors):
            yield "map", f"{len(self.values)} values and {len(self.errors)} errors between {len(self.edges)} edges"
        if (np.diff(self.edges) <= 0).any():
            yield "map.edges", "do not rise"
        yield from check_size("map", [*self.edges, *self.values, *self.errors])
        yield from check_not_negative("map.errors", self.errors)


def rate_and_error(y: NDArray[np.bool_], step: NDArray[np.intp], rate: Floats, groups: NDArray[np.intp] | None) -> tuple[Floats, Floats]:
    """Log odds of each step's rate (m,) and their standard errors (m,).

    step (n,): the step of each label y (n,). groups: as in `fit_linear`.

    The variance of a rate is Σ_g (Σ_{i in g} (y_i - rate))² · G / (G - 1) / n², over the G groups that the step has samples of, and no less
    than that of independent samples. The standard error is divided by rate · (1 - rate) to be one of log odds (delta method).
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

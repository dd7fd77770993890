"""How much groups differ from the map that they share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats, bounded, sigmoid
from ..maps.platt import fit_platt
from .folds import renumbered


def between_group_sd(p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp]) -> float:
    """The standard deviation τ of the intercept between groups, in log odds. 0 for a single group.

    The offset of a group from the map is one Newton step from 0: δ_g = U_g / I_g with variance 1 / I_g, where U_g = Σ (y - p) and
    I_g = Σ p (1 - p). Then τ² = max(0, (Q - (G - 1)) / (ΣI - ΣI² / ΣI)) with Q = Σ I_g (δ_g - δ̄)².

    References: DerSimonian & Laird (1986), the moment estimator.
    """
    information = np.bincount(groups, p * (1 - p))
    offset = np.bincount(groups, y - p) / information
    total = information.sum()
    scatter = total - (information**2).sum() / total
    if len(information) < 2:
        return 0.0
    q = (information * (offset - (information * offset).sum() / total) ** 2).sum()
    return float(np.sqrt(max(0.0, (q - (len(information) - 1)) / scatter)))


def within_groups_sd(p: Floats, y: NDArray[np.bool_], groups: NDArray[np.intp], parts: NDArray[np.intp]) -> float:
    """The standard deviation of the intercept between the parts (n,) of a group, such as the projects of a model, in log odds.

    It is the root mean square of `between_group_sd` in each group, around the group's own map: how far that lies from the others' is not
    counted.
    """
    variances = []
    for number in range(int(groups.max()) + 1):
        those = groups == number
        log_odds = np.log(p[those] / (1 - p[those]))[:, None]
        own = bounded(sigmoid(fit_platt(log_odds, y[those]).log_odds(log_odds)), len(log_odds))
        variances.append(between_group_sd(own, y[those], renumbered(parts[those])) ** 2)
    return float(np.sqrt(np.mean(variances)))

"""How much groups differ from the map that they share."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..arrays import Floats


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

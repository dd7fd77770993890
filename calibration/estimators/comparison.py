"""What a map leaves: how much better one is that may take any shape.

Gradient-boosted trees bend and combine measures as the samples ask. Where they are no better on groups that were held out, these samples
show nothing in the measures that the map misses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV, GroupKFold
from threadpoolctl import threadpool_limits

from ..arrays import bounded
from ..fitting.folds import FOLDS
from ..metrics.intervals import Interval, paired
from .held_out import checked_groups, held_out_probabilities, second_class, skill_of

# Trees that are grown until they fit their samples lose to a line for that alone. So their number and size are chosen too.
_TREES = {"max_iter": [10, 30, 100], "max_leaf_nodes": [3, 8, 31]}


@dataclass(frozen=True, slots=True)
class WhatMapsLeave:
    """Two classifiers on the same n samples of so many held-out groups.

    skill, richer_skill: of the map, and of what it is compared with.
    more_skill, more_log_loss: of the latter minus the former, paired. The map leaves something if more_skill is above 0.
    """

    n: int
    groups: int
    skill: Interval
    richer_skill: Interval
    more_skill: Interval
    more_log_loss: Interval


def boosted(seed: int = 0) -> GridSearchCV:
    """Gradient-boosted trees, whose number and size are chosen by Brier score on held-out groups."""
    trees = HistGradientBoostingClassifier(early_stopping=False, random_state=seed)
    # Of five groups, four are left to fit to.
    return GridSearchCV(trees, _TREES, scoring="neg_brier_score", cv=GroupKFold(FOLDS - 1))


def what_maps_leave(
    estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, groups: ArrayLike, richer: BaseEstimator | None = None
) -> WhatMapsLeave:
    """How much more skill `richer` has than `estimator` for X (n, k) and y (n,), both on the same held-out groups (n,).

    richer: `boosted()` by default. The probabilities of both are bounded as those of a map, so that no sample costs an infinite log loss.

    Raises ValueError for fewer than 5 groups, and what `held_out_probabilities` raises.
    """
    index, event = checked_groups(X, groups, FOLDS), second_class(y)
    ours = bounded(held_out_probabilities(estimator, X, event, index), len(event))
    # On some thousand samples, threads that wait for one another cost trees more than they save, and beside other work many times more.
    with threadpool_limits(1, user_api="openmp"):
        theirs = bounded(held_out_probabilities(boosted() if richer is None else richer, X, event, index), len(event))
    difference = paired(ours, theirs, event, index)
    skill, richer_skill = (skill_of(p, event, index) for p in (ours, theirs))
    assert difference.skill is not None, "as in `skill_of`"
    return WhatMapsLeave(len(event), int(np.max(index)) + 1, skill, richer_skill, difference.skill, difference.log_loss)

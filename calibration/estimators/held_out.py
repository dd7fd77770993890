"""Probabilities of any classifier of scikit-learn for groups that it was not fitted to, and how they improve with more groups.

Metadata routing is enabled here, so that groups also reach whatever asks for them: a `MapClassifier`, alone or in a pipeline, and the folds
of a search.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.utils import check_consistent_length, column_or_1d

from ..arrays import Floats, bounded
from ..fitting.folds import FOLDS, MIN_GROUPS
from ..metrics.intervals import Interval, intervals


@dataclass(frozen=True, slots=True)
class LearningPoint:
    """How good maps are that were fitted to so many groups.

    samples: how many these had on average.
    skill: of samples in other groups, averaged over the draws. So are the ends of its interval, which can only make it wider.
    """

    groups: int
    samples: float
    skill: Interval


class SomeGroups(GroupKFold):  # type: ignore[misc]
    """GroupKFold that fits to `size` of the groups which are not held out. With the same seed, a larger size only adds to them."""

    def __init__(self, n_splits: int = FOLDS, *, size: int, seed: tuple[int, ...] = (0,)) -> None:
        super().__init__(n_splits)
        self.size = size
        self.seed = seed

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Rows to fit to and rows to hold out, for each fold."""
        for fold, (rest, out) in enumerate(super().split(X, y, groups)):
            of_rest = np.asarray(groups)[rest]
            order = np.random.default_rng((*self.seed, fold)).permutation(np.unique(of_rest))
            yield rest[np.isin(of_rest, order[: self.size])], out


def held_out_probabilities(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, groups: ArrayLike, folds: int = FOLDS) -> Floats:
    """P(second class) (n,) for X (n, k), each from the estimator fitted to the y (n,) of the other folds. No fold parts a group (n,).

    Raises ValueError if there are fewer groups than folds, fewer than two folds, other than two classes, or a fold leaves only one of them
    to fit to; and what the estimator raises.
    """
    return _cross_fitted(estimator, X, y, checked_groups(X, groups, folds), GroupKFold(folds))


def learning_curve(
    estimator: BaseEstimator,
    X: ArrayLike,
    y: ArrayLike,
    groups: ArrayLike,
    sizes: Sequence[int] | None = None,
    *,
    folds: int = FOLDS,
    draws: int = 5,
    seed: int = 0,
) -> tuple[LearningPoint, ...]:
    """The held-out skill of the estimator for each size, a number of groups to fit to.

    sizes: by default from `MIN_GROUPS` on, doubled, up to all that any fold leaves. draws: how often groups are drawn for each size. All
    sizes are judged on all samples, and a draw of a larger size has the groups of the smaller.

    Raises ValueError as `held_out_probabilities` does, and for sizes or draws that can't be.
    """
    index = checked_groups(X, groups, folds)
    most = min(len(np.unique(index[rest])) for rest, _ in GroupKFold(folds).split(index, groups=index))
    doubled = takewhile(lambda size: size < most, (MIN_GROUPS * 2**i for i in range(most)))
    wanted = [*doubled, most] if sizes is None else list(sizes)
    _check_count("draws", draws, 1)
    if not wanted or not all(isinstance(size, int | np.integer) and 1 <= size <= most for size in wanted):
        raise ValueError(f"sizes are {wanted}; each is a number of groups from 1 to {most}, which {folds} folds leave to fit to")
    event = second_class(y)
    points = []
    for size in wanted:
        samples, skills = [], []
        for draw in range(draws):
            splitter = SomeGroups(folds, size=size, seed=(seed, draw))
            samples += [len(rows) for rows, _ in splitter.split(index, groups=index)]
            skills.append(skill_of(_cross_fitted(estimator, X, y, index, splitter), event, index))
        value, low, high = np.mean([(skill.value, skill.low, skill.high) for skill in skills], axis=0).tolist()
        points.append(LearningPoint(size, float(np.mean(samples)), Interval(value, low, high)))
    return tuple(points)


def checked_groups(X: ArrayLike, groups: ArrayLike, folds: int) -> NDArray[np.intp]:
    """The group of each sample (n,), from 0. Raises ValueError unless there are at least two folds, with a group for each."""
    check_consistent_length(X, groups)
    names, index = np.unique(column_or_1d(groups), return_inverse=True)
    _check_count("folds", folds, 2)
    if len(names) < folds:
        raise ValueError(f"{len(names)} groups can't be held out in {folds} folds; samples of at least {folds} groups are needed")
    return index


def second_class(y: ArrayLike) -> NDArray[np.bool_]:
    """Whether each label (n,) is of the second of two classes. Raises ValueError for any other number of classes."""
    classes, event = np.unique(column_or_1d(y), return_inverse=True)
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} class{'es' if len(classes) != 1 else ''}; two are needed")
    return event.astype(np.bool_)


def skill_of(p: Floats, event: NDArray[np.bool_], groups: NDArray[np.intp]) -> Interval:
    """The skill of cross-fitted probabilities p (n,), bounded as those of a map, with its interval by groups (n,)."""
    # One resample: the interval of the calibration error, which alone needs them, is not asked for.
    skill = intervals(bounded(p, len(p)), event, groups, resamples=1).skill
    assert skill is not None, "`_cross_fitted` refuses labels that are all equal without one of the groups"
    return skill


def _check_count(name: str, count: int, least: int) -> None:
    if not isinstance(count, int | np.integer) or count < least:
        raise ValueError(f"{name} is {count!r}; it is a whole number from {least} on")


def _cross_fitted(estimator: BaseEstimator, X: ArrayLike, y: ArrayLike, groups: NDArray[np.intp], splitter: GroupKFold) -> Floats:
    event = second_class(y)
    for rest, _ in splitter.split(groups, groups=groups):
        if len(np.unique(event[rest])) < 2:
            raise ValueError(f"the {len(rest)} samples that a fold leaves to fit to are of one class; samples of more groups are needed")
    with config_context(enable_metadata_routing=True):
        p = cross_val_predict(estimator, X, y, cv=splitter, method="predict_proba", params={"groups": groups})
    return np.asarray(p[:, 1], dtype=np.float64)

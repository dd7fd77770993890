"""The maps, and the selection among them, as one estimator of scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted, validate_data

from ..arrays import Floats, bounded, sigmoid
from ..field_types import MAX_PARAMETER
from ..fitting.folds import numbered
from ..fitting.model_selection import Selection, fit_map, select_map
from ..maps.registry import MAPS, Map, problems_of
from ..measures.registry import MEASURES, enter

LADDER = "ladder"


class MapClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A map from the columns of X to the probability of the second of two classes.

    It fits what `fitting.fit` fits to the same samples. Levels, adaptation and evidence are no part of it.

    Parameters:
        kind: "ladder" selects the map, or the name of one in `maps.registry`.
        measures: the names of X's columns. Each column then enters the map as its measure does. Without names the columns are taken as
            they enter, and nothing is known of them: "beta" and "temperature" take the first for log odds, the ladder does not.
        random_state: of the folds of the selection.

    A map of one feature takes the first column, as everywhere. With names, a kind that takes one measure refuses more.

    Attributes after `fit`:
        map_: the fitted `Map`. selection_: how it was selected.
        classes_ (2,), n_features_in_: as in any classifier of scikit-learn. n_samples_fit_: of `fit`.
    """

    # Where routing is enabled, groups reach `fit` through pipelines, searches and cross-validation.
    __metadata_request__fit = {"groups": True}  # noqa: RUF012

    map_: Map
    selection_: Selection
    classes_: NDArray[Any]
    n_samples_fit_: int

    def __init__(
        self, kind: str = LADDER, measures: Sequence[str] | None = None, random_state: int | np.random.RandomState | None = 0
    ) -> None:
        self.kind = kind
        self.measures = measures
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> Self:
        """Fit to X (n, k) and labels y (n,) of two classes, the second of which, in sorted order, is the event.

        groups (n,): what is held out together where the map is selected, such as a project's samples. Without groups, or with a single
        one, each sample is its own.

        Raises ValueError for a parameter, values or labels that can't be used.
        """
        raw, labels = validate_data(self, X, y, dtype=np.float64)
        names = self._checked_names(raw.shape[1])
        self.classes_, event = _two_classes(labels)
        entered = self._entered(raw)
        index = _grouped(groups, len(raw))
        wanted = "auto" if self.kind == LADDER else self.kind
        self.selection_ = select_map(entered, event, index, names, wanted, _seed(self.random_state))
        self.map_ = fit_map(self.selection_, entered, event, names, index)
        self.n_samples_fit_ = len(event)
        if problem := next(problems_of(self.map_, self.selection_.features), None):
            raise ValueError(f"no {self.selection_.kind} map can be kept of X, which differs too little or too much ({': '.join(problem)})")
        return self

    def predict_proba(self, X: ArrayLike) -> Floats:
        """The probabilities (n, 2) of `classes_` for X (n, k). None is nearer to certainty than 1 / (n + 2) for the n samples of `fit`."""
        check_is_fitted(self)
        entered = self._entered(validate_data(self, X, dtype=np.float64, reset=False))
        z = self.map_.log_odds(entered[:, : self.selection_.features])
        p = bounded(sigmoid(z), self.n_samples_fit_)
        return np.column_stack([1 - p, p])

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The more likely class (n,) for each row of X (n, k)."""
        more_likely = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[more_likely])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        # A map of the first column alone can't tell classes apart by another.
        tags.classifier_tags.poor_score = any(self.kind == kind.name and not kind.several for kind in MAPS.values())
        return tags

    def _checked_names(self, columns: int) -> tuple[str, ...]:
        """The names of so many columns, also where they have none. Raises ValueError for a parameter that can't be used."""
        if self.kind not in (LADDER, *MAPS):
            raise ValueError(f"unknown kind of map {self.kind!r}, known are {', '.join((LADDER, *MAPS))}")
        if self.measures is None:
            return tuple(f"column {number}" for number in range(columns))
        names = checked_measures(self.measures)
        if len(names) != columns:
            raise ValueError(f"{len(names)} measures ({', '.join(names)}) are named for the {columns} columns of X")
        columns_of_x = tuple(getattr(self, "feature_names_in_", ()))
        if columns_of_x and columns_of_x != names and MEASURES.keys() >= set(columns_of_x):
            raise ValueError(f"the columns of X are {', '.join(columns_of_x)}, and measures names {', '.join(names)}")
        if self.kind == LADDER:
            return names
        if MAPS[self.kind].needs_log_odds and not MEASURES[names[0]].is_log_odds:
            raise ValueError(f"a map of kind {self.kind} takes a probability, and {names[0]} is none")
        if not MAPS[self.kind].several and columns > 1:
            raise ValueError(f"a map of kind {self.kind} takes one measure, not {columns}; platt and ladder take several")
        return names

    def _entered(self, raw: Floats) -> Floats:
        """X (n, k) as it enters the map. Raises ValueError for a value that no generation has."""
        largest = np.abs(raw).max()
        if largest > MAX_PARAMETER:
            raise ValueError(f"X holds {largest:g}, and no map takes a value above {MAX_PARAMETER:g}")
        if self.measures is None:
            return raw
        # numpy rounds the logarithms of strided columns otherwise, and Venn-Abers has a step at each value that it was fitted to.
        return np.column_stack([enter(name, np.ascontiguousarray(column)) for name, column in zip(self.measures, raw.T, strict=True)])


def checked_measures(measures: Sequence[str]) -> tuple[str, ...]:
    """The names of measures. Raises ValueError for a string instead of several, an unknown name, one that is there twice, and none."""
    if isinstance(measures, str) or not isinstance(measures, Iterable):
        raise ValueError(f"measures is {measures!r}; it is a sequence of names, such as ['total_logprob']")
    names = tuple(measures)
    if unknown := [str(name) for name in names if not isinstance(name, str) or name not in MEASURES]:
        raise ValueError(f"unknown measure {', '.join(unknown)}, known are {', '.join(MEASURES)}")
    if not names or len(set(names)) < len(names):
        raise ValueError("name at least one measure, and each only once")
    return names


def _two_classes(y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The two classes (2,) and whether each label (n,) is the second."""
    check_classification_targets(y)
    if (target := type_of_target(y, input_name="y")) != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {target}.")
    classes, event = np.unique(y, return_inverse=True)
    if len(classes) == 1:
        raise ValueError(f"y has 1 class, {classes[0]}; a map is fitted to samples of two classes")
    return classes, event.astype(np.bool_)


def _grouped(groups: ArrayLike | None, n: int) -> NDArray[np.intp]:
    """The group of each sample (n,), numbered as `fitting.folds.grouped` does."""
    if groups is not None:
        index = numbered(column_or_1d(groups).tolist())
        check_consistent_length(index, range(n))
        if index.any():
            return index
    return np.arange(n, dtype=np.intp)


def _seed(random_state: int | np.random.RandomState | None) -> int:
    """A number for `numpy.random.default_rng`; a whole number is itself, as in `fitting.fit`."""
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))

"""Held-out probabilities, learning curves, and what a map leaves to boosted trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from synthetic_samples import world

from assay.calibration.arrays import bounded, sigmoid
from assay.calibration.estimators.comparison import boosted, what_maps_leave
from assay.calibration.estimators.held_out import SomeGroups, held_out_probabilities, learning_curve
from assay.calibration.estimators.map_classifier import MapClassifier
from assay.calibration.estimators.matrix import matrix_of
from assay.calibration.metrics.intervals import intervals, paired

CURVES = make_pipeline(PolynomialFeatures(4), StandardScaler(), LogisticRegression())


@pytest.mark.parametrize(
    "estimator", [MapClassifier(measures=["total_logprob"]), make_pipeline(StandardScaler(), MapClassifier("platt")), LogisticRegression()]
)
def test_each_probability_is_of_a_map_that_saw_nothing_of_its_group(estimator: Any) -> None:
    X, y, groups = matrix_of(world(300, projects=7)[0], ["total_logprob"], "exact_match")
    p = held_out_probabilities(estimator, X, y, groups)
    for rest, out in GroupKFold(5).split(X, y, groups):
        assert not set(groups[rest]) & set(groups[out])
        takes_groups = isinstance(estimator, MapClassifier)
        made = estimator.fit(X[rest], y[rest], **({"groups": groups[rest]} if takes_groups else {}))
        np.testing.assert_allclose(p[out], made.predict_proba(X[out])[:, 1], rtol=1e-12)


@given(st.lists(st.integers(0, 9), min_size=20, max_size=60).filter(lambda g: len(set(g)) >= 5), st.integers(1, 4), st.integers(0, 3))
def test_a_learning_curves_folds_fit_to_so_many_groups_and_part_none(groups: list[int], size: int, seed: int) -> None:
    index = np.array(groups)
    folds = [list(SomeGroups(4, size=s, seed=(seed,)).split(index, groups=index)) for s in (size, size + 1)]
    for (rest, out), (more, same) in zip(*folds, strict=True):
        assert len(set(index[rest])) == min(size, len(set(index)) - len(set(index[out])))
        assert not set(index[rest]) & set(index[out])
        assert set(rest) <= set(more)
        assert (out == same).all()
        assert all(set(np.flatnonzero(index == group)) <= set(rest) for group in set(index[rest]))
    assert sorted(np.concatenate([out for _, out in folds[0]])) == list(range(len(index)))


def test_a_learning_curve_rises_to_the_skill_of_all_groups() -> None:
    rng = np.random.default_rng(0)
    groups = np.arange(900) % 25
    X = rng.normal(size=(900, 1))
    y = rng.random(900) < sigmoid(1.5 * X[:, 0] + rng.normal(0, 0.8, 25)[groups])
    estimator = MapClassifier("platt")
    few, more, every = learning_curve(estimator, X, y, groups, sizes=[1, 5, 20], draws=4)
    assert few.skill.value < more.skill.value < every.skill.value
    assert few.samples < more.samples < every.samples
    whole = intervals(held_out_probabilities(estimator, X, y, groups), y, groups, resamples=1).skill
    assert whole is not None
    assert (every.groups, every.samples) == (20, 720)
    assert every.skill.value == pytest.approx(whole.value)
    assert (every.skill.low, every.skill.high) == pytest.approx((whole.low, whole.high))


def test_a_line_leaves_what_bends() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(700, 2))
    y = rng.random(700) < sigmoid(4 * np.abs(X[:, 0]) - 3)
    groups = np.arange(700) % 12
    found = what_maps_leave(MapClassifier("platt"), X, y, groups, CURVES)
    assert found.more_skill.low > 0.1
    assert found.more_log_loss.high < 0
    p, q = (held_out_probabilities(estimator, X, y, groups) for estimator in (MapClassifier("platt"), CURVES))
    assert found.more_skill == paired(p, bounded(q, 700), y, groups).skill
    assert found.richer_skill.value - found.skill.value == pytest.approx(found.more_skill.value)


@pytest.mark.slow
def test_a_group_of_one_class_can_be_held_out_where_trees_are_chosen() -> None:
    X, y, groups = matrix_of(world(200, projects=6)[0], ["total_logprob"], "exact_match")
    y = np.where(groups == "p1", "right", np.where(y, "right", "no"))
    assert np.isfinite(boosted().fit(X, y == "right", groups=groups).cv_results_["mean_test_score"]).all()
    assert what_maps_leave(MapClassifier("platt"), X, y, groups).groups == 6


X, Y, GROUPS = matrix_of(world(60, projects=6)[0], ["total_logprob"], "exact_match")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"draws": 0}, "draws is 0; it is a whole number from 1 on"),
        ({"draws": 1.5}, "draws is 1.5"),
        ({"folds": 1}, "folds is 1; it is a whole number from 2 on"),
        ({"folds": 7}, "6 groups can't be held out in 7 folds; samples of at least 7 groups are needed"),
        ({"sizes": [0]}, r"sizes are \[0\]; each is a number of groups from 1 to 4, which 5 folds leave to fit to"),
        ({"sizes": [5]}, r"sizes are \[5\]"),
        ({"sizes": [2.5]}, r"sizes are \[2.5\]"),
        ({"sizes": []}, r"sizes are \[\]"),
    ],
)
def test_a_learning_curve_that_can_not_be_drawn_is_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        learning_curve(MapClassifier("platt", ["total_logprob"]), X, Y, GROUPS, **arguments)


def test_too_few_groups_or_classes_are_refused() -> None:
    estimator = MapClassifier("platt", ["total_logprob"])
    with pytest.raises(ValueError, match="2 groups can't be held out in 5 folds; samples of at least 5 groups are needed"):
        what_maps_leave(estimator, X, Y, GROUPS == "p0")
    with pytest.raises(ValueError, match="y has 1 class; two are needed"):
        what_maps_leave(estimator, X, np.ones(60), GROUPS)
    with pytest.raises(ValueError, match="y has 3 classes"):
        held_out_probabilities(estimator, X, np.arange(60) % 3, GROUPS)
    with pytest.raises(ValueError, match="samples that a fold leaves to fit to are of one class; samples of more groups are needed"):
        what_maps_leave(MapClassifier("base_rate"), X, GROUPS == "p0", GROUPS, CURVES)

"""The maps as scikit-learn's estimators: its own checks, and the same maps as `fitting.fit`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn import config_context
from sklearn.model_selection import GroupKFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from synthetic_samples import sample, world

from assay.calibration.arrays import Floats, bounded, sigmoid
from assay.calibration.estimators.map_classifier import LADDER, MapClassifier
from assay.calibration.estimators.matrix import matrix_of
from assay.calibration.fitting.fit import fit
from assay.calibration.maps.registry import MAPS
from assay.calibration.measures.registry import enter

BOTH = ("total_logprob", "length")


@pytest.mark.slow
@pytest.mark.parametrize("kind", [LADDER, *MAPS])
def test_it_passes_scikit_learns_own_checks(kind: str) -> None:
    results = check_estimator(MapClassifier(kind), on_skip=None)
    assert len(results) > 50
    # It asks for arrays of other libraries, which no tag of ours claims, and only where SCIPY_ARRAY_API is set.
    assert {each["check_name"] for each in results if each["status"] != "passed"} <= {"check_array_api_input"}


@pytest.mark.parametrize("kind", [LADDER, *MAPS])
def test_it_fits_the_map_that_a_calibrator_has(kind: str) -> None:
    samples, _ = world(400, between=0.8)
    measures = ("total_logprob",) if kind not in (LADDER, "platt") else BOTH
    fitted = fit(samples, "exact_match", measures, kind="auto" if kind == LADDER else kind, resamples=2)
    X, y, groups = matrix_of(samples, measures, "exact_match")
    made = MapClassifier(kind, measures).fit(X, y, groups)
    assert made.map_ == fitted.calibrator.map
    assert made.selection_.tried == fitted.calibrator.tried
    entered = np.column_stack([enter(name, X[:, i].copy()) for i, name in enumerate(fitted.calibrator.features)])
    assert (made.predict_proba(X)[:, 1] == bounded(sigmoid(fitted.calibrator.map.log_odds(entered)), len(y))).all()


def test_the_second_class_is_the_event_whatever_labels_are_called() -> None:
    X, y, _ = matrix_of(world(300)[0], ["total_logprob"], "exact_match")
    by_truth = MapClassifier(measures=["total_logprob"]).fit(X, y)
    by_name = MapClassifier(measures=["total_logprob"]).fit(X, np.where(y, "right", "no"))
    assert list(by_name.classes_) == ["no", "right"]
    assert (by_name.predict_proba(X) == by_truth.predict_proba(X)).all()
    assert ((by_name.predict(X) == "right") == by_truth.predict(X)).all()


class Noted(MapClassifier):
    """Notes the groups of each `fit` in a list that copies share."""

    fits: ClassVar[list[set[str]]] = []

    def fit(self, X: Any, y: Any, groups: Any = None) -> Noted:
        assert groups is not None
        Noted.fits.append(set(groups))
        return super().fit(X, y, groups)


@pytest.mark.parametrize("wrapped", [False, True])
def test_cross_validation_brings_each_fold_its_groups_and_parts_none(wrapped: bool) -> None:
    X, y, groups = matrix_of(world(400)[0], ["total_logprob"], "exact_match")
    estimator = make_pipeline(StandardScaler(), Noted()) if wrapped else Noted(measures=["total_logprob"])
    Noted.fits = []
    with config_context(enable_metadata_routing=True):
        cross_val_predict(estimator, X, y, cv=GroupKFold(4), method="predict_proba", params={"groups": groups})
    held_out = [set(groups) - fitted for fitted in Noted.fits]
    assert sorted(name for names in held_out for name in names) == sorted(set(groups))
    assert len(held_out) == 4


def test_a_frame_has_the_measures_in_their_order() -> None:
    pandas = pytest.importorskip("pandas")
    X, y, _ = matrix_of(world(100)[0], BOTH, "exact_match")
    frame = pandas.DataFrame(X, columns=BOTH)
    made = MapClassifier(measures=BOTH).fit(frame, y)
    assert (made.predict_proba(frame) == MapClassifier(measures=BOTH).fit(X, y).predict_proba(X)).all()
    with pytest.raises(ValueError, match="the columns of X are length, total_logprob, and measures names total_logprob, length"):
        MapClassifier(measures=BOTH).fit(frame[["length", "total_logprob"]], y)


X2 = np.column_stack([-np.arange(1.0, 41), np.arange(40.0)])
Y2 = np.arange(40) % 3 == 0


@pytest.mark.parametrize(
    ("parameters", "X", "y", "message"),
    [
        ({"kind": "plat"}, X2, Y2, r"unknown kind of map 'plat', known are ladder, base_rate, platt"),
        ({"measures": "total_logprob"}, X2, Y2, r"measures is 'total_logprob'; it is a sequence of names, such as \['total_logprob'\]"),
        ({"measures": ["total_logprob", "size"]}, X2, Y2, "unknown measure size, known are total_logprob"),
        ({"measures": ["total_logprob"]}, X2, Y2, r"1 measures \(total_logprob\) are named for the 2 columns of X"),
        ({"kind": "beta", "measures": BOTH}, X2, Y2, "a map of kind beta takes one measure, not 2; platt and ladder take several"),
        ({"kind": "beta", "measures": ["length"]}, X2[:, 1:], Y2, "a map of kind beta takes a probability, and length is none"),
        ({"measures": BOTH}, -X2, Y2, "total_logprob holds a positive log-probability"),
        ({}, X2 * 1e12, Y2, "no map takes a value above 1e"),
        ({}, X2, np.ones(40), "y has 1 class, .*two classes"),
        ({}, X2, np.arange(40) % 3, "Only binary classification is supported. The type of the target is multiclass"),
    ],
)
def test_what_can_not_be_fitted_is_an_error_that_says_why(parameters: dict[str, Any], X: Floats, y: Sequence[Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MapClassifier(**parameters).fit(X, y)


def test_a_matrix_has_raw_measures_and_leaves_unknown_labels_out() -> None:
    samples = [
        sample(0, total_logprob=-1.0, length=3.0),
        sample(1, label=None),
        sample(2, label=False, project="p1", total_logprob=-2.0, length=5.0),
    ]
    X, y, groups = matrix_of(samples, ("length", "total_logprob"), "exact_match")
    assert X.tolist() == [[3.0, -1.0], [5.0, -2.0]]
    assert y.tolist() == [True, False]
    assert groups.tolist() == ["p0", "p1"]


@pytest.mark.parametrize(
    ("measures", "event", "message"),
    [
        (["total_logprob"], "right", "unknown event 'right', known are exact_match"),
        (["mean_margin"], "exact_match", "20 of 20 samples have no measure mean_margin"),
    ],
)
def test_samples_that_make_no_matrix_are_refused(measures: Sequence[str], event: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        matrix_of(world(20)[0], measures, event)

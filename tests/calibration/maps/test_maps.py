from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression  # type: ignore[import-untyped]
from venn_abers import VennAbers  # type: ignore[import-untyped]

from assay.calibration.arrays import Floats, sigmoid
from assay.calibration.fitting.model_selection import Selection, fit_map
from assay.calibration.maps.base_rate import fit_base_rate
from assay.calibration.maps.beta import fit_beta
from assay.calibration.maps.histogram import fit_histogram
from assay.calibration.maps.isotonic import fit_isotonic
from assay.calibration.maps.linear import total_loss
from assay.calibration.maps.platt import fit_platt
from assay.calibration.maps.registry import MAPS, Map, problems_of
from assay.calibration.maps.venn_abers import fit_venn_abers
from assay.calibration.strict_json import build

drawn = st.lists(st.tuples(st.integers(-12, 12).map(lambda k: k / 2), st.booleans()), min_size=1, max_size=40).map(
    lambda pairs: (np.array([[x] for x, _ in pairs]), np.array([y for _, y in pairs]))
)


def world(n: int, seed: int = 0) -> tuple[Floats, NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(-1, 2, (n, 1))
    return x, rng.random(n) < sigmoid(0.3 + 0.8 * x[:, 0])


def fitted(kind: str, x: Floats, y: NDArray[np.bool_]) -> Map:
    return fit_map(Selection(kind, 1, 0.0, ()), x, y, ["total_logprob"])


@pytest.mark.parametrize("kind", MAPS)
@given(sample=drawn)
@settings(max_examples=60)
def test_every_map_of_every_sample_is_finite_is_valid_and_survives_its_file(kind: str, sample: tuple[Floats, NDArray[np.bool_]]) -> None:
    x, y = sample
    made = fitted(kind, x, y)
    where = np.linspace(-20, 20, 41)[:, None]
    assert np.isfinite(made.log_odds(where)).all()
    assert (made.standard_error(where) >= 0).all()
    assert np.isfinite(made.standard_error(where)).all()
    assert list(problems_of(made, 1)) == []
    assert build(type(made), json.loads(json.dumps(asdict(made)))) == made


@pytest.mark.parametrize("kind", sorted(set(MAPS) - {"histogram", "platt", "temperature"}))
@given(sample=drawn)
@settings(max_examples=60)
def test_a_map_that_cannot_fall_never_does(kind: str, sample: tuple[Floats, NDArray[np.bool_]]) -> None:
    found = fitted(kind, *sample).log_odds(np.linspace(-8, 8, 200)[:, None])
    assert (np.diff(found) >= -1e-9).all()


@pytest.mark.parametrize("kind", MAPS)
def test_every_map_comes_to_the_truth_with_more_samples_as_far_as_it_can(kind: str) -> None:
    x, y = world(30_000)
    error = np.abs(sigmoid(fitted(kind, x, y).log_odds(x)) - sigmoid(0.3 + 0.8 * x[:, 0])).mean()
    assert error < {"base_rate": 0.3, "temperature": 0.06, "histogram": 0.04}.get(kind, 0.015)


@pytest.mark.parametrize("kind", MAPS)
def test_standard_errors_are_the_spread_of_the_log_odds_over_samples(kind: str) -> None:
    where = np.array([[-3.0], [-1.0], [1.0]])
    fits = [fitted(kind, *world(1500, seed)) for seed in range(60)]
    spread = np.std([f.log_odds(where) for f in fits], axis=0)
    said = np.mean([f.standard_error(where) for f in fits], axis=0)
    # steps move with the sample, which their errors take as given
    low, high = (0.4, 2.0) if kind in ("isotonic", "venn_abers", "histogram") else (0.7, 1.4)
    assert (said > low * spread).all(), (said, spread)
    assert (said < high * spread).all(), (said, spread)


@pytest.mark.parametrize("kind", MAPS)
def test_standard_errors_grow_when_samples_come_in_groups_of_copies(kind: str) -> None:
    x, y = world(400)
    groups = np.tile(np.arange(400), 9)
    choice, where = Selection(kind, 1, 0.0, ()), np.array([[-1.0]])
    alone = fit_map(choice, np.tile(x, (9, 1)), np.tile(y, 9), ["total_logprob"])
    together = fit_map(choice, np.tile(x, (9, 1)), np.tile(y, 9), ["total_logprob"], groups)
    assert together.log_odds(where) == alone.log_odds(where)
    assert together.standard_error(where)[0] > 2 * alone.standard_error(where)[0]


@given(drawn)
def test_the_base_rate_is_laplaces(sample: tuple[Floats, NDArray[np.bool_]]) -> None:
    x, y = sample
    assert sigmoid(fit_base_rate(y).log_odds(x)) == pytest.approx((y.sum() + 1) / (len(y) + 2))


@given(drawn)
@settings(max_examples=40)
def test_beta_is_the_best_map_among_those_that_do_not_fall(sample: tuple[Floats, NDArray[np.bool_]]) -> None:
    x, y = sample
    z = x[:, 0]
    logs = np.column_stack([np.ones(len(z)), z - np.logaddexp(0, z), np.logaddexp(0, z)])
    found = fit_beta(x, y)
    best = minimize(
        lambda theta: total_loss(logs @ theta, y),
        np.array([found.c, found.a, found.b]) + 0.1,
        bounds=[(None, None), (0, None), (0, None)],
        method="L-BFGS-B",
    )
    assert found.a >= 0
    assert found.b >= 0
    assert total_loss(found.log_odds(x), y) <= best.fun + 1e-3


def test_beta_of_generations_that_are_all_hopeless_or_all_but_certain_leaves_out_the_log_that_hardly_moves() -> None:
    rng = np.random.default_rng(0)
    z = -rng.uniform(20, 800, (300, 1))
    y = rng.random(300) < sigmoid(3 + z[:, 0] / 100)
    low, high = fit_beta(z, y), fit_beta(-z, ~y)
    assert (low.b, high.a) == (0, 0)
    assert low.a == pytest.approx(high.b, rel=1e-9)
    assert 0.005 < low.a < 0.02
    assert list(problems_of(low, 1)) == []


@given(drawn, st.booleans())
def test_isotonic_is_scikit_learns_where_no_end_is_pure(sample: tuple[Floats, NDArray[np.bool_]], rising: bool) -> None:
    x, y = sample
    x = np.concatenate([x, [[-99.0]] * 2, [[99.0]] * 2])
    y = np.concatenate([y, [False, True] * 2])
    oracle = IsotonicRegression(increasing=rising, y_min=0, y_max=1).fit_transform(
        np.append(x[:, 0], [-1e9, 1e9]), np.append(y, [rising, not rising])
    )
    assert sigmoid(fit_isotonic(x, y, rising=rising).log_odds(x)) == pytest.approx(oracle[:-2], abs=1e-9)


def test_venn_abers_agrees_with_the_venn_abers_library() -> None:
    x, y = world(600)
    p, new = sigmoid(x[:, 0]), np.linspace(0.001, 0.999, 300)
    oracle = VennAbers()
    oracle.fit(np.column_stack([1 - p, p]), y.astype(int))
    combined, bounds = oracle.predict_proba(np.column_stack([1 - new, new]))
    found = fit_venn_abers(p[:, None], y)
    assert np.column_stack(found.bounds(new[:, None])) == pytest.approx(bounds, abs=1e-12)
    assert sigmoid(found.log_odds(new[:, None])) == pytest.approx(combined[:, 1], abs=1e-9)


def test_a_histogram_holds_the_smoothed_rates_of_its_bins() -> None:
    x, y = np.arange(40.0)[:, None], np.arange(40) % 4 == 0
    found = fit_histogram(x, y, bins=4)
    assert found.edges == (10.0, 20.0, 30.0)
    assert sigmoid(np.array(found.values)) == pytest.approx([4 / 12, 3 / 12, 4 / 12, 3 / 12])
    assert found.log_odds(np.array([[9.9], [10.0]])).tolist() == [found.values[0], found.values[1]]


@pytest.mark.parametrize("ridge", [0.0, 3.0])
@given(sample=drawn, where=st.tuples(st.floats(-40, 40), st.floats(-40, 40)))
@settings(max_examples=60)
def test_a_sample_alone_gets_what_others_get_too(
    ridge: float, sample: tuple[Floats, NDArray[np.bool_]], where: tuple[float, float]
) -> None:
    x, y = sample
    made = fit_platt(np.column_stack([x, x[:, 0] ** 2]), y, ridge=ridge)
    log_odds, error = made.at(where)
    assert log_odds == pytest.approx(made.log_odds(np.array([where]))[0], rel=1e-9, abs=1e-9)
    assert error == pytest.approx(made.standard_error(np.array([where]))[0], rel=1e-6, abs=1e-6)

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from assay.calibration.arrays import Floats, sigmoid
from assay.calibration.fitting.between_groups import between_group_sd
from assay.calibration.maps.linear import smoothed_targets
from assay.calibration.maps.platt import PlattMap, fit_platt
from assay.calibration.measures.registry import enter
from assay.calibration.metrics.scores import skill


def drawn(n: int, slopes: list[float], seed: int = 0) -> tuple[Floats, NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(3, 5, (n, len(slopes)))
    return x, rng.random(n) < sigmoid(-0.4 + (x - 3) @ np.array(slopes))


def probability(found: PlattMap, x: Floats) -> Floats:
    return sigmoid(found.log_odds(x))


@pytest.mark.parametrize("slopes", [[0.1], [0.06, -0.05, 0.0]])
@pytest.mark.parametrize("n", [40, 2000])
def test_parameters_are_those_of_unpenalised_logistic_regression_on_the_smoothed_targets(n: int, slopes: list[float]) -> None:
    x, y = drawn(n, slopes)
    targets = smoothed_targets(y)
    oracle = LogisticRegression(C=np.inf, tol=1e-12, max_iter=10_000)
    oracle.fit(np.vstack([x, x]), np.repeat([1, 0], n), sample_weight=np.concatenate([targets, 1 - targets]))
    found = fit_platt(x, y)
    p = probability(found, x)
    assert targets.min() < p.min()  # no sample is beyond its target
    assert p.max() < targets.max()
    assert found.intercept == pytest.approx(oracle.intercept_[0], abs=2e-4)
    assert found.slopes == pytest.approx(oracle.coef_[0], abs=2e-4)


@given(st.integers(2, 40), st.floats(-1e3, 1e3), st.floats(1e-3, 1e6), st.integers(0, 5))
@settings(max_examples=60)
def test_the_map_does_not_depend_on_the_units_of_the_features(n: int, shift: float, scale: float, seed: int) -> None:
    x, y = drawn(n, [0.4], seed)
    here, there = fit_platt(x, y), fit_platt(x * scale + shift, y)
    assert probability(there, x * scale + shift) == pytest.approx(probability(here, x), abs=1e-6)
    assert there.covariance[1][1] * scale**2 == pytest.approx(here.covariance[1][1], rel=1e-4)


@pytest.mark.parametrize("gap", [1e-9, 1e9])
def test_perfect_separation_stays_finite(gap: float) -> None:
    x, y = np.array([[-gap]] * 20 + [[gap]] * 20), np.array([False] * 20 + [True] * 20)
    assert probability(fit_platt(x, y), x) == pytest.approx([1 / 22] * 20 + [21 / 22] * 20, abs=1e-6)


def test_a_constant_feature_gets_no_slope_and_the_base_rate() -> None:
    found = fit_platt(np.full((10, 1), 0.1), np.array([True] * 3 + [False] * 7))
    assert found.slopes == (0.0,)
    assert sigmoid(np.array([found.intercept])) == pytest.approx([smoothed_targets(np.array([True] * 3 + [False] * 7)).mean()])


def test_hopeless_samples_far_out_do_not_pull_the_slope_to_zero_as_plain_smoothed_targets_do() -> None:
    def tailed(n: int, seed: int) -> tuple[Floats, NDArray[np.bool_], Floats]:
        rng = np.random.default_rng(seed)
        total = -np.where(rng.random(n) < 0.2, rng.lognormal(5.5, 0.8, n), rng.lognormal(0.5, 1.2, n))
        x = enter("total_logprob", total)
        truth = sigmoid(0.3 + 0.7 * x)
        return x[:, None], rng.random(n) < truth, truth

    far, happened, truth = tailed(20_000, 99)
    ours, plain = [], []
    for seed in range(8):
        x, y, _ = tailed(100, seed)
        ours.append(skill(probability(fit_platt(x, y), far), happened))
        targets = smoothed_targets(y)
        oracle = LogisticRegression(C=np.inf, max_iter=10_000)
        oracle.fit(np.vstack([x, x]), np.repeat([1, 0], 100), sample_weight=np.concatenate([targets, 1 - targets]))
        plain.append(skill(oracle.predict_proba(far)[:, 1], happened))
    assert np.mean(ours) > 0.9 * skill(truth, happened)
    assert np.mean(plain) < 0.5 * skill(truth, happened)


@pytest.mark.parametrize("truth", [0.0, 0.6])
def test_the_spread_between_groups_is_found(truth: float) -> None:
    found = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        groups = rng.integers(0, 20, 3000)
        x = rng.normal(0, 1.5, (3000, 1))
        y = rng.random(3000) < sigmoid(-0.3 + 0.7 * x[:, 0] + rng.normal(0, truth, 20)[groups])
        found.append(between_group_sd(probability(fit_platt(x, y), x), y, groups))
    assert np.sqrt(np.mean(np.square(found))) == pytest.approx(truth, abs=0.08)


@given(st.lists(st.floats(-1e308, 1e308), min_size=1))
def test_the_sigmoid_never_overflows(z: list[float]) -> None:
    with np.errstate(over="raise", invalid="raise"):
        p = sigmoid(np.array(z))
    assert ((p >= 0) & (p <= 1)).all()

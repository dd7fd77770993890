from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.calibration.arrays import Floats
from assay.calibration.fitting.online import GAMMA, OnlinePlatt, forecasts, probability, start, update
from assay.calibration.maps.platt import fit_platt
from assay.calibration.measures.registry import enter
from assay.calibration.strict_json import build

V = ((0.02, 0.003), (0.003, 0.01))
SAMPLES = st.lists(st.tuples(st.floats(-1000, 40), st.booleans()), min_size=1, max_size=60)


def sigmoid(z: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-z)))


def followed(state: OnlinePlatt, x: Floats, y: Floats) -> tuple[OnlinePlatt, Floats]:
    """The state after a stream, and what start, OPS, TOPS and the mixture said of each sample before they learned of it, (n, 4)."""
    said = []
    for value, happened in zip(x.tolist(), y.tolist(), strict=True):
        each = forecasts(state, [value])
        said.append((each.start, each.ops, each.tops, probability(state, [value])))
        state = update(state, [value], bool(happened))
    return state, np.array(said)


def excess(p: Floats, truth: Floats) -> float:
    """Mean log loss above that of the truth, nats."""
    return float((truth * np.log(truth / p) + (1 - truth) * np.log((1 - truth) / (1 - p))).mean())


def drawn(n: int, seed: int) -> Floats:
    return enter("total_logprob", -np.random.default_rng(seed).lognormal(0.3, 1.1, n))


def fitted(n: int, seed: int) -> OnlinePlatt:
    """Started from a fit to n samples of a world with log odds 0.5 + 0.7 x."""
    x = drawn(n, seed)
    platt = fit_platt(x[:, None], np.random.default_rng(seed + 1).random(n) < sigmoid(0.5 + 0.7 * x))
    return start(platt.intercept, platt.slopes, platt.covariance, n)


def stream(n: int, seed: int, log_odds: Floats | None = None) -> tuple[Floats, Floats, Floats]:
    """x, y and the true probabilities; log_odds is added to those of the world."""
    x = drawn(n, seed)
    truth = sigmoid(0.5 + 0.7 * x + (0 if log_odds is None else log_odds))
    return x, np.random.default_rng(seed + 1).random(n) < truth, truth


def test_before_the_first_sample_all_say_what_the_fitted_map_says() -> None:
    state = start(0.5, [0.7], V, 100)
    p = pytest.approx(float(sigmoid(np.array(0.5 + 0.7 * 1.5))), abs=1e-15)
    said = forecasts(state, [1.5])
    assert (said.start, said.ops, said.tops, probability(state, [1.5])) == (p, p, p, p)


def test_ops_is_the_online_newton_step_from_the_fits_own_precision() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(0, 2, (50, 2)), rng.random(50) < 0.4
    v = np.array([[0.02, 0.003, 0.0], [0.003, 0.01, 0.001], [0.0, 0.001, 0.03]])
    state = start(0.5, [0.7, -0.2], v.tolist(), 200)
    theta, a = np.array([0.5, 0.7, -0.2]), np.linalg.inv(v) / GAMMA
    for row, happened in zip(x, y, strict=True):
        state = update(state, row.tolist(), bool(happened))
        features = np.array([1.0, *row])
        gradient = (sigmoid(theta @ features) - happened) * features
        a = a + np.outer(gradient, gradient)
        theta = theta - np.linalg.inv(a) @ gradient / GAMMA
    assert state.theta == pytest.approx(theta.tolist(), rel=1e-10)
    assert np.array(state.a) == pytest.approx(a, rel=1e-10)


@given(SAMPLES, st.sampled_from([None, 1.0, 30.0]))
@settings(max_examples=60, deadline=None)
def test_whatever_comes_the_mixture_is_behind_none_of_the_three_by_more_than_is_promised(
    samples: list[tuple[float, bool]], half_life: float | None
) -> None:
    x, y = (np.array(column) for column in zip(*samples, strict=True))
    _, said = followed(start(0.5, [0.7], V, 300, half_life=half_life), x, y)
    assert ((said >= 1 / 302) & (said <= 1 - 1 / 302)).all()
    losses = -np.log(np.where(y[:, None], said, 1 - said)).sum(axis=0)
    assert losses[3] <= losses[:3].min() + math.log(3) + math.log(len(y)) + 1e-9


@given(SAMPLES, st.sampled_from([None, 30.0]))
@settings(max_examples=30, deadline=None)
def test_the_state_goes_through_json_unchanged(samples: list[tuple[float, bool]], half_life: float | None) -> None:
    state = start(0.5, [0.7], V, 300, half_life=half_life)
    for x, y in samples:
        state = update(state, [x], y)
    assert build(OnlinePlatt, json.loads(json.dumps(asdict(state), allow_nan=False))) == state


def test_where_nothing_changes_it_gets_better_than_a_fit_to_few_samples() -> None:
    before, after = [], []
    for seed in range(8):
        x, y, truth = stream(1500, 100 + seed)
        _, said = followed(fitted(100, seed), x, y)
        before.append(excess(said[500:, 0], truth[500:]))
        after.append(excess(said[500:, 3], truth[500:]))
    assert np.mean(after) < 0.5 * np.mean(before)
    assert np.mean(after) < 0.005


def test_after_a_shift_it_comes_to_the_new_truth() -> None:
    shift = np.where(np.arange(2000) < 500, 0.0, -1.0)
    x, y, truth = stream(2000, 7, shift)
    _, said = followed(fitted(500, 3), x, y)
    fixed, mixture = excess(said[1500:, 0], truth[1500:]), excess(said[1500:, 3], truth[1500:])
    assert mixture < 0.1 * fixed


def test_calibeating_mends_what_no_platt_map_can() -> None:
    x = drawn(2500, 11)
    truth = np.where(x > 0, 0.8, 0.2)
    y = np.random.default_rng(12).random(2500) < truth
    _, said = followed(fitted(500, 5), x, y)
    _, ops, tops, mixture = (excess(column[1000:], truth[1000:]) for column in said.T)
    assert tops < 0.7 * ops
    assert mixture < tops + 0.002


@pytest.mark.parametrize(("half_life", "seen"), [(100.0, 1500), (300.0, 300)])
def test_a_half_life_after_a_shift_half_of_it_is_made_good_however_much_was_seen_before(half_life: float, seen: int) -> None:
    made_good, without = [], []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x = rng.normal(0, 1.5, seen + int(half_life))
        y = rng.random(len(x)) < sigmoid(x - np.where(np.arange(len(x)) < seen, 0, 1))
        for kept, state in ((made_good, start(0.0, [1.0], V, 400, half_life=half_life)), (without, start(0.0, [1.0], V, 4000))):
            before = 0.0
            for i, (value, happened) in enumerate(zip(x.tolist(), y.tolist(), strict=True)):
                before = state.theta[0] if i == seen else before
                state = update(state, [value], bool(happened))
            kept.append((before - state.theta[0]) / (before + 1))
    assert 0.33 < np.mean(made_good) < 0.75
    assert np.mean(made_good) > np.mean(without)


def test_a_measure_that_stands_still_for_long_is_not_forgotten_to_nothing() -> None:
    state = start(0.5, [0.7], V, 300, half_life=5.0)
    for i in range(4000):
        state = update(state, [1.0], i % 3 > 0)
    assert probability(state, [1.0]) == pytest.approx(2 / 3, abs=0.15)
    assert state.theta[1] == pytest.approx(0.7, abs=0.5)


@pytest.mark.parametrize("x", [[], [1.0, 2.0], [math.nan], [math.inf], [-1e300]])
def test_features_that_the_map_can_not_have_are_refused(x: list[float]) -> None:
    state = start(0.5, [0.7], V, 300)
    for ask in (lambda: probability(state, x), lambda: update(state, x, True)):
        with pytest.raises(ValueError, match="1 features within"):
            ask()


def test_a_start_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="not positive definite"):
        start(0.5, [0.7], [[0.02, 0.0], [0.0, 0.0]], 300)
    with pytest.raises(ValueError, match="covariance of 2 by 2"):
        start(0.5, [0.7], [[0.02]], 300)
    with pytest.raises(ValueError, match="finite parameters"):
        start(math.nan, [0.7], V, 300)
    for n, half_life in ((0, None), (300, 0.5), (300, math.nan), (300, math.inf)):
        with pytest.raises(ValueError, match="must be at least 1"):
            start(0.5, [0.7], V, n, half_life=half_life)

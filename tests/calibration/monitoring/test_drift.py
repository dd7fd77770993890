from __future__ import annotations

import json
import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import binom

from assay.calibration.arrays import Floats
from assay.calibration.measures.registry import enter
from assay.calibration.monitoring.drift import MIN_TOLERANCE, Watch, alarm, log_e_value, start, watch
from assay.calibration.strict_json import build

PROBABILITY = st.floats(1e-9, 1 - 1e-9)
STREAM = st.lists(st.tuples(PROBABILITY, st.booleans()), min_size=1, max_size=40)


def sigmoid(z: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-z)))


def drawn(n: int, seed: int) -> Floats:
    """Log odds as those of a calibrator, (n,)."""
    return 0.5 + 0.7 * enter("total_logprob", -np.random.default_rng(seed).lognormal(0.3, 1.1, n))


def stream(n: int, seed: int, shift: float = 0.0, slope: float = 1.0, onset: int = 0) -> tuple[Floats, NDArray[np.bool_]]:
    """Probabilities, and what happens; from the sample `onset` (from 0) on its log odds are shift + slope · theirs."""
    z = drawn(n, seed)
    truth = sigmoid(np.where(np.arange(n) >= onset, shift + slope * z, z))
    return sigmoid(z), np.random.default_rng(seed + 10**6).random(n) < truth


def watched(samples: list[tuple[float, bool]], state: Watch) -> Watch:
    return watch(state, *map(list, zip(*samples, strict=True)))


@pytest.mark.slow
@given(STREAM, PROBABILITY, st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=200, deadline=None)
def test_under_the_claim_the_mean_e_value_does_not_grow(past: list[tuple[float, bool]], p: float, where: float, tolerance: float) -> None:
    before = watched(past, start(0.01, tolerance))
    z = math.log(p / (1 - p))
    low = max(0.0, min(1 / (1 + math.exp(tolerance - z)), p - MIN_TOLERANCE))
    high = min(1.0, max(1 / (1 + math.exp(-z - tolerance)), p + MIN_TOLERANCE))
    q = low + where * (high - low)
    happens, does_not = (math.exp(log_e_value(watch(before, p, y)) - log_e_value(before)) for y in (True, False))
    assert q * happens + (1 - q) * does_not <= 1 + 1e-9


@given(STREAM)
@settings(max_examples=30, deadline=None)
def test_the_state_goes_through_json_unchanged(samples: list[tuple[float, bool]]) -> None:
    state = watched(samples, start(0.3))
    assert build(Watch, json.loads(json.dumps(asdict(state), allow_nan=False))) == state


def test_it_is_seldom_raised_where_the_probabilities_hold_within_the_tolerance() -> None:
    streams, alpha = 200, 0.1
    raised = [watch(start(alpha), *stream(1000, seed, shift=0.25)).raised is not None for seed in range(streams)]
    assert sum(raised) <= binom.ppf(0.999, streams, alpha)


@pytest.mark.parametrize(
    ("shift", "slope", "direction", "size"),
    [(-1.0, 1.0, "too_high", 1.0), (1.0, 1.0, "too_low", 1.0), (0.0, 0.5, "too_extreme", 0.5), (0.0, 2.0, "too_timid", 2.0)],
)
def test_a_drift_is_found_with_its_direction_its_size_and_its_beginning(shift: float, slope: float, direction: str, size: float) -> None:
    found = []
    for seed in range(6):
        p, y = stream(5000, seed, shift, slope, onset=1500)
        state = watch(start(), p, y)
        assert alarm(watch(start(), p[:1500], y[:1500])) is None
        made = alarm(state)
        assert made.direction == direction
        assert 1500 < made.raised == state.raised < 4500
        assert made.log_e_value == state.log_highest >= math.log(100)
        found.append(made)
    assert abs(np.median([each.since for each in found]) - 1501) < 100
    assert sum(each.low <= size <= each.high for each in found) >= 4
    assert np.mean([each.size for each in found]) == pytest.approx(size, rel=0.1)


def test_an_error_below_two_points_is_none_however_large_in_log_odds() -> None:
    never = np.zeros(20_000, dtype=np.bool_)
    assert watch(start(), np.full(20_000, 0.015), never).raised is None
    assert watch(start(), np.full(20_000, 0.08), never).raised is not None


def test_after_the_alarm_the_estimate_gets_sharper_and_the_alarm_stays() -> None:
    p, y = stream(6000, 5, -1.0, onset=1000)
    whole = watch(start(), p, y)
    assert whole.raised is not None
    at_once, later = alarm(watch(start(), p[: whole.raised], y[: whole.raised])), alarm(whole)
    assert (at_once.raised, at_once.since) == (later.raised, later.since)
    assert later.high - later.low < 0.5 * (at_once.high - at_once.low)
    assert alarm(watch(whole, *stream(20_000, 6))).raised == later.raised

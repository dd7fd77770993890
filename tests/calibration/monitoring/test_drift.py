from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from numpy.typing import NDArray
from scipy.stats import binom
from synthetic_samples import sample, world

from assay.calibration.arrays import Floats
from assay.calibration.calibrator import save
from assay.calibration.fitting.fit import fit
from assay.calibration.measures.registry import enter
from assay.calibration.monitoring.drift import MIN_TOLERANCE, Alarm, Watch, alarm, log_e_value, start, watch
from assay.calibration.samples import Sample, write_samples
from assay.calibration.strict_json import build
from assay.cli.main import main

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


@given(STREAM, PROBABILITY, st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=200, deadline=None)
def test_while_the_claim_holds_the_e_value_never_grows_in_the_mean(
    past: list[tuple[float, bool]], p: float, where: float, tolerance: float
) -> None:
    before = watched(past, start(0.01, tolerance))
    z = math.log(p / (1 - p))
    low = max(0.0, min(1 / (1 + math.exp(tolerance - z)), p - MIN_TOLERANCE))
    high = min(1.0, max(1 / (1 + math.exp(-z - tolerance)), p + MIN_TOLERANCE))
    q = low + where * (high - low)
    happens, does_not = (math.exp(log_e_value(watch(before, p, y)) - log_e_value(before)) for y in (True, False))
    assert q * happens + (1 - q) * does_not <= 1 + 1e-9


@given(STREAM, st.integers(0, 40))
@settings(max_examples=60, deadline=None)
def test_samples_may_come_in_any_number_of_calls(samples: list[tuple[float, bool]], cut: int) -> None:
    whole = watched(samples, start(0.5, 0.1))
    pieces = start(0.5, 0.1)
    for part in (samples[:cut], samples[cut:]):
        pieces = watched(part, pieces) if part else pieces
    assert (whole.count, whole.raised) == (pieces.count, pieces.raised) == (len(samples), whole.raised)
    assert log_e_value(whole) == pytest.approx(log_e_value(pieces), abs=1e-9)
    assert whole.log_highest == pytest.approx(pieces.log_highest, abs=1e-9)
    for one, other in zip(whole.bets, pieces.bets, strict=True):
        assert one.log_best == pytest.approx(other.log_best, abs=1e-9)
        if one.since == other.since:
            assert (one.score, one.information) == pytest.approx((other.score, other.information), abs=1e-9)


@given(STREAM)
@settings(max_examples=30, deadline=None)
def test_the_state_goes_through_json_unchanged(samples: list[tuple[float, bool]]) -> None:
    state = watched(samples, start(0.3))
    assert build(Watch, json.loads(json.dumps(asdict(state), allow_nan=False))) == state


def raised_share(streams: int, n: int, alpha: float, shift: float) -> float:
    return float(np.mean([watch(start(alpha), *stream(n, seed, shift)).raised is not None for seed in range(streams)]))


@pytest.mark.parametrize("shift", [-0.25, 0.0, 0.25])
def test_it_is_seldom_raised_where_the_probabilities_hold_within_the_tolerance(shift: float) -> None:
    streams, alpha = 200, 0.1
    assert raised_share(streams, 1000, alpha, shift) <= binom.ppf(0.999, streams, alpha) / streams


@pytest.mark.slow
@pytest.mark.parametrize("shift", [-0.25, 0.0, 0.25])
def test_its_rate_of_false_alarms_is_below_alpha_in_2000_streams_of_5000(shift: float) -> None:
    assert raised_share(2000, 5000, 0.01, shift) <= 0.01


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
        assert made is not None
        assert made.direction == direction
        assert 1500 < made.raised == state.raised < 4500
        assert made.log_e_value == state.log_highest >= math.log(100)
        found.append(made)
    assert abs(np.median([each.since for each in found]) - 1501) < 100
    assert sum(each.low <= size <= each.high for each in found) >= 4
    assert np.mean([each.size for each in found]) == pytest.approx(size, rel=0.1)


def test_a_late_drift_finds_money_that_is_not_lost_yet() -> None:
    delays = {}
    for onset in (0, 500, 6000):
        delays[onset] = np.median([(watch(start(), *stream(9000, seed, -1.0, onset=onset)).raised or 10**6) - onset for seed in range(8)])
    assert delays[0] < delays[500] < delays[6000] < 3 * delays[0]


def test_a_drift_within_the_tolerance_is_none_and_a_smaller_tolerance_finds_it() -> None:
    p, y = stream(20_000, 3, -0.45)
    assert watch(start(tolerance=0.5), p, y).raised is None
    assert watch(start(tolerance=0.2), p, y).raised is not None


def test_an_error_below_two_points_is_none_however_large_in_log_odds() -> None:
    never = np.zeros(20_000, dtype=np.bool_)
    assert watch(start(), np.full(20_000, 0.015), never).raised is None
    assert watch(start(), np.full(20_000, 0.08), never).raised is not None


def test_after_the_alarm_the_estimate_gets_sharper_and_the_alarm_stays() -> None:
    p, y = stream(6000, 5, -1.0, onset=1000)
    whole = watch(start(), p, y)
    assert whole.raised is not None
    at_once, later = alarm(watch(start(), p[: whole.raised], y[: whole.raised])), alarm(whole)
    assert at_once is not None
    assert later is not None
    assert (at_once.raised, at_once.since) == (later.raised, later.since)
    assert later.high - later.low < 0.5 * (at_once.high - at_once.low)
    healed, fair = stream(20_000, 6)
    after = alarm(watch(whole, healed, fair))
    assert isinstance(after, Alarm)
    assert after.raised == later.raised
    assert after.since <= later.raised


@pytest.mark.parametrize(
    ("p", "y", "reason"),
    [(0.0, True, "between 0 and 1"), (1.0, True, "between"), (math.nan, True, "between"), (0.5, 2, "label"), ([0.5], [1, 0], "shape")],
)
def test_what_is_no_forecast_is_refused(p: float | list[float], y: int | list[int], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        watch(start(), p, y)


def test_a_level_or_a_tolerance_that_is_none_is_refused() -> None:
    for alpha in (0.0, 1.0, math.nan):
        with pytest.raises(ValueError, match="alpha must be between 0 and 1"):
            start(alpha, 0.25)
    for tolerance in (-0.1, math.inf, math.nan):
        with pytest.raises(ValueError, match="the tolerance must be finite and not negative"):
            start(0.01, tolerance)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """c.json, and the samples same.jsonl, of the world that it was fitted to, and lower.jsonl, where less happens."""
    folder = tmp_path_factory.mktemp("drift")
    fitted, _ = world(1500)
    save(fit(fitted, "exact_match", resamples=100).calibrator, folder / "c.json")
    write_samples(folder / "fitted.jsonl", fitted)
    for name, intercept in (("same", 0.5), ("lower", -0.7)):
        made, _ = world(700, intercept=intercept, seed=7)
        write_samples(folder / f"{name}.jsonl", [replace(each, id=f"{name}{each.id}") for each in made])
    return folder


Said = Callable[[], tuple[dict[str, object], str]]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    def read() -> tuple[dict[str, object], str]:
        out, err = capsys.readouterr()
        return json.loads(out) if out else {}, err

    return read


def test_the_command_raises_no_alarm_where_the_calibrator_holds(files: Path, said: Said) -> None:
    assert main(["calibrate", "drift", str(files / "c.json"), str(files / "same.jsonl"), "--json", "--exit-code"]) == 0
    document, text = said()
    assert document["alarm"] is None
    assert document["n"] + sum(document["without_number"].values()) == 700  # type: ignore[operator, attr-defined]
    assert "no alarm" in text


def test_the_command_says_where_the_drift_began_and_what_to_do(files: Path, said: Said) -> None:
    paths = [str(files / "same.jsonl"), str(files / "lower.jsonl")]
    assert main(["calibrate", "drift", str(files / "c.json"), *paths, "--json"]) == 0
    document, text = said()
    found = document["alarm"]
    assert isinstance(found, dict)
    assert found["direction"] == "too_high"
    assert str(found["raised_id"]).startswith("lowers")
    assert 650 < found["since"] < 750
    assert found["low"] < 1.2 < found["high"]
    assert found["rate"] < found["mean_probability"] - 0.1
    assert found["refit"] == f"assay calibrate fit {paths[0]} {paths[1]} --event exact_match --features total_logprob --out FILE"
    assert f"ALARM at sample {found['raised']}, {found['raised_id']}" in text
    assert str(found["refit"]) in text


def test_an_alarm_is_a_result_and_ends_with_1_only_if_that_is_asked_for(files: Path, said: Said) -> None:
    drift = ["calibrate", "drift", str(files / "c.json"), str(files / "lower.jsonl")]
    assert (main(drift), main([*drift, "--exit-code"])) == (0, 1)
    assert main([*drift, "--exit-code", "--tolerance", "2"]) == 0


def test_projects_that_differ_are_no_drift(tmp_path: Path, said: Said) -> None:
    fitted, _ = world(3000, between=0.8)
    calibrator = fit(fitted, "exact_match", resamples=100).calibrator
    save(calibrator, tmp_path / "c.json")
    write_samples(tmp_path / "s.jsonl", fitted)
    assert main(["calibrate", "drift", str(tmp_path / "c.json"), str(tmp_path / "s.jsonl"), "--json"]) == 0
    assert said()[0]["tolerance"] == 2 * calibrator.between_group_sd > 0.5


def test_samples_without_a_label_or_a_number_are_counted(files: Path, tmp_path: Path, said: Said) -> None:
    samples = [sample(0), sample(1, label=None), sample(2, total_logprob=-1e6), sample(3, length=3.0)]
    write_samples(tmp_path / "s.jsonl", samples)
    assert main(["calibrate", "drift", str(files / "c.json"), str(tmp_path / "s.jsonl"), "--json"]) == 0
    document, text = said()
    assert (document["n"], document["without_label"], document["without_number"]) == (1, 1, {"outside": 2})
    assert (
        "left out: 1 without a label, 2 that get no probability, the first is s2: total_logprob is -1e+06, the calibrator has seen" in text
    )


def test_the_samples_that_it_was_fitted_on_are_recognised(files: Path, said: Said) -> None:
    assert main(["calibrate", "drift", str(files / "c.json"), str(files / "fitted.jsonl"), "--json"]) == 0
    document, text = said()
    assert document["fitted_on_these"] is True
    assert "fitted on these very samples" in text


def test_the_first_of_several_alternatives_is_a_first_choice(files: Path, tmp_path: Path) -> None:
    write_samples(tmp_path / "s.jsonl", [replace(sample(number), alternatives=4) for number in range(3)])
    assert main(["calibrate", "drift", str(files / "c.json"), str(tmp_path / "s.jsonl"), "--json"]) == 0


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"model": "f" * 16}, "not ffffffffffffffff as in the sample 's0'"),
        ({"prompt": "f" * 16}, "is for the prompt "),
        ({"task": "block"}, "is for the task line, not block"),
        ({"language": "java"}, "is for the language python, not java"),
        ({"rank": 2, "alternatives": 4}, "is for the number of alternatives 1, not 4"),
        ({"labels": {"kept": True}}, "none of the 1 samples has a label for exact_match"),
        ({"measures": {"length": 3.0}}, "the first is s0: total_logprob is not known"),
    ],
)
def test_samples_that_the_calibrator_is_not_for_are_refused(
    files: Path, tmp_path: Path, said: Said, changed: dict[str, object], reason: str
) -> None:
    made: Sample = replace(sample(0), **changed)
    write_samples(tmp_path / "s.jsonl", [made])
    assert main(["calibrate", "drift", str(files / "c.json"), str(tmp_path / "s.jsonl"), "--json"]) == 2
    document, text = said()
    assert document == {}
    assert reason in text


def test_wrong_usage_ends_with_2(files: Path, tmp_path: Path, said: Said) -> None:
    assert main(["calibrate", "drift", str(files / "c.json"), str(files / "same.jsonl"), "--alpha", "2"]) == 2
    assert "alpha must be between 0 and 1, not 2.0" in said()[1]
    assert main(["calibrate", "drift", str(tmp_path / "none.json"), str(files / "same.jsonl")]) == 2
    assert main(["calibrate", "drift", str(files / "c.json"), str(tmp_path / "none.jsonl")]) == 2
    assert said()[1].count("can't be read") == 2

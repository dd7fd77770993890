from __future__ import annotations

import time

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import t as student  # type: ignore[import-untyped]

from assay.calibration.maps.linear import sigmoid
from assay.calibration.measures import Floats
from assay.calibration.metrics.bins import ece
from assay.calibration.metrics.intervals import intervals, student_t, tail
from assay.calibration.metrics.scores import auc, brier, log_loss, skill


def forecast(
    n: int, groups: int, seed: int, between: float = 0.0, temper: float = 1.0
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.intp]]:
    """Forecasts whose log odds are `temper` times the truth's, but for an offset of each group."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(groups), rng.integers(0, groups, n - groups)])
    z = rng.normal(-0.4, 1.2, n)
    return sigmoid(temper * z), rng.random(n) < sigmoid(z + rng.normal(0, between, groups)[group]), group


def test_values_are_the_metrics_and_the_intervals_are_those_of_plain_resampling() -> None:
    p, y, group = forecast(400, 20, 1, between=0.5)
    p = p.round(1).clip(0.05, 0.95)
    found = intervals(p, y, group, resamples=3000)
    members = [np.flatnonzero(group == g) for g in range(20)]
    rng = np.random.default_rng(7)
    metrics = {"brier": brier, "skill": skill, "log_loss": log_loss, "auc": auc}
    resampled: dict[str, list[float]] = {name: [] for name in metrics}
    for _ in range(1500):
        drawn = np.concatenate([members[g] for g in rng.integers(0, 20, 20)])
        for name, metric in metrics.items():
            resampled[name].append(metric(p[drawn], y[drawn]))
    for name, metric in metrics.items():
        interval = getattr(found, name)
        assert interval.value == pytest.approx(metric(p, y), abs=1e-12)
        low, high = np.quantile(resampled[name], [tail(20), 1 - tail(20)])
        assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.12 * (high - low))


@pytest.mark.parametrize("degrees", [3, 4, 8, 13, 28, 1000])
def test_the_quantile_of_students_t_is_within_1_percent(degrees: int) -> None:
    assert student_t(degrees) == pytest.approx(student.ppf(0.975, degrees), rel=0.01)


@pytest.mark.parametrize(("groups", "share"), [(5, 0.00096), (15, 0.0132), (30, 0.0188), (1000, 0.0249)])
def test_fewer_groups_leave_out_less_at_the_ends(groups: int, share: float) -> None:
    assert tail(groups) == pytest.approx(share, rel=0.03)


def test_the_same_seed_gives_the_same_intervals_and_another_seed_others() -> None:
    p, y, group = forecast(200, 10, 2)
    assert intervals(p, y, group) == intervals(p, y, group)
    assert intervals(p, y, group) != intervals(p, y, group, seed=1)


def test_groups_that_are_alike_inside_make_intervals_wider_than_single_samples_do() -> None:
    p, y, group = forecast(2000, 15, 3, between=0.8)
    grouped, single = intervals(p, y, group).brier, intervals(p, y, np.arange(2000)).brier
    assert grouped.high - grouped.low > 1.5 * (single.high - single.low)


def test_with_one_class_skill_and_auc_are_none() -> None:
    found = intervals(np.full(30, 0.6), np.ones(30, bool), np.arange(30) % 6)
    assert found.skill is None
    assert found.auc is None
    assert found.brier.value == pytest.approx(0.16)


def test_resamples_of_one_class_are_left_out() -> None:
    y = np.array([True, False, False, False])
    found = intervals(np.array([0.9, 0.2, 0.3, 0.1]), y, np.arange(4))
    assert found.auc is not None
    assert (found.auc.low, found.auc.high) == (1.0, 1.0)


def test_one_group_has_no_interval() -> None:
    with pytest.raises(ValueError, match="at least two groups"):
        intervals([0.1, 0.9], [False, True], np.zeros(2, dtype=np.intp))


def test_an_infinite_log_loss_is_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        intervals([0.0, 0.9], [True, True], np.arange(2))


@pytest.mark.parametrize(("groups", "least"), [(6, 0.9), (20, 0.91)])
def test_intervals_of_skill_cover_the_truth_when_projects_differ(groups: int, least: float) -> None:
    """Nominal 95 %. With 2.5 % left out at each end whatever the groups, 86 % with 6."""
    truth = skill(*forecast(400_000, 4000, 10_000, between=0.5)[:2])
    covered = 0
    for seed in range(150):
        found = intervals(*forecast(600, groups, seed, between=0.5), resamples=300).skill
        assert found is not None
        covered += found.low <= truth <= found.high
    assert covered / 150 >= least


@pytest.mark.parametrize(("temper", "least"), [(1.0, 0.95), (1.3, 0.92), (1.8, 0.88)])
def test_the_interval_of_the_calibration_error_covers_the_truth_also_when_there_is_none(temper: float, least: float) -> None:
    """A percentile interval of ECE covers 0 never."""
    z = np.random.default_rng(0).normal(-0.4, 1.2, 200_000)
    order = np.argsort(z)
    gaps = (sigmoid(temper * z) - sigmoid(z))[order].reshape(10, -1).mean(axis=1)
    truth = float(np.sqrt((gaps**2).mean()))
    covered = 0
    for seed in range(60):
        p, y, group = forecast(400, 50, seed, temper=temper)
        found = intervals(p, y, group, resamples=150).calibration_error
        covered += found.low <= truth + 1e-12 and truth <= found.high
    assert covered / 60 >= least


def test_a_calibrated_forecaster_has_no_calibration_error_left_where_its_ece_is_all_noise() -> None:
    debiased = []
    for seed in range(40):
        p, y, group = forecast(500, 50, seed)
        assert ece(p, y) > 0.01
        found = intervals(p, y, group, resamples=200).calibration_error
        debiased.append(found.value)
        assert found.low == 0
    assert np.median(debiased) < 0.02


def test_a_thousand_resamples_of_ten_thousand_samples_take_about_a_second() -> None:
    p, y, group = forecast(10_000, 15, 0)
    began = time.process_time()
    intervals(p, y, group, resamples=1000)
    assert time.process_time() - began < 4

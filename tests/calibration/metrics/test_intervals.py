from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import t as student

from assay.calibration.arrays import Floats, sigmoid
from assay.calibration.metrics.bins import equal_mass
from assay.calibration.metrics.intervals import Interval, intervals, paired, student_t, tail
from assay.calibration.metrics.scores import auc, brier, log_loss, skill
from assay.calibration.metrics.selective import augrc

Bools = NDArray[np.bool_]
Groups = NDArray[np.intp]

METRICS: dict[str, Callable[[Floats, Bools], float]] = {"brier": brier, "skill": skill, "log_loss": log_loss, "auc": auc, "augrc": augrc}


def forecast(
    n: int, groups: int, seed: int, between: float = 0.0, temper: float = 1.0, centre: float = -0.4
) -> tuple[Floats, Bools, Groups]:
    """Forecasts whose log odds are `temper` times the truth's, but for an offset of each group."""
    rng = np.random.default_rng(seed)
    group = np.concatenate([np.arange(groups), rng.integers(0, groups, n - groups)])
    z = rng.normal(centre, 1.2, n)
    return sigmoid(temper * z), rng.random(n) < sigmoid(z + rng.normal(0, between, groups)[group]), group


def defined(interval: Interval | None) -> Interval:
    assert interval is not None
    return interval


def half_width(left_out: list[float]) -> float:
    """Student's t times the standard error of the jackknife, by the book."""
    count = len(left_out)
    mean = math.fsum(left_out) / count
    return student_t(count - 1) * math.sqrt((count - 1) / count * math.fsum((value - mean) ** 2 for value in left_out))


def without_each_group(metric: Callable[[Floats, Bools], float], p: Floats, y: Bools, group: Groups) -> list[float]:
    return [metric(p[group != g], y[group != g]) for g in range(int(group.max()) + 1)]


@pytest.mark.parametrize(("n", "groups"), [(300, 7), (120, 120)])
def test_values_are_the_metrics_and_the_intervals_those_of_leaving_out_each_group_in_turn(n: int, groups: int) -> None:
    p, y, group = forecast(n, groups, 1, between=0.5)
    p = p.round(1).clip(0.05, 0.95)  # with ties
    found = intervals(p, y, group, resamples=2)
    for name, metric in METRICS.items():
        interval = defined(getattr(found, name))
        value, half = metric(p, y), half_width(without_each_group(metric, p, y, group))
        match name:
            case "skill":
                ends = value - half, value + half
            case "auc" | "augrc":
                highest = 1 if name == "auc" else 0.5
                on_logits = half * highest / (value * (highest - value))
                ends = tuple(highest * expit(logit(value / highest) + sign * on_logits) for sign in (-1, 1))
            case _:
                ends = value * math.exp(-half / value), value * math.exp(half / value)
        assert (interval.value, interval.low, interval.high) == pytest.approx((value, *ends), abs=1e-9)


def test_paired_differences_are_those_of_leaving_out_each_group_in_turn() -> None:
    p, y, group = forecast(300, 9, 2, between=0.5, temper=1.6)
    q = sigmoid(0.7 * np.log(p / (1 - p)) + np.random.default_rng(3).normal(0, 0.5, 300))
    found = paired(p, q, y, group)
    for name, metric in METRICS.items():
        if name == "augrc":
            continue
        interval = defined(getattr(found, name))
        value = metric(q, y) - metric(p, y)
        left_out = np.subtract(without_each_group(metric, q, y, group), without_each_group(metric, p, y, group))
        half = half_width(left_out.tolist())
        assert (interval.value, interval.low, interval.high) == pytest.approx((value, value - half, value + half), abs=1e-9)


def debiased_square(p: Floats, y: Bools, group: Groups, bins: Groups) -> float:
    """By the definition: bin by bin, and in each group by group; a group drawn twice is two groups."""
    square = 0.0
    for b in range(int(bins.max()) + 1):
        residual, of = (y - p)[bins == b], group[bins == b]
        n, names = len(residual), np.unique(of)
        if len(names) < 2:
            continue
        delta = residual.mean()
        between = sum(((residual[of == g] - delta).sum() / n) ** 2 for g in names)
        square += n / len(p) * (delta**2 - len(names) / (len(names) - 1) * between)
    return square


def test_the_calibration_error_is_debiased_and_its_interval_that_of_plain_resampling() -> None:
    p, y, group = forecast(400, 20, 4, between=0.5, temper=1.8)
    found = intervals(p, y, group, resamples=60, seed=7).calibration_error
    bins, members = equal_mass(p), [np.flatnonzero(group == g) for g in range(20)]
    resampled = []
    for drawn in np.random.default_rng(7).integers(20, size=(60, 20)):
        chosen = np.concatenate([members[g] for g in drawn])
        copy = np.repeat(np.arange(20), [len(members[g]) for g in drawn])
        resampled.append(debiased_square(p[chosen], y[chosen], copy, bins[chosen]))
    square = debiased_square(p, y, group, bins)
    ends = square + np.quantile(resampled, [tail(20), 1 - tail(20)]) - np.mean(resampled)
    assert (found.value, found.low, found.high) == pytest.approx(np.sqrt(np.maximum(0, [square, *ends])), abs=1e-9)


@pytest.mark.parametrize("degrees", [1, 2, 3, 4, 8, 13, 28, 1000])
def test_the_quantile_of_students_t_is_within_1_percent(degrees: int) -> None:
    assert student_t(degrees) == pytest.approx(student.ppf(0.975, degrees), rel=0.01)


def test_with_one_class_skill_and_auc_are_none() -> None:
    found = intervals(np.full(30, 0.6), np.ones(30, bool), np.arange(30) % 6)
    assert found.skill is None
    assert found.auc is None
    assert found.brier.value == pytest.approx(0.16)
    assert paired(np.full(30, 0.6), np.full(30, 0.7), np.ones(30, bool), np.arange(30) % 6).auc is None


@pytest.mark.parametrize("right", [True, False])
def test_a_perfect_order_of_few_samples_is_not_proof(right: bool) -> None:
    """20 positives and 30 negatives all in order have probability A^20 at least, so an AUC below 0.025^(1 / 20) is refuted, no more."""
    y = np.arange(50) < 20
    p = np.where(y == right, 0.7, 0.3)
    found = defined(intervals(p, y, np.arange(50)).auc)
    least = 0.025 ** (1 / 20)
    expected = Interval(1.0, least, 1.0) if right else Interval(0.0, 0.0, 1 - least)
    assert (found.value, found.low, found.high) == pytest.approx((expected.value, expected.low, expected.high))
    by_project = defined(intervals(p, y, np.arange(50) % 5).auc)
    assert by_project.high - by_project.low == pytest.approx(1 - 0.025 ** (1 / 2))


def test_an_infinite_log_loss_is_refused() -> None:
    with pytest.raises(ValueError, match="infinite"):
        intervals([0.0, 0.9], [True, True], np.arange(2))


def covered(truth: float, interval: Interval | None) -> bool:
    return interval is not None and interval.low <= truth <= interval.high


def test_intervals_cover_the_truth_when_projects_differ() -> None:
    """Nominal 95 %. Percentiles of a bootstrap cover skill in 79 % of worlds with 5 projects (docs/intervals.md)."""
    many = forecast(400_000, 4000, 10_000, between=0.5)
    worlds = [intervals(*forecast(600, 6, seed, between=0.5), resamples=2) for seed in range(400)]
    for name, metric in METRICS.items():
        truth = metric(*many[:2])
        assert np.mean([covered(truth, getattr(found, name)) for found in worlds]) >= 0.915, name


@pytest.mark.parametrize(("temper", "least"), [(1.0, 0.95), (1.8, 0.88)])
def test_the_interval_of_the_calibration_error_covers_the_truth_also_when_there_is_none(temper: float, least: float) -> None:
    """A percentile interval of ECE covers 0 never."""
    z = np.random.default_rng(0).normal(-0.4, 1.2, 200_000)
    order = np.argsort(z)
    gaps = (sigmoid(temper * z) - sigmoid(z))[order].reshape(10, -1).mean(axis=1)
    truth = float(np.sqrt((gaps**2).mean()))
    inside = 0
    for seed in range(60):
        p, y, group = forecast(400, 50, seed, temper=temper)
        found = intervals(p, y, group, resamples=150).calibration_error
        inside += found.low <= truth + 1e-12 and truth <= found.high
    assert inside / 60 >= least


def test_pairs_may_have_labels_of_their_own() -> None:
    p, y, groups = forecast(600, 12, 1)
    q, z, _ = forecast(600, 12, 2)
    found = paired(p, q, y, groups, z)
    assert defined(found.skill).value == pytest.approx(skill(q, z) - skill(p, y))
    half = half_width([skill(q[groups != g], z[groups != g]) - skill(p[groups != g], y[groups != g]) for g in range(12)])
    assert defined(found.skill).high - defined(found.skill).value == pytest.approx(half)
    assert paired(p, q, y, groups, y) == paired(p, q, y, groups)
    with pytest.raises(ValueError, match="600 and 599 forecasts are not pairs"):
        paired(p, q[1:], y, groups, z[1:])

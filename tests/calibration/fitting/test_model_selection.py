from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.calibration.arrays import Floats, sigmoid
from assay.calibration.fitting.folds import folds_of, numbered
from assay.calibration.fitting.model_selection import fit_map, select_map

NAMES = ["total_logprob"]


def world(n: int, seed: int, bend: float = 0.0, groups: int = 30) -> tuple[Floats, NDArray[np.bool_], NDArray[np.intp], Floats]:
    """Log odds x, a label drawn from log odds 0.3 + 0.8 x - bend x⁺, groups, and the truth."""
    rng = np.random.default_rng(seed)
    x = rng.normal(0, 2.5, (n, 1))
    truth = sigmoid(0.3 + 0.8 * x[:, 0] - bend * np.maximum(x[:, 0], 0))
    return x, rng.random(n) < truth, rng.integers(0, groups, n), truth


@pytest.mark.parametrize(("n", "positives"), [(24, 12), (200, 4), (200, 196)])
def test_below_25_samples_or_5_of_a_class_it_is_the_base_rate(n: int, positives: int) -> None:
    choice = select_map(np.arange(float(n))[:, None], np.arange(n) < positives, np.arange(n) % 8, NAMES)
    assert (choice.kind, choice.tried) == ("base_rate", ())


@pytest.mark.slow
def test_where_platt_is_the_truth_it_stays_platt_nearly_always() -> None:
    chosen = [select_map(*world(300, seed)[:3], NAMES).kind for seed in range(40)]
    assert chosen.count("platt") >= 34


def test_where_platt_can_not_bend_a_richer_map_is_taken_and_is_nearer_to_the_truth() -> None:
    for seed in range(5):
        x, y, groups, truth = world(6000, seed, bend=1.4)
        choice = select_map(x, y, groups, NAMES)
        assert choice.kind in ("beta", "isotonic", "venn_abers")
        errors = [
            np.abs(sigmoid(fit_map(c, x, y, NAMES).log_odds(x)) - truth).mean() for c in (choice, select_map(x, y, groups, NAMES, "platt"))
        ]
        assert errors[0] < 0.7 * errors[1]


def test_what_only_tells_groups_apart_wins_nothing() -> None:
    """Each group has a value and a label of its own: with samples held out one by one, steps would know them all."""
    for seed in range(5):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(40), 15)
        x = rng.permutation(40).astype(float)[groups, None] / 5 - 4
        y = (rng.random(40) < 0.4)[groups]
        assert all(candidate.gain <= 0.1 for candidate in select_map(x, y, groups, NAMES).tried)


@pytest.mark.slow
def test_of_several_measures_the_useful_one_is_taken_up_and_the_noise_is_not() -> None:
    names = ["total_logprob", "mean_entropy"]
    kept = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        x, extra = rng.normal(0, 2, 800), rng.normal(0, 1, 800)
        groups = rng.integers(0, 20, 800)
        useful = select_map(np.column_stack([x, extra]), rng.random(800) < sigmoid(0.7 * x + 1.0 * extra), groups, names)
        useless = select_map(np.column_stack([x, extra]), rng.random(800) < sigmoid(0.7 * x), groups, names)
        assert (useful.kind, useful.features) == ("platt", 2)
        kept.append(useless.features)
    assert kept.count(1) >= 8


def test_a_measure_that_speaks_against_the_event_makes_a_falling_map() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(0, 2, (3000, 1))
    y = rng.random(3000) < sigmoid(-x[:, 0])
    for kind in ("isotonic", "venn_abers"):
        made = fit_map(select_map(x, y, np.arange(3000), ["mean_entropy"], kind), x, y, ["mean_entropy"])  # type: ignore[arg-type]
        assert np.abs(sigmoid(made.log_odds(x)) - sigmoid(-x[:, 0])).mean() < 0.03


def test_folds_never_part_a_group_and_are_of_about_equal_size() -> None:
    groups = numbered([f"p{i}" for i in np.random.default_rng(0).integers(0, 40, 2000)])
    fold = folds_of(groups, seed=1)
    assert all(len(set(fold[groups == g].tolist())) == 1 for g in range(40))
    assert np.ptp(np.bincount(fold)) < 60
    assert (folds_of(groups, seed=1) == fold).all()
    assert (folds_of(groups, seed=2) != fold).any()

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from numpy.typing import NDArray
from synthetic_samples import world

from assay.calibration import calibrator
from assay.calibration.arrays import Floats, sigmoid
from assay.calibration.calibrator import load, save
from assay.calibration.confidence import confidence
from assay.calibration.fitting.adaptation import Variation, adapt, variations
from assay.calibration.fitting.fit import FitError, fit
from assay.calibration.maps.beta import BetaMap, fit_beta
from assay.calibration.maps.platt import PlattMap, fit_platt

SLOPE = 0.5


def many_projects(projects: int, each: int, seed: int, sd: float, slope_sd: float = 0.0) -> tuple[Floats, NDArray[np.bool_], list[str]]:
    rng = np.random.default_rng(seed)
    offset, slope = rng.normal(0, sd, projects), SLOPE + rng.normal(0, slope_sd, projects)
    group = np.repeat(np.arange(projects), each)
    x = rng.normal(-1, 2, (len(group), 1))
    return x, rng.random(len(group)) < sigmoid(-0.6 + offset[group] + slope[group] * x[:, 0]), [f"p{g}" for g in group]


def of_one(n: int, seed: int, offset: float, slope: float = SLOPE) -> tuple[Floats, NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    x = rng.normal(-1, 2, (n, 1))
    return x, rng.random(n) < sigmoid(-0.6 + offset + slope * x[:, 0])


def parent_and_projects(sd: float = 0.8, seed: int = 0) -> tuple[PlattMap, Variation]:
    x, y, names = many_projects(25, 300, seed, sd)
    parent = fit_platt(x, y, np.repeat(np.arange(25), 300))
    return parent, variations(parent.log_odds(x), y, [(name,) for name in names])[0]


def test_without_samples_the_map_stays_and_its_error_is_that_of_a_project_that_was_not_seen() -> None:
    parent, projects = parent_and_projects()
    none = adapt(parent, projects, np.zeros((0, 1)), np.zeros(0, dtype=np.bool_))
    assert (none.intercept, *none.slopes) == pytest.approx((parent.intercept, *parent.slopes))
    x = np.array([[-1.0]])
    assert none.standard_error(x)[0] > projects.offset_sd > parent.standard_error(x)[0]


def test_a_moved_map_is_nearer_to_the_truth_than_the_parent_and_than_the_projects_own() -> None:
    parent, projects = parent_and_projects()
    new = np.random.default_rng(9).normal(-1, 2, (400, 1))
    errors = []
    for seed in range(40):
        offset = float(np.random.default_rng(seed).normal(0, 0.8))
        truth = sigmoid(-0.6 + offset + SLOPE * new[:, 0])
        x, y = of_one(20, seed + 100, offset)
        maps = parent, fit_platt(x, y), adapt(parent, projects, x, y)
        errors.append([float(np.abs(sigmoid(each.log_odds(new)) - truth).mean()) for each in maps])
    of_parent, of_own, of_moved = np.mean(errors, axis=0)
    assert of_moved < of_parent
    assert of_moved < of_own


def test_the_stated_error_of_a_moved_map_is_its_true_one() -> None:
    parent, projects = parent_and_projects()
    at = np.array([[-2.0], [0.0], [2.0]])
    z = []
    for seed in range(150):
        offset = float(np.random.default_rng(seed + 7).normal(0, 0.8))
        x, y = of_one(60, seed + 1000, offset)
        found = adapt(parent, projects, x, y)
        z.append((found.log_odds(at) - (-0.6 + offset + SLOPE * at[:, 0])) / found.standard_error(at))
    assert np.mean(np.abs(z) < 1.96) == pytest.approx(0.95, abs=0.04)


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 300), st.integers(0, 2**31), st.floats(-2, 2), st.floats(-1, 2))
def test_a_beta_map_is_moved_no_farther_than_it_rises_and_never_to_a_worse_place(n: int, seed: int, offset: float, slope: float) -> None:
    x, y, names = many_projects(25, 100, 0, 0.8)
    parent = fit_beta(x, y, np.repeat(np.arange(25), 100))
    projects = variations(parent.log_odds(x), y, [(name,) for name in names])[0]
    mine, labels = of_one(n, seed, offset, slope)
    moved = adapt(parent, projects, mine, labels)
    assert isinstance(moved, BetaMap)
    assert not list(moved.problems(1))
    assert log_loss(moved, mine, labels) <= log_loss(parent, mine, labels) + 1e-9
    if n == 0:
        assert (moved.c, moved.a, moved.b) == pytest.approx((parent.c, parent.a, parent.b))


def log_loss(made: BetaMap, x: Floats, y: NDArray[np.bool_]) -> float:
    z = made.log_odds(x)
    return float((np.logaddexp(0.0, z) - np.where(y, z, 0.0)).sum())


def test_a_calibrator_of_several_projects_says_how_they_differ_and_one_of_a_single_project_does_not(tmp_path: Path) -> None:
    samples, _ = world(3000, projects=15, between=0.9)
    found = fit(samples, "exact_match", kind="platt", resamples=50).calibrator
    assert found.projects.n == 15
    assert found.projects.offset_sd == pytest.approx(0.9, abs=0.35)
    save(found, tmp_path / "c.json")
    assert load(tmp_path / "c.json") == found
    single = [structs.replace(s, project="one") for s in samples[:400]]
    assert fit(single, "exact_match", kind="platt", resamples=50).calibrator.projects is None


def test_fitting_toward_a_calibrator_gives_one_that_names_it_and_keeps_its_ranges(tmp_path: Path) -> None:
    parent = fit(world(3000, projects=15, between=0.9)[0], "exact_match", kind="platt", resamples=50).calibrator
    own = [structs.replace(s, project="mine") for s in world(150, projects=1, seed=5, intercept=2.0)[0]]
    made = fit(own, "exact_match", adapt_from=parent, groups="file", resamples=50)
    found = made.calibrator
    assert (found.moved_from.calibrator, found.moved_from.n) == (parent.id, 3000)
    assert found.bound == 1 / (3000 + 150 + 2)
    assert all(low <= a and b <= high for (a, b), (low, high) in zip(parent.ranges, found.ranges, strict=True))
    assert made.held_out.mean() > 0.5  # the parent alone says less: here much more is right than elsewhere
    save(found, tmp_path / "own.json")
    assert load(tmp_path / "own.json") == found
    if found.status == "informative":
        assert confidence(found, own[0].measures).probability is not None


def test_a_skill_that_few_samples_do_not_show_is_insufficient_and_one_that_they_refute_is_none() -> None:
    samples, _ = world(3000, projects=15)
    parent = fit(samples, "exact_match", kind="platt", resamples=50).calibrator

    def status(n: int, seed: int, slope: float) -> str:
        own, _ = world(n, projects=1, seed=seed, slope=slope)
        return fit(own, "exact_match", adapt_from=parent, groups="file", resamples=50).calibrator.status

    assert {status(30, seed, 0.25) for seed in range(6)} == {"insufficient"}
    assert status(500, 1, -0.5) == "uninformative"


def test_what_cannot_be_moved_is_refused_with_the_reason() -> None:
    samples, _ = world(1500, projects=12)
    parent = fit(samples, "exact_match", kind="platt", resamples=50).calibrator
    own, _ = world(60, projects=1, seed=1)
    isotonic = fit(samples, "exact_match", kind="isotonic", resamples=50).calibrator
    for wrong, samples_of_it, word in (
        (isotonic, own, "isotonic"),
        (replace(parent, projects=None), own, "how projects differ"),
        (parent, [structs.replace(s, task="block") for s in own], "task"),
        (parent, [structs.replace(s, model="f" * 16) for s in own], "model"),
    ):
        with pytest.raises(FitError, match=word):
            fit(samples_of_it, "exact_match", adapt_from=wrong, resamples=50)


SHIPPED = [path for path in (Path(calibrator.__file__).parent / "shipped").glob("*.json") if "alternatives" not in path.name]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_each_shipped_map_for_first_choices_can_be_moved_toward_a_project(path: Path) -> None:
    made = calibrator.load(path)
    assert made.map.kind in {"platt", "beta"}
    assert made.status == ("borrowed" if made.fitted_on.models else "informative")
    assert made.projects is not None

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from numpy.typing import NDArray
from synthetic_samples import world

from assay.calibration.arrays import Floats, sigmoid
from assay.calibration.calibrator import load, save
from assay.calibration.confidence import confidence
from assay.calibration.fitting.fit import FitError, fit
from assay.calibration.fitting.shrinkage import fit_tree, log_odds_of
from assay.calibration.maps.platt import fit_platt
from assay.calibration.measures.registry import enter


def groups_world(
    each: int, seed: int, groups: int = 12, sd: float = 0.6, slope_sd: float = 0.12
) -> tuple[Floats, NDArray[np.bool_], NDArray[np.intp], Floats]:
    """Features, labels, groups and (groups, 2) true intercepts and slopes."""
    rng = np.random.default_rng(seed)
    theta = np.column_stack([-0.6 + rng.normal(0, sd, groups), 0.5 + rng.normal(0, slope_sd, groups)])
    group = np.repeat(np.arange(groups), each)
    x = rng.normal(0, 2, (groups * each, 1))
    return x, rng.random(len(x)) < sigmoid(theta[group, 0] + theta[group, 1] * x[:, 0]), group, theta


def errors(each: int, seed: int, **world: float) -> tuple[float, float, float]:
    """Mean |q - p| of one map for all, of one for each group, and shrunk."""
    x, y, group, theta = groups_world(each, seed, **world)  # type: ignore[arg-type]
    new = np.random.default_rng(seed + 1000).normal(0, 2, (500, 1))
    pooled, tree = fit_platt(x, y), fit_tree(x, y, [(f"p{g}",) for g in group])
    found = []
    for g in range(len(theta)):
        truth = sigmoid(theta[g, 0] + theta[g, 1] * new[:, 0])
        own = fit_platt(x[group == g], y[group == g])
        maps = (pooled.log_odds(new), own.log_odds(new), log_odds_of(tree, new, [(f"p{g}",)] * 500))
        found.append([np.abs(sigmoid(z) - truth).mean() for z in maps])
    pooled_error, own_error, shrunk_error = np.mean(found, axis=0)
    return pooled_error, own_error, shrunk_error


@pytest.mark.slow
@pytest.mark.parametrize("each", [10, 100])
def test_shrunk_maps_are_at_least_as_good_as_pooled_and_as_separate_ones_at_every_n(each: int) -> None:
    pooled, own, shrunk = np.mean([errors(each, seed) for seed in range(8)], axis=0)
    assert shrunk < pooled
    assert shrunk < own


def test_the_spread_between_groups_is_found() -> None:
    found = [fit_tree(*(w := groups_world(300, seed, groups=20))[:2], [(f"p{g}",) for g in w[2]]).between[0] for seed in range(10)]
    intercept, slope = np.sqrt(np.mean(np.square(found), axis=0))
    assert intercept == pytest.approx(0.6, abs=0.1)
    assert slope == pytest.approx(0.12 * 2, abs=0.08)  # per spread of the feature


def test_a_group_of_very_many_samples_has_its_own_map_and_one_of_none_has_the_parents() -> None:
    x, y, group, _ = groups_world(4000, 3, groups=5)
    tree = fit_tree(x, y, [(f"p{g}",) for g in group])
    for child, g in zip(tree.children, range(5), strict=True):
        own = fit_platt(x[group == g], y[group == g])
        assert (child.intercept, child.slopes[0]) == pytest.approx((own.intercept, own.slopes[0]), abs=0.02)
    assert log_odds_of(tree, x[:3], [("new",)] * 3).tolist() == tree.root.log_odds(x[:3]).tolist()


def test_levels_are_nested_and_a_user_without_samples_has_the_projects_map() -> None:
    rng = np.random.default_rng(0)
    n = 6000
    language, project, user = rng.integers(0, 4, n), rng.integers(0, 5, n), rng.integers(0, 3, n)
    paths = [(f"l{a}", f"l{a}p{b}", f"u{c}") for a, b, c in zip(language, project, user, strict=True)]
    of_language, of_project = rng.normal(0, 0.8, 4), rng.normal(0, 0.5, (4, 5))
    x = rng.normal(0, 2, (n, 1))
    y = rng.random(n) < sigmoid(of_language[language] + of_project[language, project] + 0.6 * x[:, 0])
    tree = fit_tree(x, y, paths)
    assert [len([c for c in tree.children if len(c.path) == depth]) for depth in (1, 2, 3)] == [4, 20, 60]
    known = {child.path: child for child in tree.children}
    found = np.array([known[f"l{a}", f"l{a}p{b}"].intercept for a in range(4) for b in range(5)])
    assert np.abs(found - (of_language[:, None] + of_project).ravel()).mean() < 0.15
    assert tree.between[1][0] == pytest.approx(0.5, abs=0.25)
    assert tree.between[2][0] < 0.2
    path = ("l0", "l0p0", "nobody")
    assert log_odds_of(tree, x[:2], [path] * 2).tolist() == known["l0", "l0p0"].as_map().log_odds(x[:2]).tolist()


@pytest.mark.slow
def test_a_calibrator_with_levels_gives_each_project_its_own_number_and_survives_its_file(tmp_path: Path) -> None:
    samples, _ = world(6000, projects=30, between=1.0, seed=4)
    made = fit(samples, "exact_match", levels=["project"], resamples=50)
    found = made.calibrator
    assert found.levels == ("project",)
    assert len(found.children) == 30
    assert any("levels: log loss lower by" in note for note in made.notes)
    measures = {"total_logprob": -1.0}
    numbers = {project: confidence(found, measures, {"project": project}) for project in ("p0", "p1", "p2", "elsewhere")}
    assert len({c.probability for c in numbers.values()}) == 4
    assert numbers["elsewhere"] == confidence(found, measures)
    new, seen = numbers["elsewhere"], numbers["p0"]
    assert seen.high - seen.low < 0.5 * (new.high - new.low)
    save(found, tmp_path / "c.json")
    assert load(tmp_path / "c.json") == found


@pytest.mark.slow
def test_levels_that_bring_nothing_are_left_out_and_it_is_said() -> None:
    samples, _ = world(1500, projects=8, between=0.0)
    made = fit(samples, "exact_match", levels=["project"], resamples=50)
    assert made.calibrator.levels == ()
    assert made.calibrator.children == ()
    assert any("levels are left out" in note for note in made.notes)
    few, _ = world(200, projects=8, between=2.0)
    made = fit([structs.replace(s, labels={"exact_match": True}) for s in few], "exact_match", levels=["project"], resamples=20)
    assert made.calibrator.levels == ()
    assert "levels are left out: there are too few samples" in made.notes


@pytest.mark.slow
def test_whether_there_are_levels_is_held_out_too() -> None:
    """Only p0 speaks for levels, so that the maps that it is judged by have none."""
    samples, _ = world(1500, projects=8, between=0.0, seed=1)
    samples = [structs.replace(s, labels={"exact_match": i % 20 > 0}) if s.project == "p0" else s for i, s in enumerate(samples)]
    made = fit(samples, "exact_match", levels=["project"], resamples=20)
    assert made.calibrator.levels == ("project",)
    of_p0 = made.fold == made.fold[[s.project for s in samples].index("p0")]
    x = enter("total_logprob", [s.measures["total_logprob"] for s in samples])[:, None]
    alone = sigmoid(fit_platt(x[~of_p0], made.labels[~of_p0]).log_odds(x[of_p0]))
    bound = 1 / ((~of_p0).sum() + 2)
    assert made.held_out[of_p0] == pytest.approx(alone.clip(bound, 1 - bound), abs=1e-12)


def test_samples_without_the_name_that_a_level_goes_by_are_refused() -> None:
    samples, _ = world(100)
    with pytest.raises(FitError, match="100 of 100 samples have no user, the first is s0; leave that level out"):
        fit(samples, "exact_match", levels=["project", "user"])


@pytest.mark.parametrize(
    ("levels", "kind", "reason"),
    [
        (["team"], "auto", "unknown level team"),
        (["project", "language"], "auto", "from the top"),
        (["project"], "beta", "only a platt map"),
    ],
)
def test_levels_that_can_not_be_are_refused(levels: list[str], kind: str, reason: str) -> None:
    with pytest.raises(FitError, match=reason):
        fit(world(100)[0], "exact_match", levels=levels, kind=kind)  # type: ignore[arg-type]


def test_a_group_that_is_right_throughout_has_a_high_but_finite_map_and_spoils_no_other() -> None:
    x, y, group, _ = groups_world(150, 1)
    last = np.flatnonzero(group == 11)[:20]
    kept = np.concatenate([np.flatnonzero(group < 11), last])
    x, y, group = x[kept], np.where(group[kept] == 11, True, y[kept]), group[kept]
    paths = [(f"p{g}",) for g in group]
    tree, without = fit_tree(x, y, paths), fit_tree(x[group < 11], y[group < 11], [p for p in paths if p != ("p11",)])
    maps = {child.path: child for child in tree.children}
    ones = sigmoid(maps["p11",].as_map().log_odds(x[group == 11]))
    assert np.isfinite(ones).all()
    assert ones.mean() > 0.7
    for child in without.children:
        assert maps[child.path].intercept == pytest.approx(child.intercept, abs=0.25)

"""A project's own calibrator: what its samples can't tell gives way to what other projects told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from synthetic_samples import sample, world

from assay.calibration.calibrator import Calibrator
from assay.calibration.fitting.fit import FitError, fit
from assay.calibration.fitting.project_fit import find_parent, fit_project
from assay.calibration.maps.platt import PlattMap
from assay.calibration.registry import Entry, Origin, folders, registry_of
from assay.calibration.samples import Sample


@pytest.fixture(scope="module")
def parent() -> Calibrator:
    return fit(world(1500, projects=12)[0], "exact_match", kind="platt", resamples=50).calibrator


def mine(n: int = 60, **changes: float) -> list[Sample]:
    return world(n, projects=1, **{"seed": 1, **changes})[0]  # type: ignore[arg-type]


def rare(n: int, projects: int, seed: int) -> list[Sample]:
    """A few that are often right among many that hardly ever are: skill, but all probabilities save those few are alike."""
    rng = np.random.default_rng(seed)
    sure = rng.random(n) < 0.03
    right = rng.random(n) < np.where(sure, 0.4, 0.01)
    return [
        sample(i, label=bool(right[i]), project=f"p{i % projects}", file=f"f{i % 7}.py", total_logprob=-0.05 if sure[i] else -5.0)
        for i in range(n)
    ]


def test_a_skill_that_cannot_be_computed_without_one_file_is_insufficient(parent: Calibrator) -> None:
    samples = [structs.replace(s, labels={"exact_match": s.file == "f0.py"}) for s in mine()]
    found = fit_project(samples, "exact_match", parent, resamples=50).fit.calibrator
    assert found.evidence.skill is None
    assert (found.status, found.reason.split(":")[0]) == (
        "insufficient",
        "too few samples of the project to tell whether the map has skill here",
    )


@pytest.mark.parametrize("moved", [True, False])
def test_a_skill_that_samples_leave_open_is_insufficient(parent: Calibrator, moved: bool) -> None:
    found = fit_project(mine(slope=0.15), "exact_match", parent if moved else None, resamples=50).fit.calibrator
    assert found.evidence.skill.low <= 0 < found.evidence.skill.high
    assert found.status == "insufficient"


def test_a_skill_that_samples_refute_is_none_also_of_a_map_of_their_own() -> None:
    # what is learnt from some files misleads in the others
    samples = [structs.replace(s, labels={"exact_match": int(s.file[1]) % 2 == 0}) for s in mine(900)]
    found = fit_project(samples, "exact_match", None, resamples=50).fit.calibrator
    assert found.evidence.skill.high < 0
    assert found.status == "uninformative"


def test_a_moved_map_that_has_skill_and_collapses_is_not_said_to_have_too_few_samples() -> None:
    parent = fit(rare(4000, 12, 0), "exact_match", kind="platt", resamples=50).calibrator
    found = fit(rare(4000, 1, 1), "exact_match", adapt_from=parent, groups="file", resamples=50).calibrator
    assert found.evidence.skill.low > 0
    assert found.status == "uninformative"
    assert found.reason.startswith("the probabilities collapse")


def entry(made: Calibrator, origin: Origin = "user") -> Entry:
    return Entry(origin, Path(f"/calibrators/{origin}/mine.json"), made)


def of_another_language(parent: Calibrator) -> Calibrator:
    return replace(parent, fitted_on=replace(parent.fitted_on, languages=("javascript", "typescript")))


def with_a_reflective_measure(parent: Calibrator) -> Calibrator:
    wider = PlattMap("platt", 0.0, (0.7, 0.1), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), 0.0)
    return replace(parent, features=("total_logprob", "ask_true"), ranges=((-99.0, 0.0), (-99.0, 0.0)), map=wider)


@pytest.mark.parametrize(
    ("unfit", "why"),
    [
        (of_another_language, "is for the language javascript, typescript, the samples are of python"),
        (with_a_reflective_measure, "needs ask_true, which none of the samples has"),
    ],
)
def test_where_samples_cannot_move_one_the_next_is_tried(parent: Calibrator, unfit: Callable[[Calibrator], Calibrator], why: str) -> None:
    wrong = unfit(parent)
    shipped = entry(replace(parent, event="exact_match"), "shipped")
    assert find_parent(registry_of([entry(wrong), shipped], []), mine(), "exact_match") == (parent, "")
    assert find_parent(registry_of([entry(wrong)], []), mine(), "exact_match") == (None, f"calibrator {wrong.id} {why}")
    with pytest.raises(FitError, match=why):
        fit(mine(), "exact_match", adapt_from=wrong, resamples=20)


def test_a_calibrator_of_other_projects_in_the_projects_own_folder_is_passed_over(parent: Calibrator) -> None:
    none, why = find_parent(registry_of([entry(parent, "project")], []), mine(), "exact_match")
    assert none is None
    assert why == f"/calibrators/project/mine.json is this project's own: one of other projects belongs in {dict(folders())['user']}"


def test_a_sample_without_log_probabilities_is_left_out_and_takes_nothing_from_the_others(parent: Calibrator) -> None:
    samples = mine(120)
    lacking = [structs.replace(s, measures={"length": 9.0}) if i in (3, 70) else s for i, s in enumerate(samples)]
    found = fit_project(lacking, "exact_match", parent, resamples=50)
    assert found.fit.calibrator.features == ("total_logprob",)
    assert found.fit.calibrator.fitted_on.n == 118
    assert found.fit.notes[0] == "2 of 120 samples lack total_logprob and were left out"

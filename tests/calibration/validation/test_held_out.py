from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import replace as changed
from synthetic_samples import world

from assay.calibration.calibrator import Parent
from assay.calibration.confidence import confidence
from assay.calibration.fitting.fit import Fit, fit
from assay.calibration.samples import Sample
from assay.calibration.validation.held_out import CrossFitted, NotHeldOut, held_out, shown

FEATURES = ("total_logprob", "length")


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    return world(700, projects=11, between=0.3)[0]


@pytest.fixture(scope="module", params=["auto", "beta"])
def made(request: pytest.FixtureRequest, samples: list[Sample]) -> Fit:
    kind: str = request.param
    return fit(samples, "exact_match", FEATURES[:1] if kind == "beta" else FEATURES, kind=kind, resamples=2)


def test_of_its_own_samples_the_probabilities_are_those_of_the_calibrators_evidence(made: Fit, samples: list[Sample]) -> None:
    calibrator = made.calibrator
    p = held_out(calibrator, samples)(samples, "exact_match", calibrator.features)
    assert np.array_equal(p, made.held_out)


def test_of_other_samples_they_are_what_the_user_would_see(made: Fit) -> None:
    calibrator = made.calibrator
    others = [*world(200, seed=5)[0], changed(world(1)[0][0], id="no measure", measures={}), changed(world(1)[0][0], id="far", measures={})]
    p = held_out(calibrator, others)(others, "exact_match", calibrator.features)
    for sample, said in zip(others, p, strict=True):
        seen = confidence(replace(calibrator, status="informative"), sample.measures).probability
        assert np.isnan(said) if seen is None else said == pytest.approx(seen)


@pytest.mark.slow
def test_another_input_of_a_project_is_judged_by_the_map_that_did_not_see_the_project(samples: list[Sample]) -> None:
    source = CrossFitted(tuple(samples), "project")
    there = [changed(sample, id=f"arm {sample.id}") for sample in samples]
    assert np.array_equal(source(there, "exact_match", FEATURES), source(samples, "exact_match", FEATURES))
    flipped = [changed(s, labels={"exact_match": not s.labels["exact_match"]}) if s.project == "p0" else s for s in samples]
    of_project = [sample for sample in samples if sample.project == "p0"]
    fold_of_p0 = CrossFitted(tuple(flipped), "project")(of_project, "exact_match", FEATURES)
    assert np.array_equal(fold_of_p0, source(of_project, "exact_match", FEATURES))


def again(samples: list[Sample], **fields: object) -> list[Sample]:
    return [changed(sample, id=f"again {sample.id}", **fields) for sample in samples]


def test_with_folds_own_samples_and_more_of_the_same_projects_have_the_same_numbers(made: Fit, samples: list[Sample]) -> None:
    calibrator = made.calibrator
    source = held_out(calibrator, again(samples), made.kept_folds())
    for judged in (samples, again(samples)):
        assert np.array_equal(source(judged, "exact_match", calibrator.features), made.held_out)
    assert source.how == "cross-validation: each project by the kept map that did not see it"
    assert not source.validates


def test_with_folds_a_project_that_was_not_seen_has_the_calibrators_own_map_and_that_is_told(made: Fit, samples: list[Sample]) -> None:
    more = [*again(samples[:60], project="new"), *samples[60:100]]
    source = held_out(made.calibrator, more, made.kept_folds())
    assert source(more[:60], "exact_match", made.calibrator.features) == pytest.approx(shown(made.calibrator, more[:60]))
    assert "60 of 100 samples by the map itself, which saw none of their projects" in source.how


@pytest.mark.slow
def test_a_project_with_a_map_of_its_own_is_not_judged_by_it() -> None:
    several, _ = world(500, projects=5, between=2.0)
    found = fit(several, "exact_match", levels=("project",), resamples=2)
    assert found.calibrator.children
    with pytest.raises(NotHeldOut, match=r"a map of its own for the project p\d, .* --keep-folds"):
        held_out(found.calibrator, again(several))
    assert held_out(found.calibrator, again(several, project="new")).how.startswith("other samples")
    p = held_out(found.calibrator, again(several), found.kept_folds())(again(several), "exact_match", found.calibrator.features)
    assert np.array_equal(p, found.held_out)


def test_what_can_not_be_held_out_is_refused_with_what_to_do(samples: list[Sample]) -> None:
    calibrator = replace(fit(samples, "exact_match", resamples=2).calibrator, moved_from=Parent("0" * 16, 10))
    with pytest.raises(NotHeldOut, match="adapted from another one: validate it on other samples"):
        held_out(calibrator, samples)
    alone = [changed(sample, project="one") for sample in samples]
    with pytest.raises(NotHeldOut, match="of one project, so none can be held out"):
        CrossFitted(tuple(alone), "project")(alone, "exact_match", FEATURES)
    with pytest.raises(NotHeldOut, match=re.escape("only 0 samples have a label for tests_pass")):
        CrossFitted(tuple(samples), "project")(samples, "tests_pass", FEATURES)

"""K1 to K8: in worlds with known truth, and of samples."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import replace as changed
from synthetic_samples import world as samples_of_world
from validation_worlds import figures_of, most, world

from assay.calibration.calibrator import Calibrator
from assay.calibration.fitting.fit import fit
from assay.calibration.samples import Sample
from assay.calibration.validation.calibration_study import Judged, figures, transfer, whole
from assay.calibration.validation.figures import Figure
from assay.calibration.validation.held_out import held_out
from assay.calibration.validation.inputs import Inputs

WORLDS = [pytest.param(30, id="few"), pytest.param(200, id="many", marks=pytest.mark.slow)]


def readings(worlds: int, *, shuffled: bool) -> dict[str, Counter[str]]:
    """How often each figure had each reading."""
    counts: dict[str, Counter[str]] = {}
    for seed in range(worlds):
        found = world(seed)
        for figure in figures_of(found.shuffled(np.random.default_rng(seed)) if shuffled else found):
            counts.setdefault(figure.id, Counter())[figure.reading] += 1
    return counts


@pytest.mark.parametrize("worlds", WORLDS)
def test_what_is_true_is_refuted_in_at_most_one_world_of_twenty(worlds: int) -> None:
    counts = readings(worlds, shuffled=False)
    assert {id: found["refuted"] for id, found in counts.items() if found["refuted"] > most(worlds)} == {}
    assert min(counts[id]["holds"] for id in ("K1", "K3", "K6", "K8")) > worlds / 2


@pytest.mark.parametrize("worlds", WORLDS)
def test_of_labels_that_have_nothing_to_do_with_the_probabilities_nothing_holds(worlds: int) -> None:
    counts = readings(worlds, shuffled=True)
    assert {id: found["holds"] for id, found in counts.items() if found["holds"] > most(worlds)} == {}
    assert counts["K1"]["refuted"] > worlds / 2


@pytest.mark.slow
def test_nothing_holds_of_a_map_that_was_fitted_to_shuffled_labels() -> None:
    """It says the base rate everywhere, so that its calibration error and its offset are nearly 0."""
    held: Counter[str] = Counter()
    for seed in range(50):
        samples, _ = samples_of_world(400, projects=15, seed=seed)
        labels = np.random.default_rng(seed).permutation([sample.labels["exact_match"] for sample in samples])
        shuffled = [changed(sample, labels={"exact_match": bool(label)}) for sample, label in zip(samples, labels, strict=True)]
        calibrator = fit(shuffled, "exact_match", kind="platt", resamples=2).calibrator
        found = figures(calibrator, Inputs(shuffled, {"no_suffix": shuffled}), held_out(calibrator, shuffled))
        held.update(figure.id for figure in found if figure.reading == "holds")
    assert {id: count for id, count in held.items() if count > most(50)} == {}


def test_overconfident_probabilities_are_refuted_by_their_calibration_error() -> None:
    found = world(0, 3000)
    _, k2, k3 = whole(replace(found.plain, p=found.raw))
    assert (k2.reading, k3.reading) == ("refuted", "holds")
    assert "refutes calibration" in k2.note


def test_probabilities_that_are_nearly_one_number_are_a_collapse() -> None:
    found = world(0).plain
    k3 = whole(replace(found, p=0.4 + 0.01 * found.p))[2]
    assert (k3.claim, k3.reading) == ("> 0.02", "refuted")


def test_of_fewer_than_five_groups_everything_is_undecided() -> None:
    found = world(0).plain
    few = Judged(found.p, found.y, found.groups % 4)
    alone = Judged(found.p, found.y, found.groups * 0)
    for judged in (few, alone):
        assert {figure.reading for figure in (*whole(judged), transfer(judged, 0.0, 20))} == {"undecided"}


def test_projects_that_differ_more_than_the_calibrator_says_are_told() -> None:
    rng = np.random.default_rng(0)
    p, groups = np.full(4000, 0.4), np.arange(4000) % 20
    y = rng.random(4000) < (p + rng.choice([-0.2, 0.2], 20)[groups])
    assert transfer(Judged(p, y, groups), 0.0, 20).reading == "refuted"
    assert transfer(Judged(p, y, groups), 1.0, 20).reading == "holds"


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    """Of two events, with two reflective measures of which one tells something."""
    made, _ = samples_of_world(900, projects=12, seed=3)
    rng = np.random.default_rng(0)
    return [
        changed(
            sample,
            labels={
                "exact_match": bool(sample.labels["exact_match"]),
                "tests_pass": bool(sample.labels["exact_match"] or rng.random() < 0.2),
            },
            measures={**sample.measures, "ask_true_normalised": float(2 * bool(sample.labels["exact_match"]) + rng.normal(0, 2))},
        )
        for sample in made
    ]


@pytest.fixture(scope="module")
def calibrator(samples: list[Sample]) -> Calibrator:
    return fit(samples, "exact_match", resamples=50).calibrator


def by_id(found: tuple[Figure, ...]) -> dict[str, Figure]:
    return {figure.id: figure for figure in found}


@pytest.mark.slow
def test_every_figure_of_samples_that_have_all_there_is_is_run(calibrator: Calibrator, samples: list[Sample]) -> None:
    arms = {"no_docstring": samples[:600], "no_suffix": samples[300:]}
    found = by_id(figures(calibrator, Inputs(samples, arms), held_out(calibrator, samples)))
    assert list(found) == ["K1", "K2", "K3", "K4", "K5", "K5.mixed", "K6", "K7.no_docstring", "K7.no_suffix", "K8"]
    assert "not run" not in {figure.reading for figure in found.values()}
    skill = calibrator.evidence.skill
    assert (found["K1"].value, found["K1"].low, found["K1"].high) == (skill.value, skill.low, skill.high)
    assert found["K8"].reading == "reported", "cross-validation claims nothing"
    assert (found["K7.no_suffix"].value, found["K7.no_suffix"].n) == (0, 600)
    assert found["K5.mixed"].high < 0


def test_what_the_samples_do_not_have_is_not_run_and_why_is_said(calibrator: Calibrator, samples: list[Sample]) -> None:
    bare = [
        changed(sample, measures={"total_logprob": sample.measures["total_logprob"]}, labels={"exact_match": True}) for sample in samples
    ]
    bare = [changed(bare[0], labels={"exact_match": False}), *bare[1:]]
    found = by_id(figures(calibrator, Inputs(bare), held_out(calibrator, bare)))
    told = {id: figure.note for id, figure in found.items() if figure.reading == "not run"}
    assert told == {
        "K5": "no sample has labels for both exact_match and tests_pass",
        "K7.no_docstring": "there are no samples without the docstring",
        "K7.no_suffix": "there are no samples without the text after the cursor",
        "K8": "the samples have no measures for which the model was asked again",
    }


@pytest.mark.slow
def test_places_are_paired_by_the_id_of_their_samples(calibrator: Calibrator, samples: list[Sample]) -> None:
    shifted = [changed(sample, measures={**sample.measures, "total_logprob": sample.measures["total_logprob"] - 1.5}) for sample in samples]
    strangers = [changed(sample, id=f"other {sample.id}") for sample in samples]
    arms = {"no_suffix": [*strangers, *reversed(shifted)], "no_docstring": strangers}
    found = by_id(figures(calibrator, Inputs(samples, arms), held_out(calibrator, samples)))
    assert (found["K7.no_suffix"].n, found["K7.no_suffix"].reading) == (len(samples), "reported")
    assert found["K7.no_docstring"].note == "no sample without the docstring has the id of a plain one, a label and a number"

"""F1 to F9: in worlds with known truth, and of samples."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from counterfeit_worlds import figures_of, of_repairs, world
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace as changed
from synthetic_samples import world as samples_of_world
from validation_worlds import most

from assay.calibration.calibrator import Calibrator
from assay.calibration.fitting.fit import fit
from assay.calibration.samples import Sample
from assay.calibration.validation.counterfeit_facts import Fact
from assay.calibration.validation.counterfeit_study import excess_on_failures, figures, within_places
from assay.calibration.validation.figures import Figure
from assay.calibration.validation.held_out import held_out
from assay.calibration.validation.inputs import Inputs

WORLDS = [pytest.param(30, id="few"), pytest.param(200, id="many", marks=pytest.mark.slow)]


def readings(worlds: int, shuffled: Literal["not", "within places", "overall"]) -> dict[str, Counter[str]]:
    """How often each figure had each reading."""
    counts: dict[str, Counter[str]] = {}
    for seed in range(worlds):
        found = world(seed)
        if shuffled != "not":
            found = found.shuffled(np.random.default_rng(seed), within=shuffled == "within places")
        for each in figures_of(found):
            counts.setdefault(each.id, Counter())[each.reading] += 1
    return counts


@pytest.mark.parametrize("worlds", WORLDS)
def test_of_exact_probabilities_what_is_true_is_refuted_in_at_most_one_world_of_twenty(worlds: int) -> None:
    counts = readings(worlds, "not")
    # that failures which parse are no likelier to be right is not true here: the probability does not know what parses
    true = {id: found for id, found in counts.items() if id != "F4.offset"}
    assert {id: found["refuted"] for id, found in true.items() if found["refuted"] > most(worlds)} == {}
    assert min(counts[id]["holds"] for id in ("F1", "F2", "F3.counterfeit", "F4")) > worlds / 2


@pytest.mark.parametrize("worlds", WORLDS)
@pytest.mark.parametrize("shuffled", ["within places", "overall"])
def test_of_outcomes_dealt_anew_nothing_holds(worlds: int, shuffled: Literal["within places", "overall"]) -> None:
    counts = readings(worlds, shuffled)
    if shuffled == "within places":
        del counts["F3.counterfeit"]  # between places the probabilities still tell right from wrong
    assert {id: found["holds"] for id, found in counts.items() if found["holds"] > most(worlds)} == {}
    assert counts["F1"]["refuted"] > worlds / 2


@given(st.integers(0, 1000))
def test_a_probability_that_only_knows_the_places_gets_exactly_one_half(seed: int) -> None:
    found = world(seed, places=30, groups=6)
    same = replace(found.texts, p=np.linspace(0.1, 0.9, 30)[found.places])
    assert within_places(same, found.places).value == 0.5


def test_numbers_that_are_too_high_on_failures_are_refuted() -> None:
    texts = world(0, places=1000).texts
    found = excess_on_failures(replace(texts, p=np.where(texts.right, texts.p, np.minimum(texts.p + 0.2, 1))))
    assert 0.05 < found.value < 0.2
    assert found.reading == "refuted"
    assert "mean p: right 0." in found.note


@pytest.mark.parametrize(("gain", "reading"), [(0.2, "holds"), (-0.2, "refuted"), (0.0, "undecided")])
def test_repair_pays_where_more_repairs_pass_than_draws(gain: float, reading: str) -> None:
    found = of_repairs(1, gain)
    assert found.reading == reading
    assert "repair wins at " in found.note


@pytest.fixture(scope="module")
def samples() -> list[Sample]:
    """Shown suggestions, labelled by tests, with what the model says when asked."""
    rng = np.random.default_rng(0)
    made, _ = samples_of_world(400, projects=10, seed=3)
    return [
        changed(
            sample,
            labels={"exact_match": None, "tests_pass": sample.labels["exact_match"]},
            measures={**sample.measures, "ask_true_normalised": float(rng.normal() + bool(sample.labels["exact_match"]))},
        )
        for sample in made
    ]


@pytest.fixture(scope="module")
def calibrator(samples: list[Sample]) -> Calibrator:
    return fit(samples, "tests_pass", resamples=50).calibrator


def fact_of(sample: Sample, number: int, gap: str) -> Fact:
    kind: Literal["right", "counterfeit", "other"] = "right" if sample.labels["tests_pass"] else "counterfeit" if number % 3 else "other"
    return Fact(
        id=sample.id,
        gap=gap,
        project=sample.project,
        task="line",
        classes={"kept": kind},
        parses=kind != "other" or number % 2 > 0,
        pass_rate=0.3,
        repair_rate=0.4 if number % 5 == 0 else None,
    )


def inputs_of(samples: list[Sample]) -> Inputs:
    drawn = [
        changed(sample, id=f"{sample.id}:{i}", prompt="e" * 16, text_sha256=sample.text_sha256[:-1] + str(i % 4))
        for sample in samples[:100]
        for i in range(5)
    ]
    facts = [fact_of(sample, number, sample.id) for number, sample in enumerate(samples)]
    facts += [fact_of(sample, number, f"gap {number // 10}") for number, sample in enumerate(drawn)]
    return Inputs(samples, {"t0.6": drawn}, {fact.id: fact for fact in facts})


def by_id(found: tuple[Figure, ...]) -> dict[str, Figure]:
    return {figure.id: figure for figure in found}


@pytest.mark.slow
def test_every_figure_of_samples_with_all_there_is_is_run(calibrator: Calibrator, samples: list[Sample]) -> None:
    found = by_id(figures(calibrator, inputs_of(samples), held_out(calibrator, samples)))
    assert len(found) == 18
    assert not [id for id, figure in found.items() if figure.reading == "not run"]
    assert found["F2"].n <= 400, "each text of a place counts once"
    assert found["F9"].value == pytest.approx(0.1)
    shares = [found[f"F5.counterfeits_{word}"].value or 0 for word in ("likely", "possible", "unlikely")]
    assert sum(shares) == pytest.approx(1)


def test_what_a_run_does_not_tell_is_not_run_and_why_is_said(calibrator: Calibrator, samples: list[Sample]) -> None:
    bare = [changed(sample, measures={"total_logprob": sample.measures["total_logprob"]}) for sample in samples]
    facts = {
        s.id: Fact(id=s.id, gap=s.id, project=s.project, task="line", classes={"kept": fact_of(s, n, "").kind}) for n, s in enumerate(bare)
    }
    found = by_id(figures(calibrator, Inputs(bare, {}, facts), held_out(calibrator, bare)))
    told = {id: figure.note for id, figure in found.items() if figure.reading == "not run"}
    asked = "the model was not asked about its texts"
    assert told == {
        **dict.fromkeys(("F2", "F2.raw"), "there are no texts drawn at temperature 0.6"),
        **dict.fromkeys(("F6", "F6.parses", "F7", "F7.right", "F7.counterfeit"), asked),
        "F9": "nothing was repaired",
    }
    nothing = by_id(figures(calibrator, Inputs(bare), held_out(calibrator, bare)))
    assert {figure.reading for figure in nothing.values()} == {"not run"}

"""M1 to M7: in worlds with known truth, and of samples with facts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Literal

import msgspec
import numpy as np
import pytest
from catcode_worlds import figures_of, suggestions, world
from synthetic_samples import sample
from validation_worlds import most

from assay.calibration.fitting.fit import fit
from assay.calibration.samples import Event, Sample
from assay.calibration.validation.catcode_facts import LineFact, PlaceFact, RegeneratedFact, VariantFact
from assay.calibration.validation.catcode_study import (
    MAX_SHIFT,
    figures,
    in_rewritten_code,
    meaning_not_strangeness,
    same_in_rewritten_code,
)
from assay.calibration.validation.figures import Figure
from assay.calibration.validation.held_out import held_out
from assay.calibration.validation.inputs import Inputs
from assay.calibration.validation.words import title_of

WORLDS = [pytest.param(30, id="few"), pytest.param(200, id="many", marks=pytest.mark.slow)]


def counted(worlds: int, meaning: float) -> dict[str, Counter[str]]:
    """How often each figure had each reading."""
    counts: dict[str, Counter[str]] = {}
    for seed in range(worlds):
        for each in figures_of(seed, meaning):
            counts.setdefault(each.id, Counter())[each.reading] += 1
    return counts


@pytest.mark.parametrize("worlds", WORLDS)
def test_what_is_true_is_refuted_in_at_most_one_world_of_twenty(worlds: int) -> None:
    counts = counted(worlds, meaning=1.0)
    assert {id: found["refuted"] for id, found in counts.items() if found["refuted"] > most(worlds)} == {}
    assert min(counts[id]["holds"] for id in ("M1", "M1.icc", "M2", "M3", "M6.skill")) > worlds / 2


@pytest.mark.parametrize("worlds", WORLDS)
def test_a_number_that_falls_for_strangeness_alone_passes_m3_in_at_most_one_world_of_twenty(worlds: int) -> None:
    counts = counted(worlds, meaning=0.0)
    assert counts["M3"]["holds"] <= most(worlds)
    assert counts["M2"]["holds"] > worlds / 2, "M2 is passed by a number that only knows what is strange"


@pytest.mark.parametrize("worlds", WORLDS)
def test_a_change_that_is_as_large_as_may_be_holds_in_at_most_one_world_of_twenty(worlds: int) -> None:
    held = 0
    for seed in range(worlds):
        rng, found = np.random.default_rng(seed), world(seed)
        noise = rng.normal(0, 0.01, len(found.after)) + rng.normal(0, 0.005, 20)[found.groups]
        within = np.clip(found.before, 0.1, 0.9)
        held += same_in_rewritten_code(replace(found, before=within, after=within + MAX_SHIFT + noise))[0].reading == "holds"
    assert held <= most(worlds)


def test_a_number_that_falls_further_for_what_does_the_same_is_refuted() -> None:
    found = meaning_not_strangeness(world(0, meaning=-1.0))[0]
    assert found.reading == "refuted"
    assert found.value == pytest.approx(-1, abs=0.2)


def test_numbers_that_are_too_high_in_rewritten_code_are_refuted() -> None:
    offset, original, _ = in_rewritten_code(suggestions(0, off=1.0))
    assert offset.reading == "refuted"
    assert abs(original.value or 1) < 0.05


def inputs(n: int = 300, projects: int = 10, event: Event = "tests_pass") -> Inputs:
    """Suggestions with a measure that tells how likely they are right, and rewrites of them with other values of it."""
    rng = np.random.default_rng(0)
    samples: list[Sample] = []
    facts: dict[str, PlaceFact] = {}
    for row in range(n):
        total = -float(rng.exponential(2))
        right = bool(rng.random() < np.exp(total / 2))
        made = sample(row, label=right, project=f"p{row % projects}", total_logprob=total)
        labels: dict[str, bool | None] = {"exact_match": right if event == "exact_match" else None, "tests_pass": right}
        samples.append(msgspec.structs.replace(made, labels=labels))

        def at(fall: float, start: float = total) -> dict[str, float]:
            return {"total_logprob": min(0.0, start - fall)}

        def variant(arm: Literal["context", "equivalent", "wrong"], fall: float) -> VariantFact:
            kind: Literal["right", "counterfeit"] = "counterfeit" if arm == "wrong" else "right"
            rule = "wrong_name" if arm == "wrong" else "rename_variable"
            return VariantFact(arm=arm, rules=(rule,), kind=kind, measures=at(fall))

        line = LineFact(
            exact=row % 2 == 0,
            plain=at(0),
            identity=at(0.001),
            variants=(variant("context", float(rng.normal(0, 0.1))), variant("equivalent", 1), variant("wrong", 3)),
        )
        again = RegeneratedFact(measures=at(0.05), exact=right, passes=right)
        facts[made.id] = PlaceFact(id=made.id, project=f"p{row % projects}", file="a.py", lines=(line,), regenerated=again)
    return Inputs(samples, facts=facts)


def of(found: Inputs, event: Event = "tests_pass") -> dict[str, Figure]:
    calibrator = fit(found.plain, event, ("total_logprob",), kind="platt", resamples=2).calibrator
    return {each.id: each for each in figures(calibrator, found, held_out(calibrator, found.plain))}


def test_every_figure_of_a_run_has_words_and_a_number() -> None:
    found = of(inputs())
    assert not [id for id, each in found.items() if title_of(each) == id]
    assert {id for id, each in found.items() if each.value is None} == {"M4.other"}
    assert {found[id].reading for id in ("M1", "M2", "M3")} == {"holds"}
    assert found["M1"].n == 300
    assert "by a map that was fitted without the fold of its project" in found["M3"].note


def test_of_exact_match_the_projects_own_lines_count_alone_and_m3_has_no_claim() -> None:
    found = of(inputs(event="exact_match"), "exact_match")
    assert found["M1"].n == 150
    assert (found["M3"].claim, found["M3"].reading) == ("", "reported")
    assert "is no exact match either" in found["M3"].note


def test_what_a_run_does_not_tell_is_not_run_and_why_is_said() -> None:
    known = inputs()
    nothing = of(replace(known, facts={}))
    assert {each.reading for each in nothing.values()} == {"not run"}
    assert nothing["M1"].note == "no line and its rewrites were scored"
    assert nothing["M6"].note == "nothing was suggested in rewritten code whose tests_pass is known"

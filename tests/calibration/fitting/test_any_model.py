"""One map for any model: how far it reaches, and how own samples move it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from msgspec import structs
from synthetic_samples import MODEL, PROMPT, world

from assay.calibration.calibrator import Calibrator, load, save
from assay.calibration.confidence import confidence, whose
from assay.calibration.fitting.fit import FitError, fit
from assay.calibration.registry import Entry, Purpose, Registry, choose, explain_choice, registry_of
from assay.calibration.samples import Sample

OFFSETS = (-0.6, -0.2, 0.1, 0.4, 0.9)


def of_model(number: int, offset: float, n: int = 300, kin: str = "") -> list[Sample]:
    """Samples of a model whose log odds lie so far from the others'."""
    made, _ = world(n, slope=0.9, intercept=0.3 + offset, between=0.2, seed=number)
    model, name = f"{number:016x}", f"model {number}"
    return [structs.replace(one, model=model, model_name=name, prompt=f"{number + 100:016x}", kin=kin) for one in made]


@pytest.fixture(scope="module")
def common() -> Calibrator:
    samples = [sample for number, offset in enumerate(OFFSETS) for sample in of_model(number, offset)]
    return fit(samples, "exact_match", ["total_logprob"], kind="platt", groups="model", resamples=50).calibrator


def numbers(calibrator: Calibrator, samples: list[Sample]) -> tuple[float, float]:
    """The mean probability and the mean width of the ranges."""
    found = [confidence(calibrator, sample.measures) for sample in samples]
    return float(np.mean([each.probability for each in found])), float(np.mean([each.high - each.low for each in found]))


def right(samples: list[Sample]) -> float:
    return float(np.mean([sample.labels["exact_match"] for sample in samples]))


def test_a_map_of_five_models_is_borrowed_and_says_how_models_vary(common: Calibrator, tmp_path: Path) -> None:
    assert common.status == "borrowed"
    assert common.fitted_on.grouped_by == "model"
    assert common.fitted_on.models == tuple(f"model {number}" for number in range(5))
    assert common.models.n == 5
    assert 0.25 < common.models.offset_sd < 1.2
    save(common, tmp_path / "c.json")
    assert load(tmp_path / "c.json") == common


def test_the_range_of_a_borrowed_number_holds_a_model_that_was_not_seen(common: Calibrator) -> None:
    for offset in (-0.9, 0.0, 1.1):
        samples = of_model(9, offset)
        found = [confidence(common, sample.measures) for sample in samples]
        assert {each.status for each in found} == {"borrowed"}
        low, high = (float(np.mean([getattr(each, end) for each in found])) for end in ("low", "high"))
        assert low < right(samples) < high
    assert found[0].reason == "from 5 models; some tens of your lines would narrow it (assay calibrate model)"


def test_own_samples_move_it_toward_the_model_and_narrow_the_range(common: Calibrator) -> None:
    samples = of_model(9, 1.5, n=1200)
    fresh, widths, gaps = samples[600:], [], []
    for n in (0, 80, 320):
        moved = fit(samples[:n], "exact_match", adapt_from=common, resamples=20).calibrator if n else common
        promised, width = numbers(moved, fresh)
        widths.append(width)
        gaps.append(abs(promised - right(fresh)))
    assert sorted(widths, reverse=True) == widths
    assert widths[1] < 0.6 * widths[0]
    assert gaps[1] < 0.06 < gaps[0]


def test_too_few_own_samples_leave_the_number_borrowed_and_enough_make_it_the_model_s_own(common: Calibrator) -> None:
    samples = of_model(9, 0.5, n=400)
    few, many = (fit(samples[:n], "exact_match", adapt_from=common, resamples=20).calibrator for n in (15, 400))
    assert (few.status, many.status) == ("borrowed", "informative")
    assert whose(few) == "from 5 models and 15 lines that this one was asked for; more would narrow it"
    assert whose(many) == ""
    assert confidence(few, samples[0].measures).status == "borrowed"


def test_own_samples_that_contradict_it_take_the_number_away(common: Calibrator) -> None:
    contrary = [structs.replace(s, labels={"exact_match": not s.labels["exact_match"]}) for s in of_model(9, 0.0, n=600)]
    assert fit(contrary, "exact_match", adapt_from=common, resamples=50).calibrator.status == "uninformative"


def test_a_coin_lends_nothing() -> None:
    rng = np.random.default_rng(0)
    coin = [
        structs.replace(sample, labels={"exact_match": bool(rng.random() < 0.5)})
        for number in range(5)
        for sample in of_model(number, 0.0, n=120)
    ]
    assert fit(coin, "exact_match", groups="model", resamples=50).calibrator.status == "uninformative"


def test_no_model_counts_far_more_than_another_and_four_are_too_few() -> None:
    uneven = [s for number, n in enumerate((60, 60, 60, 60, 600)) for s in of_model(number, 0.0, n=n)]
    made = fit(uneven, "exact_match", groups="model", resamples=20)
    assert made.calibrator.fitted_on.n == 360
    assert "480 of 840 samples were left out, so that no model has more than 2 times as many as another" in made.notes
    with pytest.raises(FitError, match="needs samples of 5 models, not of 4"):
        fit([s for s in uneven if s.model != f"{4:016x}"], "exact_match", groups="model")


def registry(**entries: Calibrator) -> Registry:
    return registry_of([Entry("user", Path(f"{name}.json"), calibrator) for name, calibrator in entries.items()], ())


def purpose(model: str = MODEL, prompt: str = PROMPT, kin: str = "") -> Purpose:
    return Purpose(model, prompt, "exact_match", "line", "python", kin=kin)


@pytest.fixture(scope="module")
def own() -> Calibrator:
    made = fit(world(600)[0], "exact_match", resamples=20).calibrator
    return replace(made, fitted_on=replace(made.fitted_on, kin="a" * 16))


def test_the_model_s_own_goes_before_its_kin_s_and_that_before_the_one_for_any(own: Calibrator, common: Calibrator) -> None:
    every = registry(own=own, any=common)
    cases: Mapping[str, Purpose] = {
        "own": purpose(),
        "kin": purpose(model="f" * 16, kin="a" * 16),
        "any": purpose(model="f" * 16),
    }
    chosen = {case: choose(every, wanted) for case, wanted in cases.items()}
    assert {case: entry and (entry.path.stem, entry.kin) for case, entry in chosen.items()} == {
        "own": ("own", False),
        "kin": ("own", True),
        "any": ("any", False),
    }
    assert choose(registry(own=own), purpose(model="f" * 16, prompt="e" * 16, kin="a" * 16)) is None, "of another prompt"
    of_kin = explain_choice(every, cases["kin"])
    assert of_kin.reason.endswith("; borrowed from another quantisation of this model, tiny; assay calibrate model gives it its own")


def test_kin_widens_the_range_and_borrows(own: Calibrator) -> None:
    measures = world(5)[0][0].measures
    mine, kin = confidence(own, measures), confidence(own, measures, kin=True)
    assert (mine.status, kin.status) == ("informative", "borrowed")
    assert mine.probability == kin.probability
    assert kin.low < mine.low < mine.high < kin.high


def test_quantisations_of_one_model_count_as_one() -> None:
    samples = [sample for number in range(5) for sample in of_model(number, 0.0, n=30, kin="a" * 16)]
    with pytest.raises(FitError, match="needs samples of 5 models, not of 1"):
        fit(samples, "exact_match", groups="model")


def test_a_map_that_still_borrows_comes_behind_that_of_the_model_s_kin(own: Calibrator, common: Calibrator) -> None:
    few = fit(of_model(9, 0.0, n=12, kin="a" * 16), "exact_match", adapt_from=common, resamples=5).calibrator
    assert few.status == "borrowed"
    moved = replace(few, fitted_on=replace(few.fitted_on, prompt=PROMPT))
    wanted = purpose(model=few.fitted_on.model, kin="a" * 16)
    chosen = choose(registry(own=own, moved=moved, any=common), wanted)
    assert (chosen.path.stem, chosen.kin) == ("own", True)
    chosen = choose(registry(moved=moved, any=common), wanted)
    assert chosen.path.stem == "moved"

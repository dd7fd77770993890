"""R1 to R6: in worlds with known truth, and of samples with facts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from msgspec.structs import replace as changed
from round_trip_worlds import world
from validation_worlds import most

from assay.calibration.fitting.fit import fit
from assay.calibration.validation.figures import Figure
from assay.calibration.validation.held_out import held_out
from assay.calibration.validation.inputs import Inputs
from assay.calibration.validation.round_trip_study import Trips, adds_skill, as_probability, beyond, figures, tracks_passing, without_labels
from assay.calibration.validation.words import MEANINGS


def figures_of(seed: int, telling: float, n: int = 600) -> dict[str, Figure]:
    return of_inputs(world(seed, telling, n).inputs())


def of_inputs(inputs: Inputs) -> dict[str, Figure]:
    first = [sample for sample in inputs.plain if sample.rank == 1]
    calibrator = fit(first, "exact_match", ("total_logprob",), kind="platt", resamples=2).calibrator
    return {each.id: each for each in figures(calibrator, inputs, held_out(calibrator, first))}


@pytest.mark.parametrize("worlds", [pytest.param(60, id="few"), pytest.param(1000, id="many", marks=pytest.mark.slow)])
def test_of_round_trips_that_tell_nothing_new_the_odds_hold_in_at_most_one_world_of_twenty(worlds: int) -> None:
    held = Counter(beyond(found.trips, found.p).reading for found in (world(seed, telling=0) for seed in range(worlds)))["holds"]
    assert held <= most(worlds)


@pytest.mark.parametrize("worlds", [pytest.param(5, id="few"), pytest.param(20, id="many", marks=pytest.mark.slow)])
def test_of_round_trips_that_tell_nothing_new_no_gain_of_skill_holds(worlds: int) -> None:
    held: Counter[str] = Counter()
    for seed in range(worlds):
        held.update(
            id for id, each in figures_of(seed, telling=0, n=300).items() if each.reading == "holds" and id[:2] in ("R2", "R5", "R6")
        )
    assert {id: count for id, count in held.items() if count > most(worlds)} == {}


def test_round_trips_that_tell_something_add_skill_and_odds_without_copies_too() -> None:
    found = figures_of(0, telling=2)
    assert {id for id, each in found.items() if each.reading == "holds"} >= {"R2", "R5", "R6.skill", "R6.odds"}
    assert "worth offering to the editor" in found["R2"].note
    assert "with a description that recites them are left out" in found["R6.skill"].note
    assert found["R6.skill"].n < found["R2"].n == 600


def test_every_figure_has_words_and_those_without_data_say_why() -> None:
    found = figures_of(1, telling=1)
    assert found.keys() <= MEANINGS.keys()
    assert {id for id, each in found.items() if each.reading == "not run"} == {"R2.agreement"}
    assert "no alternatives were drawn" in found["R2.agreement"].note


def test_without_round_trips_nothing_of_suggestions_is_run() -> None:
    inputs = world(0, telling=1).inputs()
    bare = [changed(each, measures={"total_logprob": each.measures["total_logprob"]}) for each in inputs.plain]
    found = of_inputs(replace(inputs, plain=bare))
    assert {id for id, each in found.items() if each.reading != "not run"} == {"R1", "R1.rho", "R1.tau"}
    assert "no sample has a label for exact_match and round trips" in found["R2"].note
    assert {each.reading for each in of_inputs(replace(inputs, facts={})).values()} == {"not run"}


def test_alternatives_beside_the_first_choice_are_left_out() -> None:
    inputs = world(0, telling=1).inputs()
    others = [changed(each, id=f"{each.id}:2", rank=2, alternatives=2) for each in inputs.plain]
    assert of_inputs(replace(inputs, plain=[*inputs.plain, *others]))["R5"].n == len(others)


@pytest.mark.slow
def test_maps_with_and_without_round_trips_are_fitted_to_the_same_samples() -> None:
    inputs = world(0, telling=0).inputs()
    # what has no round trips says the opposite of what is true of the others: a map that saw it would be worse
    others = [
        changed(each, id=f"{each.id}:2", rank=2, alternatives=2, measures={"total_logprob": -5.0 - each.measures["total_logprob"]})
        for each in inputs.plain
    ]
    first = list(inputs.plain)
    calibrator = fit(first, "exact_match", ("total_logprob",), kind="platt", resamples=2).calibrator
    alone, beside = (
        {each.id: each for each in figures(calibrator, replace(inputs, plain=plain), held_out(calibrator, plain))}
        for plain in (first, [*first, *others])
    )
    for id in ("R2", "R2.log_loss", "R4"):
        assert beside[id] == alone[id]


def test_a_calibrator_of_costly_measures_alone_has_no_figures_and_says_why() -> None:
    inputs = world(0, telling=1).inputs()
    said = [changed(each, measures={**each.measures, "ask_true_normalised": each.measures["total_logprob"]}) for each in inputs.plain]
    calibrator = fit(said, "exact_match", ("ask_true_normalised",), kind="platt", resamples=2).calibrator
    found = {each.id: each for each in figures(calibrator, replace(inputs, plain=said), held_out(calibrator, said))}
    assert found["R2"].reading == "not run"
    assert "no measure that costs no call" in found["R2"].note


@pytest.mark.slow
def test_where_agreement_is_known_the_gain_over_it_is_told() -> None:
    inputs = world(0, telling=2).inputs()
    agreed = [changed(each, measures={**each.measures, "agreement": -0.5}, alternatives=4) for each in inputs.plain]
    assert of_inputs(replace(inputs, plain=agreed))["R2.agreement"].reading == "holds"


def test_a_correlation_over_projects_is_what_they_were_drawn_with() -> None:
    rng = np.random.default_rng(0)
    passing = rng.random(40)
    rebuilt = passing + rng.normal(0, 0.1, 40)
    r, rho, tau = tracks_passing(rebuilt, passing, 400)
    assert (r.reading, rho.reading, tau.reading) == ("holds", "reported", "reported")
    for each in (r, rho, tau):
        interval = [end for end in (each.low, each.value, each.high, 1.0) if end is not None]
        assert len(interval) == 4
        assert interval == sorted(set(interval))


@pytest.mark.parametrize("worlds", [pytest.param(60, id="few"), pytest.param(1000, id="many", marks=pytest.mark.slow)])
def test_rates_that_have_nothing_to_do_with_one_another_correlate_in_at_most_one_world_of_twenty(worlds: int) -> None:
    held = 0
    for seed in range(worlds):
        a, b = np.random.default_rng(seed).random((2, 20))
        held += tracks_passing(a, b, 20)[0].reading == "holds"
    assert held <= most(worlds)


@pytest.mark.parametrize("rates", [[0.5] * 8, [0.1, 0.2], [float(number) for number in range(8)]], ids=["constant", "two", "on a line"])
def test_a_correlation_that_has_no_interval_is_undecided(rates: list[float]) -> None:
    found = tracks_passing(np.array(rates), np.arange(len(rates), dtype=np.float64), 80)
    assert found[0].reading == "undecided"
    assert found[0].value is None


def test_a_share_that_is_too_sure_is_refuted_as_a_probability() -> None:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 20, 800)
    y = rng.random(800) < 0.3
    trips = Trips(rng.binomial(3, 0.8, 800) / 3, y, groups)
    found = {each.id: each for each in as_probability(trips, np.full(800, y.mean()))}
    assert found["R3"].reading == "refuted"
    assert (found["R3.skill"].high or 0) < 0
    assert found["R3.auc"].value == pytest.approx(0.5, abs=0.06)


def test_of_many_shares_the_rates_of_the_lowest_and_the_highest_are_told() -> None:
    share = np.arange(80) % 9 / 8
    trips = Trips(share, share > 0.4, np.arange(80) % 4)
    note = as_probability(trips, np.full(80, 0.5))[0].note
    assert "0.00 right where it is 0.00" in note
    assert "1.00 right where it is 1.00" in note
    assert note.count("right where") == 5


def test_probabilities_that_know_the_projects_are_nearer_to_their_rates() -> None:
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(20), 60)
    rate = rng.uniform(0.2, 0.8, 20)[groups]
    trips = Trips(np.zeros(1200), rng.random(1200) < rate, groups)
    base = np.full(1200, 0.5)
    assert without_labels(trips, base, rate).reading == "holds"
    assert without_labels(trips, rate, base).reading == "refuted"
    assert without_labels(trips, base, base).reading == "refuted"


def test_what_is_not_worth_its_calls_is_not_offered() -> None:
    found = world(0, telling=0)
    same = adds_skill(found.trips, found.p, found.p, ["round_trip"])
    assert "model selection leaves them out" in same.note
    assert "not offered to the editor" in same.note


def test_of_one_project_nothing_has_an_interval() -> None:
    trips = Trips(np.array([0.0, 1.0]), np.array([False, True]), np.zeros(2, dtype=np.intp))
    p = np.array([0.2, 0.7])
    found = [beyond(trips, p), adds_skill(trips, p, p, ["round_trip"]), without_labels(trips, p, p), *as_probability(trips, p)]
    assert {each.reading for each in found} <= {"undecided", "reported"}

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from msgspec import structs
from synthetic_samples import MODEL, PROMPT, sample, world

from assay.calibration.arrays import sigmoid
from assay.calibration.confidence import confidence
from assay.calibration.fitting.fit import FitError, fit
from assay.calibration.maps.platt import fit_platt
from assay.calibration.measures.registry import enter
from assay.calibration.metrics.scores import skill
from assay.calibration.samples import Sample, samples_sha256

NOW = datetime(2026, 11, 20, 17, tzinfo=UTC)


def test_the_truth_of_a_synthetic_world_is_recovered() -> None:
    samples, truth = world(4000, intercept=0.5, slope=0.7)
    made = fit(samples, "exact_match", resamples=200)
    found = made.calibrator
    assert found.status == "informative"
    assert found.map.intercept == pytest.approx(0.5, abs=0.12)
    assert found.map.slopes[0] == pytest.approx(0.7, abs=0.06)
    assert found.between_group_sd < 0.15
    assert np.abs(made.held_out - truth).mean() < 0.02
    assert found.evidence.skill.low < skill(truth, made.labels) < found.evidence.skill.high
    assert found.evidence.ece.low == 0


def test_a_probability_enters_as_its_logit_so_that_one_that_is_already_calibrated_is_left_as_it_is() -> None:
    samples, _ = world(6000, intercept=0.0, slope=1.0)
    found = fit(samples, "exact_match", resamples=20).calibrator
    assert (found.map.intercept, found.map.slopes[0]) == pytest.approx((0.0, 1.0), abs=0.1)
    for p in (0.2, 0.5, 0.9):
        assert confidence(found, {"total_logprob": math.log(p)}).probability == pytest.approx(p, abs=0.03)


def test_what_the_map_was_fitted_on_is_written_down() -> None:
    samples, _ = world(300)
    unlabelled = [sample(1000 + i, label=None) for i in range(5)]
    made = fit(samples + unlabelled, "exact_match", resamples=50, date=NOW)
    on = made.calibrator.fitted_on
    assert (on.model, on.model_name, on.prompt, on.languages) == (MODEL, "tiny", PROMPT, ("python",))
    assert (on.n, on.groups, on.grouped_by, on.date) == (300, 12, "project", "2026-11-20T17:00:00+00:00")
    assert on.positives == sum(s.labels["exact_match"] is True for s in samples)
    assert on.samples_sha256 == samples_sha256(samples)
    totals = [s.measures["total_logprob"] for s in samples]
    assert made.calibrator.ranges == ((min(totals), max(totals)),)


def test_an_unknown_label_is_left_out_and_counted_never_taken_as_false() -> None:
    samples, _ = world(300)
    hidden = [structs.replace(s, labels={"exact_match": None}) if i % 3 == 0 else s for i, s in enumerate(samples)]
    made = fit(hidden, "exact_match", resamples=50, date=NOW)
    assert made.unknown == 100
    assert any("100 of 300 samples have no known label" in note for note in made.notes)
    assert made.calibrator == fit([s for i, s in enumerate(samples) if i % 3], "exact_match", resamples=50, date=NOW).calibrator


def test_every_project_is_judged_by_a_map_that_did_not_see_it_or_the_others_of_its_fold() -> None:
    samples, _ = world(400, projects=12, between=0.8)
    made = fit(samples, "exact_match", kind="platt", resamples=50)
    x = enter("total_logprob", [s.measures["total_logprob"] for s in samples])[:, None]
    assert set(made.fold.tolist()) == set(range(5))
    for fold in range(5):
        inside = made.fold == fold
        assert not {s.project for s, i in zip(samples, inside, strict=True) if i} & {
            s.project for s, i in zip(samples, inside, strict=True) if not i
        }
        n = int((~inside).sum())
        alone = sigmoid(fit_platt(x[~inside], made.labels[~inside]).log_odds(x[inside])).clip(1 / (n + 2), 1 - 1 / (n + 2))
        assert made.held_out[inside] == pytest.approx(alone)


@pytest.mark.slow
def test_the_spread_between_projects_is_part_of_the_range() -> None:
    alike, _ = world(3000, projects=30, between=0.0)
    unlike, _ = world(3000, projects=30, between=0.8)
    narrow, wide = (confidence(fit(s, "exact_match", resamples=50).calibrator, {"total_logprob": -1.0}) for s in (alike, unlike))
    assert wide.high - wide.low > 3 * (narrow.high - narrow.low)


@pytest.mark.slow
def test_the_range_covers_the_true_probability_in_a_new_project() -> None:
    """Nominal 95 %. A range of 1.96 standard errors covers 84 % with 6 projects."""
    covered = total = 0
    for seed in range(40):
        samples, _ = world(600, projects=6, between=0.6, seed=seed)
        calibrator = fit(samples, "exact_match", kind="platt", resamples=20).calibrator
        rng = np.random.default_rng(seed)
        for s, offset in zip((-0.3, -1.0, -2.0, -4.0) * 10, rng.normal(0, 0.6, 40), strict=True):
            truth = 1 / (1 + np.exp(-(0.5 + 0.7 * float(enter("total_logprob", s)) + offset)))
            found = confidence(replace(calibrator, status="informative"), {"total_logprob": s})
            if found.low is not None and found.high is not None:
                total += 1
                covered += found.low <= truth <= found.high
    assert total > 1400
    assert 0.9 <= covered / total <= 0.99


def test_few_projects_are_split_by_file_and_few_files_by_sample_and_it_is_said() -> None:
    samples, _ = world(300, projects=2)
    by_file = fit(samples, "exact_match", resamples=50)
    assert (by_file.calibrator.fitted_on.grouped_by, by_file.calibrator.fitted_on.groups) == ("file", 14)
    assert by_file.notes == ("only 2 projects: held out and resampled by file; how well it does in another project is not known",)
    alone = fit([structs.replace(s, project="p", file="a.py") for s in samples], "exact_match", resamples=50)
    assert (alone.calibrator.fitted_on.grouped_by, alone.calibrator.fitted_on.groups) == ("sample", 300)
    assert alone.calibrator.reason.endswith("held out by sample, so that how well it does in another project is not known")
    assert alone.notes == (
        "only 1 project and 1 file: held out and resampled by sample; how well it does in another project or file is not known",
    )


def test_a_measure_without_skill_makes_an_uninformative_calibrator() -> None:
    samples, _ = world(600, slope=0.0)
    found = fit(samples, "exact_match", resamples=200).calibrator
    assert found.status == "uninformative"
    assert "no skill is shown" in found.reason
    assert confidence(found, {"total_logprob": -1.0}).probability is None


def test_a_measure_that_points_the_wrong_way_makes_an_uninformative_calibrator() -> None:
    samples, _ = world(900, slope=-0.7)
    found = fit(samples, "exact_match", resamples=100).calibrator
    assert found.status == "uninformative"
    assert "points the wrong way" in found.reason


@pytest.mark.parametrize(("n", "positives"), [(24, 12), (200, 196)])
def test_too_few_samples_make_an_insufficient_calibrator(n: int, positives: int) -> None:
    samples = [sample(i, label=i < positives, project=f"p{i % 8}", total_logprob=-0.1 - i / 10) for i in range(n)]
    assert fit(samples, "exact_match", resamples=50).calibrator.status == "insufficient"


def test_one_class_is_insufficient_and_has_no_skill_and_no_auc() -> None:
    found = fit([sample(i, project=f"p{i % 8}", total_logprob=-1.0 - i) for i in range(50)], "exact_match", resamples=50).calibrator
    assert found.status == "insufficient"
    assert found.evidence.skill is None
    assert found.evidence.auc is None


def changed(**changes: str | int) -> list[Sample]:
    samples, _ = world(60)
    return [*samples[:-1], structs.replace(samples[-1], **changes)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("samples", "event", "features", "reason"),
    [
        (
            changed(model="f" * 16),
            "exact_match",
            ["total_logprob"],
            "2 models are mixed .0123456789abcdef tiny, f{16} tiny",
        ),
        (changed(alternatives=4), "exact_match", ["total_logprob"], "samples of 2 numbers of alternatives are mixed .1, 4"),
        (
            [structs.replace(one, alternatives=4, measures={"agreement": -1.0}) for one in changed()],
            "exact_match",
            ["agreement"],
            "these samples are first choices alone; leave it out",
        ),
        (changed(), "correct", ["total_logprob"], "unknown event 'correct', known are exact_match, tests_pass, kept"),
        (changed(), "tests_pass", ["total_logprob"], "0 of 60 samples have a label for tests_pass"),
        (changed(), "exact_match", ["logprob"], "unknown measure logprob, known are total_logprob"),
        (changed(), "exact_match", ["mean_entropy"], "60 of 60 samples have no measure mean_entropy, the first is s0"),
        (changed(), "exact_match", [], "name at least one measure"),
    ],
)
def test_samples_that_nothing_can_be_fitted_to_are_refused(samples: list[Sample], event: str, features: list[str], reason: str) -> None:
    with pytest.raises(FitError, match=reason):
        fit(samples, event, features)


def test_a_measure_that_differs_too_little_for_any_number_is_refused() -> None:
    samples = [sample(i, label=i % 3 == 0, project=f"p{i % 8}", total_logprob=-1 - 1e-9 * (i % 7)) for i in range(100)]
    with pytest.raises(FitError, match="no platt map of total_logprob can be kept, which differs too little"):
        fit(samples, "exact_match", kind="platt", resamples=20)


@pytest.mark.parametrize(("value", "said"), [(-1e20, "is -1e.*, which no generation has"), (0.5, "positive log-probability")])
def test_a_measure_that_no_generation_has_is_refused_with_its_sample(value: float, said: str) -> None:
    samples, _ = world(60)
    with pytest.raises(FitError, match=f"sample odd: total_logprob .*{said}"):
        fit([*samples, structs.replace(samples[0], id="odd", measures={"total_logprob": value})], "exact_match")

"""Defects of other libraries' calibrators, each with where it is, and that ours does not have it. (Those of metrics: beside this file.)"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.calibration import _SigmoidCalibration  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]
from synthetic_samples import sample, world

from assay.calibration.arrays import sigmoid
from assay.calibration.confidence import confidence
from assay.calibration.fitting.fit import FitError, fit
from assay.calibration.fitting.folds import folds_of
from assay.calibration.maps.beta import fit_beta
from assay.calibration.maps.isotonic import fit_isotonic
from assay.calibration.maps.platt import fit_platt
from assay.calibration.maps.temperature import fit_temperature
from assay.calibration.measures.registry import enter
from assay.calibration.metrics.bins import ece
from assay.calibration.metrics.scores import skill


def test_the_logit_of_a_probability_is_scaled_not_the_probability_itself() -> None:
    """scikit-learn #34312: with predict_proba only, the sigmoid is fitted to the probability."""
    rng = np.random.default_rng(0)
    log_odds = rng.normal(0, 3, 40_000)
    y = rng.random(40_000) < sigmoid(log_odds)
    total = -np.logaddexp(0, -log_odds)
    right = fit_platt(enter("total_logprob", total)[:, None], y)
    assert (right.intercept, right.slopes[0]) == pytest.approx((0, 1), abs=0.05)

    theirs = _SigmoidCalibration().fit(np.exp(total), y).predict(np.exp(total))
    assert ece(sigmoid(right.log_odds(log_odds[:, None])), y) < 0.01
    # when this one falls, the defect is mended there, and this half of the test can go
    assert ece(theirs, y) > 0.02


def test_a_class_that_a_fold_lacks_gives_no_probability_0() -> None:
    """scikit-learn #17827, #29449: a class missing from a fold gets probability 0."""
    samples = [sample(i, label=i < 6, project=f"p{i // 6}", total_logprob=-1.0 - i / 7) for i in range(36)]
    held_out = fit(samples, "exact_match", resamples=20).held_out
    assert held_out.min() >= 1 / 38


def test_scores_of_any_size_are_fitted() -> None:
    """scikit-learn #26766: |score| of 30 and more silently gave a constant, AUC 0.5."""
    rng = np.random.default_rng(1)
    x = rng.normal(0, 1, (500, 1))
    y = rng.random(500) < sigmoid(2 * x[:, 0])
    for scale in (1.0, 1e3, 1e9):
        assert sigmoid(fit_platt(x * scale, y).log_odds(x * scale)) == pytest.approx(sigmoid(fit_platt(x, y).log_odds(x)), abs=1e-9)


def test_no_penalty_shrinks_the_first_measure() -> None:
    """scikit-learn's LogisticRegression and with it uqlm's ScoreCalibrator have C = 1 on the raw score."""
    rng = np.random.default_rng(2)
    p = np.exp(-np.exp(rng.normal(-2.5, 1.0, 400)))
    y = rng.random(400) < sigmoid(1.2 * (enter("total_logprob", np.log(p)) - 2))
    ours = fit_platt(enter("total_logprob", np.log(p))[:100, None], y[:100]).log_odds(enter("total_logprob", np.log(p))[100:, None])
    theirs = LogisticRegression().fit(p[:100, None], y[:100]).predict_proba(p[100:, None])[:, 1]
    assert skill(sigmoid(ours), y[100:]) > 2 * skill(theirs, y[100:])


def test_a_falling_slope_is_not_shown_as_a_confidence() -> None:
    """scikit-learn's sigmoid takes a negative slope without a word; uqlm has no guard either."""
    assert fit(world(900, slope=-0.7)[0], "exact_match", resamples=100).calibrator.status == "uninformative"


def test_one_class_and_a_handful_of_samples_are_not_shown_as_a_confidence() -> None:
    """scikit-learn: three of one class give 0.8; uqlm has no least n and no guard for one class."""
    found = fit([sample(i, project=f"p{i}", total_logprob=-1.0 - i) for i in range(3)], "exact_match", resamples=20).calibrator
    assert found.status == "insufficient"
    assert confidence(found, {"total_logprob": -2.0}).probability is None


def test_the_sigmoid_does_not_overflow() -> None:
    """uncertainty-calibration: 1 / (1 + exp(-x)) overflows in the tail."""
    with warnings.catch_warnings(), np.errstate(all="raise", under="ignore"):
        warnings.simplefilter("error")
        assert sigmoid(np.array([-1e4, 0.0, 1e4])).tolist() == [0.0, 0.5, 1.0]


def test_temperature_scaling_changes_the_calibration_error() -> None:
    """netcal #61: with method "mle" temperature scaling leaves the ECE as it was."""
    rng = np.random.default_rng(3)
    x = rng.normal(0, 4, (5000, 1))
    y = rng.random(5000) < sigmoid(x[:, 0] / 3)
    assert ece(sigmoid(fit_temperature(x, y).log_odds(x)), y) < 0.3 * ece(sigmoid(x[:, 0]), y)


def test_beta_never_falls_also_where_both_slopes_would_be_negative() -> None:
    """betacal: where both are negative the second fit may leave a slope of -201."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x = rng.normal(0, 2, (30, 1))
        found = fit_beta(x, rng.random(30) < sigmoid(-2 * x[:, 0]))
        assert found.a >= 0
        assert found.b >= 0


def test_a_fit_does_not_silence_the_warnings_of_the_process() -> None:
    """betacal: warnings.filterwarnings("ignore") at each fit."""
    before = list(warnings.filters)
    fit(world(100)[0], "exact_match", resamples=20)
    assert list(warnings.filters) == before


def test_isotonic_regression_never_says_0_or_1() -> None:
    """scikit-learn, uqlm, netcal: p is exactly 0 or 1 for a quarter of new samples at n = 25."""
    rng = np.random.default_rng(4)
    for _ in range(30):
        x = rng.normal(0, 2, (25, 1))
        p = sigmoid(fit_isotonic(x, rng.random(25) < sigmoid(x[:, 0])).log_odds(np.linspace(-9, 9, 50)[:, None]))
        assert 1 / 27 <= p.min() <= p.max() <= 26 / 27


def test_a_total_beyond_1e_minus_6_is_not_clipped() -> None:
    """calipy: logits are clipped at 1e-6, beyond which 43 % of p_tot can lie, and probabilities are rounded to 7 decimals."""
    near, far = enter("total_logprob", [-20.0, -200.0])
    assert near - far == pytest.approx(180)


def test_samples_of_one_project_are_never_in_two_folds() -> None:
    """calipy: plain KFold(shuffle), neither stratified nor grouped."""
    groups = np.random.default_rng(5).integers(0, 30, 500)
    fold = folds_of(groups, seed=0)
    assert len({(g, f) for g, f in zip(groups.tolist(), fold.tolist(), strict=True)}) == 30


def test_mixed_models_are_refused() -> None:
    """Everywhere else nothing says which model a calibrator is for."""
    from msgspec import structs

    samples, _ = world(60)
    with pytest.raises(FitError, match="2 models are mixed"):
        fit([*samples[:-1], structs.replace(samples[-1], model="f" * 16)], "exact_match")

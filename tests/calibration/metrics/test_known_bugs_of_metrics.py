"""Defects that other libraries' metrics have, and that ours do not have.

Where the library is installed here, the test says that it still has the defect. When such a test fails on theirs alone, the library was
mended: drop that line, and keep ours.
"""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pytest
import relplot.metrics  # type: ignore[import-untyped]
import sklearn.metrics as sk  # type: ignore[import-untyped]
from forecasts import overconfident, perfect
from sklearn.calibration import calibration_curve  # type: ignore[import-untyped]

from assay.calibration.metrics.bins import BINS, ece, equal_mass, equal_width, reliability
from assay.calibration.metrics.corp import recalibrated
from assay.calibration.metrics.intervals import intervals
from assay.calibration.metrics.null_tests import kuiper, kuiper_statistic, null_test, spiegelhalter
from assay.calibration.metrics.scores import auc, brier, log_loss, pooled
from assay.calibration.metrics.selective import aurc, excess_aurc
from assay.calibration.metrics.smooth import smooth_ece


def test_a_probability_of_1_has_no_bin_of_its_own() -> None:
    """relplot.binnedECE and torchmetrics (issue 3510) put 1.0 into an eleventh bin of ten."""
    p, y = np.array([0.95, 1.0]), np.array([1.0, 0.0])
    assert ece(p, y) == pytest.approx(0.475)
    assert len(reliability(p, y, by=equal_width)) == 1
    assert relplot.metrics.binnedECE(p, y) == pytest.approx(0.525)


def test_a_probability_is_in_the_bin_whose_edges_it_is_between_not_where_a_division_puts_it() -> None:
    """0.3 / 0.1 is 2.9999999999999996: of relplot's bins, closed on the left, 0.4 is in 4 and 0.5 in 5 but 0.3 in 2 and 0.6 in 5."""
    assert equal_width(np.array([0.25, 0.3, 0.4, 0.5, 0.6, 0.7])).tolist() == [2, 2, 3, 4, 5, 6]
    theirs = [int(np.flatnonzero(relplot.metrics.binning(np.array([p]), np.zeros(1)))[0]) for p in (0.3, 0.4, 0.5, 0.6)]
    assert theirs == [2, 4, 5, 5]


def test_a_probability_of_0_or_1_weighs_as_much_in_the_smooth_error_as_any_other() -> None:
    """relplot mirrors its grid without the end points, which halves what lies on them: half the samples are off by 0.5, so 0.25."""
    p, y = np.repeat([1.0, 0.5], 50), np.tile([1.0, 0.0], 50)
    assert smooth_ece(p, y) == pytest.approx(0.25, abs=1e-4)
    assert smooth_ece(1 - p, y) == pytest.approx(0.25, abs=1e-4)
    assert relplot.smECE(p, y) < 0.18


def test_the_smooth_error_is_that_of_the_event_not_of_the_likelier_of_both_answers() -> None:
    """torch-uncertainty takes max(p, 1 - p): saying 0.1 too little then looks too confident below 0.5, and the two gaps cancel."""
    rng = np.random.default_rng(0)
    p = np.repeat([0.2, 0.8], 50_000)
    y = rng.random(len(p)) < p + 0.1
    assert smooth_ece(p, y) == pytest.approx(0.1, abs=0.01)
    likelier, was_right = np.maximum(p, 1 - p), (p > 0.5) == y
    assert smooth_ece(likelier, was_right) < 0.02


def test_the_binned_error_is_that_of_the_event_not_of_the_likelier_of_both_answers() -> None:
    """What a "binary ECE" means is an open question in netcal (issue 25), and in MAPIE `y_true` means whether the answer was right."""
    p = np.repeat([0.2, 0.8], 10)
    y = np.tile([True, True, True, False, False, False, False, False, False, False], 2)
    y[10:] = ~y[:10] | (np.arange(10) < 2)
    assert ece(p, y) == pytest.approx(0.1)
    assert ece(1 - p, ~y) == pytest.approx(0.1)


def test_equal_probabilities_share_a_bin_and_every_bin_says_how_many_samples_it_has() -> None:
    """scikit-learn's calibration_curve makes 2 bins of the 10 asked for when 9 of 10 samples are tied, and gives no counts to see it by."""
    p = np.concatenate([np.full(900, 0.5), np.linspace(0.6, 0.9, 100)])
    y = np.arange(1000) % 2 == 0
    ours = reliability(p, y, bins=10, by=equal_mass)
    assert [b.n for b in ours] == [900, 100]
    assert (ours[0].low, ours[0].high) == (0.5, 0.5)
    theirs = calibration_curve(y, p, n_bins=10, strategy="quantile")
    assert [len(each) for each in theirs] == [2, 2]


def test_bins_without_samples_are_missing_in_plain_sight() -> None:
    """calibration_curve leaves them out too, but its caller can't tell which: it returns neither edges nor counts."""
    ours = reliability([0.05, 0.95], [False, True], by=equal_width)
    assert [(b.low, b.high, b.n) for b in ours] == [(0.05, 0.05, 1), (0.95, 0.95, 1)]
    rate, said = calibration_curve([False, True], [0.05, 0.95], n_bins=10)
    assert (len(rate), len(said)) == (2, 2)


def test_bin_counts_add_up_to_the_samples_exactly() -> None:
    """calipy lets 4 % of the samples be missing from the bins "because of unknown reasons"."""
    for seed in range(50):
        p, y = perfect(137, seed)
        for rounded in (p, p.round(2), p.round(1)):
            for by in (equal_width, equal_mass):
                bins = reliability(rounded, y, bins=7, by=by)
                assert sum(b.n for b in bins) == 137
                assert sum(b.positives for b in bins) == y.sum()


def test_the_error_of_quantile_bins_is_computed_from_them() -> None:
    """calipy presets it to -1 for quantile bins and overwrites that later."""
    p, y = overconfident(500, 0)
    quantiles = ece(p, y, bins=5, by=equal_mass)
    assert quantiles == pytest.approx(sum(b.n * abs(b.rate - b.mean) for b in reliability(p, y, bins=5)) / 500)
    assert quantiles != pytest.approx(ece(p, y, bins=5), abs=1e-4)


def test_the_published_10_bins_are_the_default_everywhere() -> None:
    """MAPIE's expected calibration error has 50 bins by default, scikit-learn's curve 5: not the numbers that papers print."""
    assert BINS == 10
    assert {inspect.signature(each).parameters["bins"].default for each in (ece, reliability, equal_width, equal_mass)} == {10}
    assert inspect.signature(calibration_curve).parameters["n_bins"].default == 5


def test_probabilities_are_not_rounded() -> None:
    """calipy rounds them to 7 decimals, which ties what is small."""
    p = np.array([1e-9, 2e-9, 3e-9, 4e-9])
    assert len(pooled(p, np.zeros(4)).p) == 4
    assert auc(p, [False, False, True, True]) == 1


def test_an_impossible_thing_that_happened_is_an_error_not_a_large_log_loss() -> None:
    """scikit-learn clips the probability to the smallest step of a float: the loss is then 36 nats, whatever was meant."""
    with pytest.raises(ValueError, match="infinite"):
        log_loss([0.0], [True])
    assert sk.log_loss([1], [0.0], labels=[0, 1]) == pytest.approx(36.04, abs=0.01)


def test_a_probability_that_is_not_a_number_or_outside_0_to_1_is_refused() -> None:
    """relplot gives an error of nan for one, and puts the other on its grid as if it were a probability."""
    for bad in (np.nan, -0.2):
        for metric in (ece, smooth_ece, brier, auc, aurc, kuiper_statistic, reliability, recalibrated):
            with pytest.raises(ValueError, match="outside"):
                metric([0.5, bad], [True, False])
    assert np.isfinite(relplot.smECE(np.array([0.5, -0.2]), np.array([1.0, 0.0])))


def test_an_interval_of_95_percent_is_one() -> None:
    """uncertainty-calibration takes the level of its bootstrap in percent where it documents a share: 0.1 gives 99.9 %, not 90 %."""
    rng = np.random.default_rng(0)
    p = rng.beta(1.2, 2.5, 4000)
    y = rng.random(4000) < p
    found = intervals(p, y, np.arange(4000)).brier
    error = np.std((p - y) ** 2) / np.sqrt(4000)
    assert found.high - found.low == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert found.low < found.value < found.high


def test_probabilities_that_are_too_timid_are_refuted_like_those_that_are_too_bold() -> None:
    """MAPIE's Spiegelhalter test is one-sided: probabilities too near 0.5 have Z far below 0, which it reports as a p-value of 1."""
    rng = np.random.default_rng(0)
    truth = rng.uniform(0.02, 0.98, 2000)
    found = spiegelhalter((truth + 0.5) / 2, rng.random(2000) < truth)
    assert found.statistic < -3
    assert found.p_value < 0.01


def test_the_walk_of_cumulative_differences_begins_at_0() -> None:
    """MAPIE takes the range of the sums after the first sample only: of one sample, or of one step up and none down, it sees too little."""
    assert kuiper_statistic([0.2], [True]) == pytest.approx(0.8 / 0.4)
    p, y = np.array([0.1, 0.3]), np.array([True, True])
    walk = np.cumsum(y - p)
    assert kuiper_statistic(p, y) == pytest.approx(walk[-1] / np.sqrt(0.09 + 0.21))
    assert walk.max() - walk.min() < walk[-1]


def test_equal_probabilities_are_one_step_not_a_random_order() -> None:
    """MAPIE breaks ties by a random jitter: a p-value that changes with its seed and the order of the rows."""
    p = np.repeat([0.3, 0.7], 50)
    y = np.concatenate([np.arange(50) < 15, np.arange(50) < 35])
    assert kuiper_statistic(p, y) == pytest.approx(0, abs=1e-12)
    assert kuiper(p, y) == kuiper(p[::-1], y[::-1])


def test_a_simulated_p_value_is_never_0() -> None:
    """The share of simulations alone is 0 as soon as none is as large, which no finite number of them can show."""
    p, y = overconfident(2000, 0)
    assert null_test(p, y, ece, simulations=19).p_value == 1 / 20


def test_the_isotonic_curve_does_not_depend_on_the_order_of_equal_probabilities() -> None:
    """Pool-adjacent-violators over sorted samples gives equal probabilities different rates unless they are pooled first."""
    p, y = np.full(4, 0.5), np.array([False, False, True, True])
    assert recalibrated(p, y).rate.tolist() == recalibrated(p, y[::-1]).rate.tolist() == [0.5]


def test_the_area_under_risk_and_coverage_does_not_depend_on_the_order_of_equal_probabilities() -> None:
    """The usual argsort of -p shows equal ones in the order of the rows: all right first is then perfect, all wrong first the worst."""
    p, y = np.full(10, 0.5), np.arange(10) < 5

    def by_rows(y: np.ndarray) -> float:
        return float((np.cumsum(~y) / np.arange(1, 11)).mean())

    assert by_rows(y[::-1]) > 3 * by_rows(y)
    assert aurc(p, y) == aurc(p, y[::-1]) == pytest.approx(0.5)


def test_the_best_order_has_no_excess_area() -> None:
    """Against the published limit r + (1 - r) ln(1 - r) a perfect order of 10 has some."""
    y = np.arange(10) < 5
    assert excess_aurc(y.astype(float), y) == 0
    assert aurc(y.astype(float), y) - (0.5 + 0.5 * np.log(0.5)) > 0.02


def test_metrics_change_no_warning_filter_of_the_process() -> None:
    """betacal's fit sets `warnings.filterwarnings("ignore")` for everybody; relplot sets one on import."""
    program = (
        "import warnings, numpy as np, scipy.optimize, scipy.sparse, scipy.special; before = list(warnings.filters)\n"
        "from assay.calibration.metrics import scores, bins, smooth, corp, null_tests, selective, intervals\n"
        "p, y = np.array([.2, .4, .6]), np.array([False, True, True]); groups = np.arange(3)\n"
        "scores.auc(p, y); bins.ece(p, y); smooth.smooth_ece(p, y); corp.decompose(p, y); null_tests.kuiper(p, y)\n"
        "null_tests.kuiper_by_group(p, y, groups, 9); null_tests.spiegelhalter_by_group(p, y, groups); selective.aurc(p, y)\n"
        "assert list(warnings.filters) == before\n"
    )
    subprocess.run([sys.executable, "-W", "default", "-c", program], check=True)

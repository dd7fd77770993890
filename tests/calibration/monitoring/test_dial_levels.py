from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_samples import world

from assay.calibration.fitting.fit import Fit, fit
from assay.calibration.metrics.bins import wilson
from assay.calibration.metrics.intervals import rate_interval
from assay.calibration.monitoring.dial_levels import POSITIONS, levels_of, levels_of_evidence


@pytest.fixture(scope="module")
def fitted() -> Fit:
    return fit(world(600)[0], "exact_match", resamples=50)


def test_what_the_evidence_says_of_a_position_is_what_the_held_out_samples_say(fitted: Fit) -> None:
    levels = levels_of_evidence(fitted.calibrator)
    assert [level.show_above for level in levels] == list(POSITIONS)
    told = [level for level in levels if level.shown is not None]
    assert len(told) >= 3
    for level in told:
        above = fitted.held_out >= level.show_above
        assert level.shown == above.sum()
        assert level.share == pytest.approx(above.mean())
        if level.right is None:
            assert level.shown < 25
        else:
            assert (level.right.n, level.right.positives) == (level.shown, fitted.labels[above].sum())
            assert level.right.value == pytest.approx(fitted.labels[above].mean())


def test_a_position_that_cuts_a_bin_and_has_no_row_is_not_known(fitted: Fit) -> None:
    bare = replace(fitted.calibrator, dial=())
    cut = {position for position in POSITIONS for one in bare.evidence.reliability if one.low < position <= one.high}
    assert cut
    for level in levels_of_evidence(bare):
        assert (level.shown is None) == (level.show_above in cut)
        assert level.right is None or (level.right.low, level.right.high) == (None, None)


def test_a_row_of_the_dial_brings_its_intervals(fitted: Fit) -> None:
    rows = {row.threshold: row for row in fitted.calibrator.dial if row.precision is not None and row.shown >= 25}
    found = [level for level in levels_of_evidence(fitted.calibrator) if level.show_above in rows]
    for level in found:
        precision = rows[level.show_above].precision
        assert (level.right.low, level.right.high) == (precision.low, precision.high)
    assert found


@given(st.integers(0, 2**32 - 1))
def test_counts_are_those_of_the_suggestions_and_little_is_never_said_to_be_much(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 200))
    p, groups = np.round(rng.random(n), 2), rng.integers(0, int(rng.integers(1, 12)), n)
    labels = [None if rng.random() < 0.5 else bool(rng.random() < value) for value in p]
    levels = levels_of(p, labels, np.ones(n, dtype=np.bool_), np.ones(n), groups)
    for level in levels:
        above = [i for i in range(n) if p[i] >= level.show_above]
        known = [i for i in above if labels[i] is not None]
        assert level.shown == len(above)
        assert level.share == len(above) / n
        enough = len(known) >= 25 and len({groups[i] for i in known}) >= 5
        assert enough or level.right is None
        if level.right is not None:
            assert level.right.n == len(known)
            assert level.right.positives == sum(labels[i] is True for i in known)
            assert level.right.value == pytest.approx(level.right.positives / level.right.n)
            assert 0 <= level.right.low <= level.right.value <= level.right.high <= 1


def test_what_was_shown_at_random_stands_for_what_was_not() -> None:
    groups = np.arange(300) % 10
    p = np.repeat([0.8, 0.2], 150)
    labels = [True] * 120 + [False] * 30 + [True] * 15 + [False] * 135
    every = levels_of(p, labels, np.ones(300, dtype=np.bool_), np.ones(300), groups)[0].right
    # of the unlikely ones a tenth is shown, and as often right
    kept = [*range(150), *range(150, 300, 10)]
    drawn = [labels[i] if i < 150 else i < 165 for i in kept]
    assert sum(drawn[150:]) == 2
    propensities = np.array([1.0 if i < 150 else 0.1 for i in kept])
    some = levels_of(p[kept], drawn, np.ones(165, dtype=np.bool_), propensities, groups[kept])[0].right
    assert every.value == 135 / 300
    assert some.value == pytest.approx((120 + 2 * 10) / 300)
    assert some.low < every.low  # fifteen say less than a hundred and fifty


@pytest.mark.parametrize(("propensity", "drawn", "said"), [(0.1, 15, True), (0.1, 0, False), (0.0, 0, False), (0.0, 15, False)])
def test_nothing_is_said_of_a_position_below_what_was_shown(propensity: float, drawn: int, said: bool) -> None:
    p = np.repeat([0.8, 0.2], 150)
    shown = np.arange(300) < 150 + drawn
    labels = [bool(i % 5) if shown[i] else None for i in range(300)]
    propensities = np.where(p == 0.8, 1.0, np.where(shown, 0.1, propensity))
    levels = levels_of(p, labels, shown, propensities, np.arange(300) % 10)
    assert [level.right is not None for level in levels] == [said] * 3 + [True] * 6 + [False]
    assert [level.shown for level in levels] == [300] * 3 + [150] * 6 + [0]


def test_the_interval_of_independent_samples_is_wilsons_but_for_the_quantile_and_wider_where_groups_are_alike() -> None:
    y = np.arange(2_000) % 4 == 0
    alone = rate_interval(y, np.arange(2_000))
    assert (alone.low, alone.high) == pytest.approx(wilson(500, 2_000), rel=2e-3)
    alike = rate_interval(np.sort(y), np.arange(2_000) // 100)
    assert alike.value == alone.value
    assert alike.high - alike.low > 5 * (alone.high - alone.low)

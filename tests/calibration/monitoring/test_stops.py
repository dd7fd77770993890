from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from synthetic_samples import world

from assay.calibration.calibrator import Calibrator
from assay.calibration.fitting.dial import DialRow
from assay.calibration.fitting.fit import Fit, fit
from assay.calibration.metrics.intervals import Interval
from assay.calibration.monitoring.dial_levels import Level, Right
from assay.calibration.monitoring.stops import MIN_LOGGED, TARGETS, Logged, Threshold, Together, threshold_of, together, words_of

LEVELS = tuple(k / 20 for k in range(20))


@pytest.fixture(scope="module")
def fitted() -> Fit:
    return fit(world(1500)[0], "exact_match", resamples=50)


def with_rows(calibrator: Calibrator, rows: dict[float, float]) -> Calibrator:
    """The calibrator with a dial of these thresholds, by their targets."""
    share, precision = Interval(0.1, 0.05, 0.2), Interval(0.8, 0.7, 0.9)
    return replace(calibrator, dial=tuple(DialRow(target, 0.0, 0.1, at, 100, share, precision) for target, at in rows.items()))


def logged(rights: dict[float, tuple[float, float, float]], labelled: int = 500) -> Logged:
    """A log with intervals (low, value, high) at some levels; nothing is known of the others."""
    levels = [
        Level(at, 400, 0.4, Right(100, round(100 * rights[at][1]), rights[at][1], rights[at][0], rights[at][2]) if at in rights else None)
        for at in LEVELS
    ]
    return Logged(labelled, 1000, tuple(levels))


def test_what_a_stop_shows_of_the_held_out_samples_is_right_as_often_as_it_says(fitted: Fit) -> None:
    for stop, target in TARGETS.items():
        found = threshold_of(fitted.calibrator, stop)
        above = fitted.held_out >= found.show_above
        assert (found.source, found.reaches, found.shown) == ("evidence", True, above.sum())
        assert fitted.labels[above].mean() == pytest.approx(found.right)
        assert fitted.labels[above].mean() >= target


def test_a_stop_shows_from_the_threshold_of_its_row_of_the_dial(fitted: Fit) -> None:
    calibrator = with_rows(fitted.calibrator, {0.4: 0.4, 0.5: 0.52, 0.6: 0.6})
    assert threshold_of(calibrator, "balanced") == Threshold(0.52, "evidence", True, calibrator.evidence.n, 100, 0.8)
    quiet = threshold_of(calibrator, "quiet")
    assert (quiet.show_above, quiet.reaches) == (0.6, False)  # none reaches three in four: what is surest is shown, and it is said
    assert threshold_of(calibrator, "everything").show_above == 0


def test_without_rows_the_probability_itself_counts(fitted: Fit) -> None:
    bare = replace(fitted.calibrator, dial=())
    found = {stop: threshold_of(bare, stop) for stop in TARGETS}
    assert [found[stop].show_above for stop in ("quiet", "balanced", "everything")] == [0.75, 0.5, 0.0]
    assert (found["quiet"].source, found["quiet"].right) == ("probability", None)


ROWS = {0.1: 0.1, 0.5: 0.3}


def moved(fitted: Fit, log: Logged) -> Threshold:
    return threshold_of(with_rows(fitted.calibrator, ROWS), "balanced", log)


def test_too_few_labels_move_nothing(fitted: Fit) -> None:
    refuting = {0.3: (0.1, 0.2, 0.3), 0.35: (0.6, 0.7, 0.8)}
    assert moved(fitted, logged(refuting, MIN_LOGGED - 1)).show_above == 0.3
    assert moved(fitted, logged(refuting, MIN_LOGGED)).show_above == 0.35


def test_the_evidence_stands_where_the_log_neither_refutes_nor_knows_it(fitted: Fit) -> None:
    unsure = moved(fitted, logged({0.3: (0.4, 0.48, 0.55), 0.25: (0.4, 0.48, 0.55)}))
    assert (unsure.show_above, unsure.source, unsure.right, unsure.reaches) == (0.3, "log", 0.48, True)
    assert moved(fitted, logged({0.5: (0.1, 0.2, 0.3)})).source == "evidence"
    assert moved(fitted, logged({})).source == "evidence"


def test_a_log_that_refutes_a_threshold_moves_it_up_and_one_that_confirms_lower_levels_moves_it_down(fitted: Fit) -> None:
    up = moved(fitted, logged({0.3: (0.2, 0.3, 0.4), 0.35: (0.3, 0.4, 0.49), 0.4: (0.4, 0.49, 0.6), 0.45: (0.6, 0.7, 0.8)}))
    assert (up.show_above, up.source) == (0.4, "log")
    down = moved(fitted, logged({0.3: (0.6, 0.7, 0.8), 0.25: (0.55, 0.6, 0.7), 0.2: (0.5, 0.55, 0.6), 0.15: (0.4, 0.5, 0.6)}))
    assert down.show_above == 0.2
    lost = moved(fitted, logged({0.3: (0.1, 0.2, 0.3), 0.35: (0.1, 0.2, 0.3), 0.6: (0.2, 0.3, 0.4)}))
    assert (lost.show_above, lost.reaches) == (0.6, False)


INTERVALS = st.lists(st.floats(0, 1), min_size=3, max_size=3).map(sorted)


@given(st.dictionaries(st.sampled_from(LEVELS), INTERVALS), st.sets(st.sampled_from(LEVELS[1:])))
@example({0.5: (0.0, 0.0, 0.0), 0.8: (0.0, 0.0, 0.0)}, set())
def test_quiet_never_shows_more_than_balanced(fitted: Fit, log: dict[float, tuple[float, float, float]], rows: set[float]) -> None:
    calibrator = with_rows(fitted.calibrator, {target: target for target in rows})
    for known in (None, logged(log)):
        quiet, balanced, everything = (threshold_of(calibrator, stop, known).show_above for stop in ("quiet", "balanced", "everything"))
        assert quiet >= balanced >= everything == 0


def test_stops_are_said_in_plain_words() -> None:
    def said(share: float, right: float | None, *, log: bool = False, reaches: bool = True) -> str:
        return words_of(Together("log" if log else "evidence", reaches, share, right), 0.5)

    assert said(0.11, 0.6) == "shows 1 in 9 suggestions; 6 of 10 of them right"
    assert said(0.72, 0.55, log=True) == "shows 7 of 10 suggestions; 6 of 10 of them kept"
    assert said(1.0, 0.06) == "shows all suggestions; 1 in 17 of them right"
    assert said(0.01, 0.3, reaches=False) == "shows 1 in 100 suggestions; 3 of 10 of them right (no level reaches 50 %)"
    assert said(0.0, None) == "shows no suggestions"
    thin = words_of(Together("probability", False, None, None), 0.75)
    assert thin == "shows what is at least 75 % likely, for the evidence is too thin to say more"


def test_calibrators_are_counted_together_those_that_the_log_knows_alone() -> None:
    held_out = [Threshold(0.3, "evidence", True, 1000, 100, 0.6), Threshold(0.1, "evidence", False, 3000, 900, 0.4)]
    assert together(held_out) == Together("evidence", False, 0.25, pytest.approx(0.42))
    known = Threshold(0.3, "log", True, 200, 50, 0.5)
    assert together([*held_out, known]) == Together("log", True, 0.25, 0.5)
    assert together([Threshold(0.5, "probability", False, 10, None, None)]) == Together("probability", False, None, None)
    assert together([]) is None

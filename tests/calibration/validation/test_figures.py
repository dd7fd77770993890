from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.calibration.metrics.intervals import Interval
from assay.calibration.validation.figures import Claim, figure, groups_to_decide, not_run, only_with_skill, problem_of, reading_of

CLAIMS = ("> 0", "<= 0.05", "within ±0.05")
numbers = st.floats(-1, 1)


@pytest.mark.parametrize(
    ("claim", "low", "high", "reading"),
    [
        ("> 0", 0.01, 0.2, "holds"),
        ("> 0", -0.2, 0.0, "refuted"),
        ("> 0", 0.0, 0.2, "undecided"),
        ("<= 0.05", 0.0, 0.05, "holds"),
        ("<= 0.05", 0.051, 0.2, "refuted"),
        ("<= 0.05", 0.05, 0.2, "undecided"),
        ("within ±0.05", -0.05, 0.05, "holds"),
        ("within ±0.05", -0.2, -0.06, "refuted"),
        ("within ±0.05", -0.06, 0.06, "undecided"),
        ("reaches 0.95", 0.6, 0.95, "holds"),
        ("reaches 0.95", 0.6, 0.94, "refuted"),
        ("not below 0", 0.1, 0.2, "reported"),
        ("not below 0", -0.2, -0.1, "refuted"),
    ],
)
def test_a_claim_is_read_by_the_whole_interval(claim: str, low: float, high: float, reading: str) -> None:
    assert reading_of(claim, Interval((low + high) / 2, low, high), 5) == reading
    assert reading_of(claim, Interval((low + high) / 2, low, high), 4) == "undecided"


def test_without_a_claim_a_number_is_reported_and_without_an_interval_undecided() -> None:
    assert reading_of("", None, 3) == "reported"
    assert reading_of("> 0", None, 30) == "undecided"


@pytest.mark.parametrize("text", ["", "0", ">0", "> x", "within 0.05", "> ±0.05", ">= 0", "<= 0.05 "])
def test_what_is_no_claim_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="claim: "):
        Claim.of(text)


@given(st.sampled_from(CLAIMS), numbers, st.floats(0.001, 1), st.integers(5, 200))
def test_the_groups_that_would_decide_decide_and_half_as_many_do_not(claim: str, value: float, half: float, groups: int) -> None:
    now = Interval(value, value - half, value + half)
    assume(reading_of(claim, now, groups) == "undecided")
    wanted = groups_to_decide(claim, now, groups)
    assume(wanted is not None)

    def with_groups(count: float) -> str:
        narrow = half * (groups / count) ** 0.5
        return reading_of(claim, Interval(value, value - narrow, value + narrow), 5)

    assert with_groups(wanted * 1.001) != "undecided"
    assert with_groups(wanted / 2) == "undecided"


def test_an_undecided_figure_says_how_many_groups_would_decide() -> None:
    found = figure("K1", Interval(0.1, -0.1, 0.3), 400, 20, "project", "> 0", "a note")
    assert (found.reading, found.note) == ("undecided", "a note; about 80 projects would decide")
    few = figure("K1", Interval(0.1, 0.05, 0.15), 40, 3, "project", "> 0")
    assert (few.reading, few.note) == ("undecided", "3 projects, and 5 are the least; about 5 projects would decide")
    edge = figure("K1", Interval(0.0, -0.1, 0.1), 40, 8, "problem", "> 0")
    assert edge.note == "it lies on the edge, and no number would decide"
    assert figure("K1", None, 40, 8, "file", "> 0").note == "these labels of 8 files give no number with an interval"


def test_what_the_base_rate_would_satisfy_holds_only_where_skill_is_shown() -> None:
    found = figure("K2", Interval(0.01, 0.0, 0.03), 400, 20, "project", "<= 0.05")
    assert only_with_skill(found, True) == found
    assert only_with_skill(found, False).reading == "undecided"
    refuted = figure("K2", Interval(0.1, 0.08, 0.13), 400, 20, "project", "<= 0.05")
    assert only_with_skill(refuted, False) == refuted


@given(st.sampled_from((*CLAIMS, "reaches 0.95", "not below 0", "")), numbers, st.floats(0, 1), st.integers(0, 40), st.booleans())
def test_no_figure_that_is_made_here_has_a_problem(claim: str, value: float, half: float, groups: int, skill: bool) -> None:
    made = figure("K1", Interval(value, value - half, value + half), 50, groups, "project", claim)
    assert problem_of(only_with_skill(made, skill)) == ""
    assert problem_of(figure("K1", None, 50, groups, "project", claim)) == ""
    assert problem_of(not_run("K1", claim, "no samples")) == ""


def test_a_figure_that_claims_more_than_its_numbers_has_a_problem() -> None:
    made = figure("K1", Interval(0.1, -0.1, 0.3), 400, 20, "project", "> 0")
    assert "its claim say 'undecided'" in problem_of(replace(made, reading="holds"))
    assert "value, low and high" in problem_of(replace(made, low=None))
    assert "low" in problem_of(replace(made, low=0.4))
    assert "groups" in problem_of(replace(made, groups=500))
    assert "claim" in problem_of(replace(made, claim="at least 0"))
    assert "not run" in problem_of(replace(made, reading="not run"))

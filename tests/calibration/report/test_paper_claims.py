from __future__ import annotations

import pytest

from assay.calibration.report.cells import Cell
from assay.calibration.report.paper_claims import MAX_SHOWN, Asked, Rule, Verdict, claim_of, widened

POSITIVE = Rule("above 0", above=0.0)


@pytest.mark.parametrize(
    ("low", "high", "verdict"), [(0.01, 0.2, "confirmed"), (-0.2, -0.01, "refuted"), (-0.1, 0.1, "undecided"), (0.0, 0.1, "undecided")]
)
def test_a_rule_holds_only_for_the_whole_interval(low: float, high: float, verdict: Verdict) -> None:
    assert POSITIVE.verdict(Cell("a", (low + high) / 2, low, high)) == verdict


def test_a_range_is_refuted_on_either_side_and_a_number_without_an_interval_is_its_own() -> None:
    within = Rule("within", above=-0.05, below=0.05)
    assert within.verdict(Cell("a", 0.1, 0.06, 0.2)) == within.verdict(Cell("a", -0.1, -0.2, -0.06)) == "refuted"
    assert within.verdict(Cell("a", 0.01)) == "confirmed"
    assert within.verdict(Cell("a", 0.05)) == "refuted"
    assert within.verdict(Cell("a")) == "not run"


def test_few_groups_decide_nothing() -> None:
    assert POSITIVE.verdict(Cell("a", 0.2, 0.1, 0.3, n=900, groups=4)) == "undecided"
    assert POSITIVE.verdict(Cell("a", 0.2, 0.1, 0.3, n=900, groups=5)) == "confirmed"
    assert POSITIVE.verdict(Cell("a", 0.2, n=2, groups=2)) == "undecided", "a number without an interval, too"


@pytest.mark.parametrize("by", ["file", "sample"])
def test_many_files_or_samples_of_too_few_projects_decide_nothing(by: str) -> None:
    assert POSITIVE.verdict(Cell("a", 0.2, 0.1, 0.3, n=900, groups=50, grouped_by=by)) == "undecided"
    assert POSITIVE.verdict(Cell("a", 0.2, n=900, groups=50, grouped_by=by)) == "undecided"


def test_an_interval_without_width_decides_nothing() -> None:
    assert POSITIVE.verdict(Cell("a", 0.0, 0.0, 0.0, n=900, groups=9)) == "undecided"


def claimed(**cells: tuple[float, float]) -> tuple[Verdict, str]:
    found = {name: Cell(name, sum(ends) / 2, *ends) for name, ends in cells.items()}
    claim = claim_of("C", "a claim", "paper", POSITIVE, [(name, name) for name in (*found, "absent")], found)
    assert claim.cells == tuple(found)
    return claim.verdict, claim.ours


def test_a_claim_about_several_numbers_is_refuted_by_one_and_confirmed_by_all() -> None:
    good, bad, open_ = (0.1, 0.3), (-0.3, -0.1), (-0.1, 0.1)
    assert claimed() == ("not run", "")
    assert claimed(a=good, b=good) == ("confirmed", "a 0.200 (0.100 to 0.300); b 0.200 (0.100 to 0.300)")
    assert claimed(a=good, b=open_) == ("undecided", "b 0.000 (-0.100 to 0.100); undecided in 1 of 2")
    assert claimed(a=good, b=open_, c=bad) == ("refuted", "c -0.200 (-0.300 to -0.100); refuted in 1 of 3")


def test_of_many_numbers_the_first_are_shown_and_all_are_counted() -> None:
    verdict, ours = claimed(**{f"a{k}": (0.1, 0.3) for k in range(20)})
    assert verdict == "confirmed"
    assert ours.count("(") == MAX_SHOWN
    assert ours.endswith("confirmed in 20 of 20")


def test_intervals_of_several_numbers_hold_for_all_of_them_together() -> None:
    one = Cell("a", 0.5, 0.4, 0.6, n=400, groups=20)
    wide = widened(one, 10)
    assert widened(one, 1) == one
    assert (wide.low, wide.high) == (pytest.approx(0.348, abs=0.001), pytest.approx(0.652, abs=0.001))
    barely = (0.001, 0.3)
    assert claimed(a=barely)[0] == "confirmed"
    assert claimed(a=barely, b=barely)[0] == "undecided"


def test_answers_that_can_not_be_read_or_are_no_judgement_decide_nothing() -> None:
    cells = {"a": Cell("a", 0.2, 0.1, 0.3), "bad": Cell("bad", 0.06), "good": Cell("good", 0.05), "coin": Cell("coin", 0.5, 0.4, 0.6)}

    def verdict(asked: Asked) -> tuple[Verdict, str]:
        found = claim_of("C", "a claim", "paper", POSITIVE, [("it", "a")], cells, {"it": asked})
        return found.verdict, found.ours

    assert verdict(Asked(("good", "not run")))[0] == "confirmed"
    assert verdict(Asked(("bad", "good"))) == ("undecided", "it 0.200 (0.100 to 0.300) (6% of the answers can't be read)")
    assert verdict(Asked(("good",), "coin"))[1].endswith("(it is not shown to judge better than a coin)")

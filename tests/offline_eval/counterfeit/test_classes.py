"""Which texts are counterfeits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.analysis.oracle.profile import ProfiledTest, summed_up
from assay.offline_eval.counterfeit.classes import RULES, Class, Outcomes, Rule, class_of


@pytest.mark.parametrize(
    ("tested", "kept", "wrong", "parses"),
    [
        (Outcomes(True, "passed", 4, 4), "right", "right", "right"),
        (Outcomes(True), "right", "right", "right"),
        (Outcomes(False, "unparsed"), "other", "other", "other"),
        (Outcomes(False, "wrong", 1, 10), "counterfeit", "counterfeit", "counterfeit"),
        (Outcomes(False, "wrong", 0, 1), "other", "counterfeit", "counterfeit"),
        (Outcomes(False, "crash", 1, 11), "other", "other", "counterfeit"),
        (Outcomes(False, "crash", 9, 10), "counterfeit", "other", "counterfeit"),
        (Outcomes(None, None, 3, 5), None, None, None),
    ],
)
def test_each_rule_says_what_looks_right(tested: Outcomes, kept: Class, wrong: Class, parses: Class) -> None:
    expected: dict[Rule, Class] = {"kept": kept, "wrong": wrong, "parses": parses}
    assert {rule: class_of(tested, rule) for rule in RULES} == expected


@given(st.lists(st.sampled_from(["as_before", "wrong", "crash"]), min_size=1, max_size=30))
def test_the_share_agrees_with_that_of_the_oracles_profile(outcomes: list[str]) -> None:
    tests = [
        ProfiledTest(f"t{i}", "as_before", "passed") if said == "as_before" else ProfiledTest(f"t{i}", "changed", said)  # type: ignore[arg-type]
        for i, said in enumerate(outcomes)
    ]
    profile = summed_up(tests, 0, 0.0, "process", infrastructure=False)
    tested = Outcomes(profile.tests_pass, profile.error, outcomes.count("as_before"), len(outcomes))
    assert tested.share == profile.share_kept

"""Which texts are counterfeits."""

from __future__ import annotations

import pytest

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

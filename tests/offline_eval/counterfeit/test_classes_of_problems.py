from __future__ import annotations

import pytest

from assay.offline_eval.counterfeit.problems.programs import PassShares, class_of


@pytest.mark.parametrize(
    ("base", "plus", "strict", "benchmark"),
    [
        (1.0, 1.0, "right", "right"),
        (1.0, 0.95, "counterfeit", "right"),
        (1.0, 0.94, "counterfeit", "counterfeit"),
        (0.9, 1.0, "counterfeit", "counterfeit"),
        (0.9, 0.11, "counterfeit", "counterfeit"),
        (0.9, 0.10, "other", "other"),
        (0.0, 0.0, "other", "other"),
    ],
)
def test_a_program_is_right_by_all_tests_or_by_95_percent_of_evalplus(base: float, plus: float, strict: str, benchmark: str) -> None:
    tested = PassShares(base, plus)
    assert (class_of("humaneval", tested, "strict"), class_of("humaneval", tested, "benchmark")) == (strict, benchmark)


def test_a_wrong_program_for_odex_is_a_counterfeit_if_it_parses_and_is_short() -> None:
    assert class_of("odex", PassShares(0.0, None, True, 499), "strict") == "counterfeit"
    assert class_of("odex", PassShares(0.5, None, True, 500), "strict") == "other"
    assert class_of("odex", PassShares(0.5, None, False, 9), "strict") == "other"
    assert class_of("odex", PassShares(1.0, None, True, 900), "strict") == "right"

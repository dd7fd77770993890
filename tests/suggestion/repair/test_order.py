from __future__ import annotations

import math

from assay.suggestion.repair.order import by_gain, by_gain_and_size


def test_what_gains_more_comes_first_and_what_has_no_gain_last() -> None:
    small, large = {"logprob_gain": 1.0, "edit_size": 1.0}, {"logprob_gain": 9.0, "edit_size": 40.0}
    assert by_gain(large) > by_gain(small) > by_gain({"edit_size": 1.0}) == -math.inf


def test_a_small_edit_may_gain_less() -> None:
    small, large = {"logprob_gain": 1.0, "edit_size": 1.0}, {"logprob_gain": 9.0, "edit_size": 40.0}
    assert by_gain_and_size(small) > by_gain_and_size(large)
    assert by_gain_and_size({"edit_size": 1.0}) == -math.inf

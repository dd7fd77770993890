from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from assay.calibration.arrays import sigmoid
from assay.offline_eval.calibration.recorded.draws import assertions, own_test
from assay.offline_eval.calibration.recorded.scaling import (
    Measured,
    all_scores,
    of_measure,
    of_shares,
    platt_out_of_fold,
    random_folds,
)


def test_each_distinct_plain_assertion_of_a_text_is_found_once() -> None:
    first = (
        "\n    f([], 1) == False, 'Empty'\nassert \n    f([1, 2],   1) == (1, 'a')\nassert f([], 1)==False\nassert not f(-1.5)\nassert f("
    )
    second = "f([], 1) == False\n\ndef g():\n    assert f(9)"
    assert assertions([first, second, "\n", "____ == ____"], "f") == [
        "f([], 1) == False",
        "f([1, 2], 1) == (1, 'a')",
        "not f(-1.5)",
        "f(9)",
    ]
    assert assertions(["f(1) == 2\nx = f(3)\n", "f(1) == 3\nprint(f(4))"], "f") == ["f(1) == 2", "f(1) == 3"], "nothing of other code"


@pytest.mark.parametrize(
    "text",
    [
        "f(__import__('os').system('true')) == 0",
        "f(1).real == 1",
        "[f(x) for x in range(3)] == []",
        "f(lambda: 1) == 1",
        "f(2 ** 9999999) == 1",
        "sorted([1], key=f) == [1]",
        "(y := f(1)) == 1",
        "f('" + "a" * 3000 + "') == 1",
    ],
)
def test_what_could_do_more_than_call_and_compare_is_left_out(text: str) -> None:
    assert assertions([text], "f") == []


def test_the_test_reports_a_mark_for_each() -> None:
    namespace: dict[str, object] = {"f": lambda x: 1 // x}
    exec(own_test(["f(1) == 1", "f(0) == 0", "f(2) == 1"]), namespace)
    assert namespace["test_report"] == "100"


def made(seed: int, n: int = 300, offset: float = 0.0) -> Measured:
    rng = np.random.default_rng(seed)
    votes = rng.integers(1, 11, n)
    right = rng.random(n) < sigmoid(offset + 0.8 * np.log((votes + 0.5) / (10.5 - votes)))
    return of_shares("made", votes, np.full(n, 10), right, np.arange(n))


def test_no_answer_is_judged_by_a_map_that_has_seen_it() -> None:
    fitted_on, used_on, fold = made(1), made(2), random_folds(300)
    p = platt_out_of_fold(fitted_on, used_on, fold)
    turned = replace(fitted_on, right=fitted_on.right ^ (fold == 2))
    other = platt_out_of_fold(turned, used_on, fold)
    assert np.array_equal(p[fold == 2], other[fold == 2])
    assert not np.isclose(p[fold != 2], other[fold != 2]).any()
    assert np.bincount(fold).tolist() == [60] * 5


def test_folds_by_problem_keep_the_answers_to_a_problem_together_and_random_ones_do_not() -> None:
    # the measure tells which problem it is, and nothing else: only a map that has seen the problem can use it
    problem = np.repeat(np.arange(40), 25)
    right = np.random.default_rng(0).random(40)[problem] < 0.5
    x = np.random.default_rng(1).permutation(40)[problem].astype(float)
    found = Measured("identity", np.full(1000, 0.5), x[:, None], right, problem)
    raw, by_chance, by_problem = all_scores(found)
    assert (raw.n, raw.problems, raw.positives) == (1000, 40, int(right.sum()))
    assert (raw.said, raw.way, by_chance.way, by_problem.way) == (0.5, "raw", "random folds", "by problem")
    assert by_chance.intervals.skill is not None
    assert by_problem.intervals.skill is not None
    assert by_problem.intervals.skill.value < by_chance.intervals.skill.value


def test_a_measure_is_a_probability_as_it_is_and_its_log_odds_are_finite() -> None:
    rows = [("Set/0", 0.0, False), ("Set/0", 0.5, False), ("Set/1", 1.0, True)]
    found, total = of_measure("verbalised", rows), of_measure("total_logprob", [("Set/0", -1e4, False), ("Set/1", 0.0, True)])
    shares = of_shares("", np.array([10, 5, 0]), np.full(3, 10), np.array([True, False, True]), np.arange(3))
    assert shares.log_odds[:, 0].tolist() == pytest.approx([np.log(21), 0.0, -np.log(21)])
    assert (found.name, found.raw.tolist(), found.problem.tolist()) == ("verbalised", [0.0, 0.5, 1.0], [0, 0, 1])
    assert (total.name, total.raw.tolist()) == ("p_tot", [0.0, 1.0])
    assert found.right.tolist() == [False, False, True]
    assert np.isfinite([*found.log_odds, *total.log_odds]).all()

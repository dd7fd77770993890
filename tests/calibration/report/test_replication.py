from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from needs import DATA, needs_data

from assay.calibration.arrays import sigmoid
from assay.calibration.metrics.bins import ece, ece_noise_floor
from assay.calibration.metrics.intervals import intervals
from assay.calibration.metrics.scores import auc, skill
from benchmarks.replication import (
    PUBLISHED,
    Run,
    World,
    change,
    folds,
    hashable,
    literal,
    platt_out_of_fold,
    recorded_runs,
    run_of,
)

SCRIPT = Path(__file__).parents[3] / "benchmarks" / "replication.py"
pytestmark = needs_data("cruxeval", "cruxeval-model-outputs", fixture="runs")

atoms = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.floats(-1, 1), st.text("ab", max_size=2), st.binary(max_size=1))
keys = st.one_of(atoms, st.tuples(atoms))
values = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.tuples(inner, inner), st.sets(keys, max_size=2), st.dictionaries(keys, inner, max_size=2)
    ),
    max_leaves=6,
)


@given(values, values)
def test_two_literals_are_one_answer_exactly_where_python_calls_them_equal(a: Any, b: Any) -> None:
    assert (hashable(a) == hashable(b)) == (a == b)
    if a == b:
        assert hash(hashable(a)) == hash(hashable(b))


def test_order_counts_in_lists_and_not_in_sets_and_dicts() -> None:
    assert literal("{1: [2], 3: 4}") == literal("{3: 4, True: [2.0]}")
    assert literal("{'a', 'b', 'c'}") == literal("{'c', 'b', 'a'}")
    assert literal("[1, 2]") not in (literal("[2, 1]"), literal("(1, 2)"), literal("{1, 2}"), literal("'[1, 2]'"))


@given(values)
def test_a_literal_is_read_however_it_is_spaced(value: Any) -> None:
    assert literal(f"  {value!r} ") == hashable(value)


@pytest.mark.parametrize(
    "text", ["", "f(1)", "'a' * 3", "open('made', 'w')", "[" * 2000, "11. Finally, the answer", "{[]}", "\0", "9" * 5000]
)
def test_what_is_no_literal_is_neither_read_nor_executed(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert literal(text) is None
    assert not list(tmp_path.iterdir())


def recorded(*answers: list[str], wrongly: int = 0) -> dict[str, Any]:
    labels = {f"sample_{i}": [text.strip() == "[1, 2]" for text in texts] for i, texts in enumerate(answers)}
    for texts in list(labels.values())[:wrongly]:
        texts[0] = not texts[0]
    return {"raw_generations": {f"sample_{i}": texts for i, texts in enumerate(answers)}, "raw_scored_generations": labels}


def judged(*answers: list[str], wrongly: int = 0) -> Run:
    return run_of("some", {f"sample_{i}": "[1,2]" for i in range(len(answers))}, recorded(*answers, wrongly=wrongly))


def test_answers_that_say_the_same_value_vote_together() -> None:
    run = judged(["[1, 2]", "[1,2]", "[True, 2.0]", "3", "3"])
    assert (run.votes.tolist(), run.right.tolist(), run.right_answers.tolist()) == ([3], [True], [3])
    assert (run.unparsed, run.tied, run.relabelled) == (0, 0, 2)


def test_an_answer_that_is_no_literal_votes_by_its_text_and_is_wrong() -> None:
    run = judged(["[1] + [2]", " [1] + [2]", "[1] + [3]", "[1, 2]"])
    assert (run.votes.tolist(), run.right.tolist(), run.unparsed) == ([2], [False], 3)


def test_of_a_tie_the_answer_that_stands_first_wins() -> None:
    run = judged(["3", "[1, 2]", "[1, 2]", "3"], ["[1, 2]", "3", "4", "5"], ["3"] * 4)
    assert (run.votes.tolist(), run.right.tolist()) == ([2, 1, 4], [False, True, False])
    assert (run.tied, run.right_by_lot) == (2, pytest.approx((1 / 2 + 1 / 4 + 0) / 3))


def test_labels_that_the_recorded_evaluation_gives_otherwise_are_counted() -> None:
    assert judged(["[1, 2]", "3"], ["3", "[1, 2]"], wrongly=2).relabelled == 2


def test_a_function_with_another_number_of_answers_is_refused() -> None:
    with pytest.raises(ValueError, match="1 answers to sample_1 and 2"):
        judged(["1", "2"], ["1"])


def test_pass_at_k_is_the_share_of_all_draws_of_k_that_hold_a_right_answer() -> None:
    run = judged(["[1, 2]", "[1, 2]", "3", "4", "5"], ["3"] * 5)
    assert run.pass_at(1) == pytest.approx(2 / 5 / 2)
    assert run.pass_at(2) == pytest.approx((1 - 3 / 10) / 2)


def test_log_odds_of_votes_are_finite_and_mirror_each_other() -> None:
    run = judged(["1"] * 10, ["1"] * 5 + ["2"] * 5)
    assert run.log_odds[:, 0].tolist() == pytest.approx([np.log(10.5 / 0.5), 0.0])


def made(seed: int, n: int = 300, offset: float = 0.0) -> Run:
    rng = np.random.default_rng(seed)
    votes = rng.integers(1, 11, n)
    right = rng.random(n) < sigmoid(offset + 0.8 * np.log((votes + 0.5) / (10.5 - votes)))
    return Run("made", 10, votes, right, right * votes, 0, 0.0, 0, 0)


def test_no_function_is_judged_by_a_map_that_has_seen_it() -> None:
    fitted_on, used_on, fold = made(1), made(2), folds(300)
    p = platt_out_of_fold(fitted_on, used_on, fold)
    turned = Run("", 10, fitted_on.votes, fitted_on.right ^ (fold == 2), fitted_on.right_answers, 0, 0.0, 0, 0)
    other = platt_out_of_fold(turned, used_on, fold)
    assert np.array_equal(p[fold == 2], other[fold == 2])
    assert not np.isclose(p[fold != 2], other[fold != 2]).any()
    assert np.bincount(fold).tolist() == [60] * 5


def test_a_map_of_another_model_loses_skill_that_its_own_map_has() -> None:
    y = (used_on := made(3, 2000, offset=1.5)).right
    own, foreign = (platt_out_of_fold(run, used_on, folds(2000)) for run in (used_on, made(4, 2000, offset=-1.5)))
    lost = change(own, foreign, y)
    assert lost.skill is not None
    assert lost.auc is not None
    assert lost.skill.high < -0.2
    assert lost.skill.value == pytest.approx(skill(foreign, y) - skill(own, y))
    assert lost.auc.high == pytest.approx(0, abs=0.02)


def test_a_share_of_all_votes_that_is_wrong_is_judged_all_the_same() -> None:
    y = np.arange(20) < 10
    share = np.where(np.arange(20) < 8, 1.0, 0.3)
    share[19] = 1.0
    changed = change(share, np.full(20, 0.5), y)
    assert changed.skill is not None
    assert changed.skill.value == pytest.approx(-skill(share, y), abs=1e-6)


@pytest.mark.parametrize("base_rate", [0.33, 0.72])
@pytest.mark.parametrize("value", [0.05, 0.3])
def test_a_world_has_the_base_rate_skill_and_width_that_it_says(base_rate: float, value: float) -> None:
    world = World.of(base_rate, value)
    rng = np.random.default_rng(0)
    q = sigmoid(rng.normal(world.centre, world.spread, 400_000))
    y = rng.random(len(q)) < q
    assert y.mean() == pytest.approx(base_rate, abs=0.003)
    assert skill(q, y) == pytest.approx(value, abs=0.006)
    assert auc(q, y) == pytest.approx(world.auc(), abs=0.003)
    assert world.half_width(800, 1000) == pytest.approx(1.96 * world.skill_deviation() / np.sqrt(800), rel=0.12)


def test_a_folder_without_the_data_is_refused_in_a_line_that_names_what_is_missing(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, SCRIPT, "--data", tmp_path], capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (2, "")
    assert f"{tmp_path / 'cruxeval' / 'cruxeval.jsonl'} is missing" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.fixture(scope="module")
def runs() -> dict[str, Run]:
    return {run.name: run for run in recorded_runs(DATA)}


@pytest.mark.parametrize("name", PUBLISHED)
def test_recorded_answers_pass_as_often_as_was_published(runs: dict[str, Run], name: str) -> None:
    run, (k, published) = runs[name], PUBLISHED[name]
    assert len(run.right) == 800
    assert run.drawn == 10
    assert run.relabelled <= 5
    assert 100 * run.pass_at(k) == pytest.approx(published, abs=0.1)


@pytest.mark.parametrize("name", PUBLISHED)
def test_platt_scaling_makes_the_vote_share_of_recorded_answers_honest(runs: dict[str, Run], name: str) -> None:
    run = runs[name]
    p = platt_out_of_fold(run, run, folds(800))
    found = intervals(p, run.right, np.arange(800))
    assert found.skill is not None
    assert found.skill.low > 0.1
    assert found.calibration_error.low == 0
    assert ece(p, run.right) < 2 * ece_noise_floor(p)
    gained = change(run.share, p, run.right).skill
    assert gained is not None
    assert gained.high > 0


def test_a_map_fails_on_another_temperature_of_the_very_model_it_was_fitted_on(runs: dict[str, Run]) -> None:
    cold, warm = runs["codellama-34b_temp0.2"], runs["codellama-34b_temp0.8"]
    for fitted_on, used_on in ((cold, warm), (warm, cold)):
        own, foreign = (platt_out_of_fold(run, used_on, folds(800)) for run in (used_on, fitted_on))
        lost = change(own, foreign, used_on.right).skill
        assert lost is not None
        assert lost.high < -0.05

from __future__ import annotations

import numpy as np
import pytest
from needs import DATA, needs_data

from assay.calibration.metrics.bins import ece, ece_noise_floor
from assay.calibration.metrics.intervals import intervals
from assay.offline_eval.calibration.recorded.labelled import Votes, votes_of
from assay.offline_eval.calibration.recorded.scaling import change, platt_out_of_fold, random_folds
from assay.offline_eval.errors import UsageError
from assay.offline_eval.recorded.answers import Recorded, RecordedAnswer
from assay.offline_eval.recorded.formats import recorded
from assay.offline_eval.sets.problem import Problem
from assay.offline_eval.sets.problems import problems

# pass@1 of CRUXEval-O at temperature 0.2 and pass@5 at 0.8, as the README of github.com/facebookresearch/cruxeval says at 10d71b4.
PUBLISHED = {
    "codellama-34b_temp0.2": (1, 42.4),
    "codellama-34b_temp0.8": (5, 55.9),
    "deepseek-instruct-33b_temp0.8": (5, 61.8),
    "gpt-3.5-turbo-0613+cot_temp0.8": (5, 76.7),
}
pytestmark = needs_data("cruxeval", "cruxeval-model-outputs", fixture="runs")


def judged(*answers: list[str], wrongly: int = 0) -> Votes:
    made = [
        RecordedAnswer(f"sample_{i}", "execute", n, text, labels={"tests_pass": (text.strip() == "[1, 2]") ^ (n == 0 and i < wrongly)})
        for i, texts in enumerate(answers)
        for n, text in enumerate(texts)
    ]
    asked = [Problem(f"sample_{i}", "cruxeval", "execution", "python", "", "", "", "[1,2]") for i in range(len(answers))]
    return votes_of(Recorded("some", "", "", "", {answer.key: answer for answer in made}), asked)


def votes(run: Votes) -> list[float]:
    return (run.share.raw * run.drawn).tolist()


def test_answers_that_say_the_same_value_vote_together() -> None:
    run = judged(["[1, 2]", "[1,2]", "[True, 2.0]", "3", "3"])
    assert (votes(run), run.share.right.tolist(), run.right_answers.tolist()) == (pytest.approx([3]), [True], [3])
    assert (run.unparsed, run.tied, run.relabelled) == (0, 0, 2)


def test_an_answer_that_is_no_literal_votes_by_its_text_and_is_wrong() -> None:
    run = judged(["[1] + [2]", " [1] + [2]", "[1] + [3]", "[1, 2]"])
    assert (votes(run), run.share.right.tolist(), run.unparsed) == ([2], [False], 3)
    assert judged(["[1, 2]", "3"], ["3", "[1, 2]"], wrongly=2).relabelled == 2


def test_a_function_with_another_number_of_answers_is_refused() -> None:
    with pytest.raises(UsageError, match="1 answers to sample_1 and 2"):
        judged(["1", "2"], ["1"])
    with pytest.raises(UsageError, match="some has no answers to anything"):
        judged()


def test_pass_at_k_is_the_share_of_all_draws_of_k_that_hold_a_right_answer() -> None:
    run = judged(["[1, 2]", "[1, 2]", "3", "4", "5"], ["3"] * 5)
    assert run.pass_at(1) == pytest.approx(2 / 5 / 2)
    assert run.pass_at(2) == pytest.approx((1 - 3 / 10) / 2)


@pytest.fixture(scope="module")
def runs() -> dict[str, Votes]:
    asked = problems("cruxeval", DATA / "cruxeval" / "cruxeval.jsonl")
    files = [DATA / "cruxeval-model-outputs" / f"{name}_output.json.gz" for name in PUBLISHED]
    return {run.name: run for run in (votes_of(recorded(file), asked) for file in files)}


@pytest.mark.parametrize("name", PUBLISHED)
def test_recorded_answers_pass_as_often_as_was_published(runs: dict[str, Votes], name: str) -> None:
    run, (k, published) = runs[name], PUBLISHED[name]
    assert len(run.share.right) == 800
    assert run.drawn == 10
    assert run.relabelled <= 5
    assert 100 * run.pass_at(k) == pytest.approx(published, abs=0.1)


@pytest.mark.parametrize("name", list(PUBLISHED)[:2])
def test_platt_scaling_makes_the_vote_share_of_recorded_answers_honest(runs: dict[str, Votes], name: str) -> None:
    share = runs[name].share
    p = platt_out_of_fold(share, share, random_folds(800))
    found = intervals(p, share.right, np.arange(800))
    assert found.skill is not None
    assert found.skill.low > 0.1
    assert found.calibration_error.low == 0
    assert ece(p, share.right) < 2 * ece_noise_floor(p)
    gained = change(share.raw, p, share).skill
    assert gained is not None
    assert gained.high > 0


def test_a_map_fails_on_another_temperature_of_the_very_model_it_was_fitted_on(runs: dict[str, Votes]) -> None:
    cold, warm = runs["codellama-34b_temp0.2"].share, runs["codellama-34b_temp0.8"].share
    for fitted_on, used_on in ((cold, warm), (warm, cold)):
        own, foreign = (platt_out_of_fold(run, used_on, random_folds(800)) for run in (used_on, fitted_on))
        lost = change(own, foreign, used_on).skill
        assert lost is not None
        assert lost.high < -0.05

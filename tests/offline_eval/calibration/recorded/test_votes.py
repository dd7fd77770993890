from __future__ import annotations

import numpy as np
import pytest
from needs import DATA, needs_data

from assay.calibration.metrics.bins import ece, ece_noise_floor
from assay.calibration.metrics.intervals import intervals
from assay.offline_eval.calibration.recorded.labelled import Ballot, ballots_of, vote_share
from assay.offline_eval.calibration.recorded.scaling import Measured, change, platt_out_of_fold, random_folds
from assay.offline_eval.errors import UsageError
from assay.offline_eval.recorded.answers import Recorded, RecordedAnswer
from assay.offline_eval.recorded.formats import recorded
from assay.offline_eval.sets.problem import Problem
from assay.offline_eval.sets.problems import problems

FILES = ("codellama-34b_temp0.2", "codellama-34b_temp0.8")
pytestmark = needs_data("cruxeval", "cruxeval-model-outputs", fixture="runs")


def judged(*answers: list[str], wrongly: int = 0) -> list[Ballot]:
    made = [
        RecordedAnswer(f"sample_{i}", "execute", n, text, labels={"tests_pass": (text.strip() == "[1, 2]") ^ (n == 0 and i < wrongly)})
        for i, texts in enumerate(answers)
        for n, text in enumerate(texts)
    ]
    asked = [Problem(f"sample_{i}", "cruxeval", "execution", "python", "", "", "", "[1,2]") for i in range(len(answers))]
    return list(ballots_of(Recorded("some", "", "", "", {answer.key: answer for answer in made}), asked))


def test_answers_that_say_the_same_value_vote_together() -> None:
    (ballot,) = judged(["[1, 2]", "[1,2]", "[True, 2.0]", "3", "3"])
    assert (ballot.votes, ballot.right, ballot.right_answers) == (3, True, 3)
    assert (ballot.unparsed, ballot.tied, ballot.relabelled) == (0, 1, 2)


def test_an_answer_that_is_no_literal_votes_by_its_text_and_is_wrong() -> None:
    (ballot,) = judged(["[1] + [2]", " [1] + [2]", "[1] + [3]", "[1, 2]"])
    assert (ballot.votes, ballot.right, ballot.unparsed) == (2, False, 3)
    assert [each.relabelled for each in judged(["[1, 2]", "3"], ["3", "[1, 2]"], wrongly=2)] == [1, 1]


def test_a_function_with_another_number_of_answers_is_refused() -> None:
    with pytest.raises(UsageError, match="1 answers to sample_1 and 2"):
        judged(["1", "2"], ["1"])
    with pytest.raises(UsageError, match="some has no answers to anything"):
        judged()


@pytest.fixture(scope="module")
def runs() -> dict[str, Measured]:
    asked = problems("cruxeval", DATA / "cruxeval" / "cruxeval.jsonl")
    answers = DATA / "cruxeval-model-outputs"
    return {name: vote_share(list(ballots_of(recorded(answers / f"{name}_output.json.gz"), asked))) for name in FILES}


@pytest.mark.parametrize("name", FILES)
def test_platt_scaling_makes_the_vote_share_of_recorded_answers_honest(runs: dict[str, Measured], name: str) -> None:
    share = runs[name]
    p = platt_out_of_fold(share, share, random_folds(800))
    found = intervals(p, share.right, np.arange(800))
    assert found.skill is not None
    assert found.skill.low > 0.1
    assert found.calibration_error.low == 0
    assert ece(p, share.right) < 2 * ece_noise_floor(p)
    gained = change(share.raw, p, share).skill
    assert gained is not None
    assert gained.high > 0


def test_a_map_fails_on_another_temperature_of_the_very_model_it_was_fitted_on(runs: dict[str, Measured]) -> None:
    cold, warm = (runs[name] for name in FILES)
    for fitted_on, used_on in ((cold, warm), (warm, cold)):
        own, foreign = (platt_out_of_fold(run, used_on, random_folds(800)) for run in (used_on, fitted_on))
        lost = change(own, foreign, used_on).skill
        assert lost is not None
        assert lost.high < -0.05

"""Several runs on the same and on other programs, side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from counterfeit_models import BODIES, able, nonsense, problem, published, step_of
from study_runs import figures_of, isolation_here

from assay.cli.main import main
from assay.inference.opening import ModelChoice
from assay.offline_eval.counterfeit.problems.asking import Options
from assay.offline_eval.counterfeit.problems.study import run_problems

from ....inference.chat_server import ChatSpeech, chatting


@pytest.mark.slow
def test_several_runs_make_a_table_of_generators_and_evaluators(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made, other = published(tmp_path / "set.jsonl", 12), published(tmp_path / "other.jsonl", 8)
    other.write_text(other.read_text().replace("some-7b", "some-34b"))
    speech = ChatSpeech(reply=able)
    with chatting(speech) as address:
        first = Options(tmp_path / "a", set=made, data=None, choice=ModelChoice(address), votes=1, reasoning="without")
        run_problems(first)
        run_problems(replace(first, out=tmp_path / "c", set=other))
        speech.reply = nonsense
        run_problems(replace(first, out=tmp_path / "b"))
    for names, message in (("aa", "is named twice"), ("az", "z is not a run")):
        assert main(["eval", "report", *(str(tmp_path / name) for name in names)]) != 0
        assert message in capsys.readouterr().err
    assert main(["eval", "report", *(str(tmp_path / name) for name in "abc"), "--out", str(tmp_path / "all")]) == 0
    found = figures_of(tmp_path / "all")
    place = "H/J/vote/strict/balanced_accuracy"
    assert found[f"{place}/some-7b/acme/chat-tiny"]["value"] == 0.5
    assert found[f"{place}/some-7b/acme/chat-tiny (run 2)"]["value"] == 0.0
    assert found[f"{place}/some-34b/acme/chat-tiny"]["value"] == 0.5
    assert found[f"{place}/some-34b/acme/chat-tiny (run 2)"]["value"] is None
    # the second run has the programs of the first, the third has others
    assert {name: cell["value"] for name, cell in found.items() if name.startswith("HD/")} == {"HD/1/vote_without_reasoning": -0.5}


@pytest.mark.slow
def test_two_models_draws_for_the_same_problems_are_paired_only_where_they_are_the_same_programs(tmp_path: Path) -> None:
    isolation_here()
    data = tmp_path / "HumanEvalPlus.jsonl"
    data.write_text("".join(json.dumps(problem(number)) + "\n" for number in range(2)))
    speech = ChatSpeech(reply=able)
    with chatting(speech) as address:
        options = Options(
            tmp_path / "a", set="humaneval", data=data, choice=ModelChoice(address), draws=len(BODIES), votes=1, reasoning="without"
        )
        options = replace(options, steps=("draw", "label", "judge"))
        run_problems(options)
        run_problems(Options(tmp_path / "same", set=tmp_path / "a" / "counterfeits.jsonl", data=None, choice=ModelChoice(address), votes=1))
        # the same problems, draws and classes, and other texts
        speech.reply = lambda body: [part.replace("  # ", "  # no. ") if step_of(body) == "draw" else part for part in able(body)]
        run_problems(replace(options, out=tmp_path / "b"))
    assert main(["eval", "report", *(str(tmp_path / name) for name in ("a", "b", "same")), "--out", str(tmp_path / "all")]) == 0
    assert [name for name in figures_of(tmp_path / "all") if name.startswith("HD/")] == [
        "HD/2/vote_without_reasoning",
        "HD/2/p(Correct)_without_reasoning",
    ]

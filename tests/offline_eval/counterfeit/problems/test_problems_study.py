"""Runs on programs: drawn, labelled, judged, executed and repaired, with a real server and the real sandbox."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from counterfeit_models import BODIES, able, nonsense, problem, published, step_of
from needs import DATA, needs_data
from recorded_answers import write
from study_runs import figures_of, files_of, isolation_here

from assay.cli.main import main
from assay.inference.opening import ModelChoice
from assay.offline_eval.counterfeit.problems.asking import Options
from assay.offline_eval.counterfeit.problems.programs import read_set
from assay.offline_eval.counterfeit.problems.study import run_problems
from assay.offline_eval.errors import UsageError
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.recorded.answers import Recorded, RecordedAnswer

from ....inference.chat_server import ChatSpeech, chatting

pytestmark = pytest.mark.slow

VOTES, CRUXEVAL = "cruxeval-model-outputs/codellama-34b_temp0.2_output.json.gz", "cruxeval/cruxeval.jsonl"


@pytest.fixture
def speech() -> ChatSpeech:
    return ChatSpeech(reply=able)


@pytest.fixture
def address(speech: ChatSpeech) -> Iterator[str]:
    with chatting(speech) as at:
        yield at


@pytest.fixture
def options(tmp_path: Path, address: str) -> Options:
    isolation_here()
    data = tmp_path / "HumanEvalPlus.jsonl"
    data.write_text("".join(json.dumps(problem(number)) + "\n" for number in range(2)))
    draws = len(BODIES) + 2
    return Options(tmp_path / "run", set="humaneval", data=data, choice=ModelChoice(address), draws=draws, votes=3, repairs=2, pool=Pool(1))


def test_programs_are_drawn_labelled_judged_executed_and_repaired(options: Options, speech: ChatSpeech) -> None:
    run = run_problems(options)
    found = {name: each["value"] for name, each in figures_of(run.folder).items()}
    # 16 draws of 14 texts, of which the first two are drawn twice
    assert found["F2/strict/draws/right"] == pytest.approx(9 / 16)
    assert found["F2/strict/draws/counterfeit"] == pytest.approx(6 / 16)
    made = read_set(run.folder / "counterfeits.jsonl")
    assert (len(made.programs), made.benchmark, made.generator, made.temperature) == (20, "humaneval", "acme/chat-tiny", 0.6)
    for program in made.programs:
        assert "The part of it, rounded down." in program.text
        assert (program.base, program.plus) == ((1.0, 1.0) if program.kind == "right" else (2 / 3, 2 / 3))
        assert program.pass_at_1 == pytest.approx(9 / 16)
    assert [found[f"J/{way}/strict/{kind}"] for way in ("vote", "thought", "probability") for kind in ("sensitivity", "specificity")] == [
        *(1.0, 0.0),
        *(1.0, 1.0),
        *(1.0, 0.0),
    ]
    assert [found[f"E/{name}"] for name in ("right", "passing", "failing", "confused")] == [1.0, 1.0, 0.0, 1.0]
    assert (found["R/repairs"], found["R/wins"]) == (0.5, 0.0)
    assert found["R/difference"] == pytest.approx(0.5 - 9 / 16)
    judged = [body for body in speech.chats if step_of(body) == "judge"]
    assert {body["temperature"] for body in judged} == {0.0, 0.2}
    page = (run.folder / "report" / "report.md").read_text()
    assert "no log-probabilities" not in page
    claims = {claim["id"]: claim["verdict"] for claim in json.loads((run.folder / "report" / "report.json").read_text())["claims"]}
    assert claims == dict.fromkeys(("a1", "a2", "b", "c", "d", "g", "h"), "undecided") | {"d": "not run", "h": "not run"}
    for heading in ("## What was drawn", "## Judging", "## Execution", "## Repair"):
        assert heading in page
    before = files_of(run.folder)
    assert main(["eval", "report", str(run.folder)]) == 0
    assert files_of(run.folder) == before


def test_what_nobody_can_read_is_told_first_and_counts_as_wrong(
    options: Options, speech: ChatSpeech, capsys: pytest.CaptureFixture[str]
) -> None:
    speech.reply, speech.tells = nonsense, False
    run = run_problems(options)
    found = figures_of(run.folder)
    assert [found[f"J/vote/strict/{kind}"]["value"] for kind in ("sensitivity", "specificity")] == [0.0, 0.0]
    assert found["JM/vote/unreadable"]["value"] == found["EM/unreadable"]["value"] == found["R/unreadable"]["value"] == 1.0
    assert found["R/repairs"]["value"] == 0.0
    assert "J/probability/strict/sensitivity" not in found
    assert "Many answers can't be read (judging without reasoning 100.0 %" in capsys.readouterr().err
    page = (run.folder / "report" / "report.md").read_text()
    assert page.splitlines()[2].startswith("Many answers can't be read")
    assert "judged programs: the model tells no log-probabilities" in page


def test_a_set_is_judged_by_another_model_without_the_benchmark(tmp_path: Path, address: str) -> None:
    options = Options(tmp_path / "run", set=published(tmp_path / "set.jsonl", 12), data=None, choice=ModelChoice(address), votes=2)
    run = run_problems(options)
    assert {path.stem for path in run.folder.glob("*.jsonl")} == {"items", "judge", "judge_reasoning", "timings"}
    assert figures_of(run.folder)["J/vote/strict/sensitivity"]["value"] == 1.0
    with pytest.raises(UsageError, match="the step repair runs programs on the tests of humaneval: name its file with --data"):
        run_problems(replace(options, steps=("repair",)))


def test_recorded_answers_take_the_place_of_a_model(tmp_path: Path) -> None:
    said = {"HumanEval/0_0": ["Correct", "Correct", "Incorrect"], "HumanEval/0_1": ["Incorrect"], "HumanEval/1_2": ["Incorrect", "?"]}
    answers = [RecordedAnswer(item, "judge", n, f"[ANSWER]{word}[/ANSWER]") for item, words in said.items() for n, word in enumerate(words)]
    write(tmp_path / "answers.jsonl", Recorded("a judge", "other-7b", "here", "MIT", {answer.key: answer for answer in answers}))
    options = Options(tmp_path / "run", set=published(tmp_path / "set.jsonl", 4), data=None, recorded=(tmp_path / "answers.jsonl",))
    run = run_problems(options)
    found = figures_of(run.folder)
    assert [found[f"J/vote/strict/{kind}"]["value"] for kind in ("sensitivity", "specificity")] == [0.5, 1.0]
    assert found["JM/vote/unreadable"]["value"] == pytest.approx(1 / 6)
    assert "| a judge | other-7b | here | MIT |" in (run.folder / "report" / "report.md").read_text()
    other = RecordedAnswer("Other/0", "judge", 0, "[ANSWER]Correct[/ANSWER]")
    write(tmp_path / "answers.jsonl", Recorded("a judge", "other-7b", "", "", {other.key: other}))
    with pytest.raises(UsageError, match=r"answers.jsonl: no answer to any item of made up .* named as HumanEval/0_0"):
        run_problems(replace(options, out=tmp_path / "other"))


@needs_data(VOTES, CRUXEVAL)
def test_the_published_answers_to_cruxeval_have_the_published_rate(tmp_path: Path) -> None:
    options = Options(tmp_path / "run", set="cruxeval", data=DATA / CRUXEVAL, recorded=(DATA / VOTES,))
    found = figures_of(run_problems(options).folder)
    assert round(100 * found["E/right"]["value"], 1) == 42.4
    assert found["E/right"]["groups"] == 800

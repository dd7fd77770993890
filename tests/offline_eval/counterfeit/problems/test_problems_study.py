"""Runs on programs: drawn, labelled, judged, executed and repaired, with a real server and the real sandbox."""

from __future__ import annotations

import json
import shutil
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
from assay.offline_eval.counterfeit.problems.asking import JUDGE, Options
from assay.offline_eval.counterfeit.problems.programs import read_set
from assay.offline_eval.counterfeit.problems.study import run_problems
from assay.offline_eval.errors import RunError, UsageError
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.recorded.answers import Recorded, RecordedAnswer
from assay.offline_eval.run import Run

from ....inference.chat_server import ChatSpeech, chatting

pytestmark = pytest.mark.slow

VOTES, CRUXEVAL = "cruxeval-model-outputs/codellama-34b_temp0.2_output.json.gz", "cruxeval/cruxeval.jsonl"
PUBLISHED = "counterfeit-cl34b-humaneval/test.jsonl.gz"


@pytest.fixture
def speech() -> ChatSpeech:
    return ChatSpeech(reply=able)


@pytest.fixture
def address(speech: ChatSpeech) -> Iterator[str]:
    with chatting(speech) as at:
        yield at


def asked_in(folder: Path, address: str) -> Options:
    isolation_here()
    data = folder / "HumanEvalPlus.jsonl"
    data.write_text("".join(json.dumps(problem(number)) + "\n" for number in range(2)))
    draws = len(BODIES) + 2
    return Options(folder / "run", set="humaneval", data=data, choice=ModelChoice(address), draws=draws, votes=3, repairs=2, pool=Pool(1))


@pytest.fixture
def options(tmp_path: Path, address: str) -> Options:
    return asked_in(tmp_path, address)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Options, ChatSpeech]]:
    """A whole run, whose server still answers."""
    speech = ChatSpeech(reply=able)
    with pytest.MonkeyPatch.context() as patched, chatting(speech) as at:
        patched.delenv("ASSAY_API_KEY", raising=False)
        options = asked_in(tmp_path_factory.mktemp("finished"), at)
        run_problems(options)
        yield options, speech


def copied(options: Options, folder: Path) -> Options:
    """The same question, with a copy of its run in another folder."""
    shutil.copytree(options.out, folder / "run")
    return replace(options, out=folder / "run")


def test_programs_are_drawn_labelled_judged_executed_and_repaired(finished: tuple[Options, ChatSpeech]) -> None:
    options, speech = finished
    run = Run.opened(options.out)
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


def test_a_run_that_lost_half_of_all_its_records_is_resumed_to_the_same_bytes(finished: tuple[Options, ChatSpeech], tmp_path: Path) -> None:
    asked = copied(finished[0], tmp_path)
    before = files_of(asked.out)
    for path in asked.out.glob("*.jsonl"):
        if path.stem not in ("items", "counterfeits"):
            path.write_bytes(path.read_bytes()[: len(path.read_bytes()) // 2])
    assert files_of(run_problems(asked).folder) == before
    # and from the run alone
    assert main(["eval", "report", str(asked.out)]) == 0
    assert files_of(asked.out) == before


def test_another_question_is_another_run(options: Options) -> None:
    run_problems(replace(options, steps=("draw",)))
    with pytest.raises(RunError, match="draws: 16 -> 5"):
        run_problems(replace(options, draws=5))


def test_what_nobody_can_read_is_told_first_and_counts_as_wrong(
    options: Options, speech: ChatSpeech, capsys: pytest.CaptureFixture[str]
) -> None:
    speech.reply = nonsense
    run = run_problems(options)
    found = figures_of(run.folder)
    assert [found[f"J/vote/strict/{kind}"]["value"] for kind in ("sensitivity", "specificity")] == [0.0, 0.0]
    assert found["JM/vote/unreadable"]["value"] == found["EM/unreadable"]["value"] == found["R/unreadable"]["value"] == 1.0
    assert found["R/repairs"]["value"] == 0.0
    assert "J/probability/strict/sensitivity" not in found
    assert "Many answers can't be read (judging without reasoning 100.0 %" in capsys.readouterr().err
    assert (run.folder / "report" / "report.md").read_text().splitlines()[2].startswith("Many answers can't be read")


def test_without_log_probabilities_there_is_no_p_correct(tmp_path: Path, address: str, speech: ChatSpeech) -> None:
    speech.tells = False
    run = run_problems(Options(tmp_path / "run", set=published(tmp_path / "set.jsonl", 4), data=None, choice=ModelChoice(address), votes=1))
    assert {cell.split("/")[1] for cell in figures_of(run.folder) if cell.startswith("J/")} == {"vote", "thought"}
    assert all("top" not in record for record in run.records(JUDGE).read())
    assert "p(Correct) of 4 of 4 judged programs: the model tells no log-probabilities" in (run.folder / "report/report.md").read_text()


def test_draws_without_a_program_are_other_and_are_told(options: Options, speech: ChatSpeech) -> None:
    speech.reply = lambda body: ["no idea"] if step_of(body) == "draw" and int(body["seed"]) % 2 else able(body)
    run = run_problems(replace(options, steps=("draw", "label")))
    assert figures_of(run.folder)["F2/strict/draws/other"]["value"] >= 0.5
    assert (run.folder / "report" / "report.md").read_text().splitlines()[2].startswith("50.0 % of the draws hold no program")


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


def test_recorded_answers_to_something_else_are_refused(tmp_path: Path) -> None:
    answer = RecordedAnswer("Other/0", "judge", 0, "[ANSWER]Correct[/ANSWER]")
    write(tmp_path / "answers.jsonl", Recorded("a judge", "other-7b", "", "", {answer.key: answer}))
    options = Options(tmp_path / "run", set=published(tmp_path / "set.jsonl", 4), data=None, recorded=(tmp_path / "answers.jsonl",))
    with pytest.raises(UsageError, match=r"answers.jsonl: no answer to any item of made up .* named as HumanEval/0_0"):
        run_problems(options)
    assert not options.out.exists()


@needs_data(VOTES, CRUXEVAL)
def test_the_published_answers_to_cruxeval_have_the_published_rate(tmp_path: Path) -> None:
    options = Options(tmp_path / "run", set="cruxeval", data=DATA / CRUXEVAL, recorded=(DATA / VOTES,))
    found = figures_of(run_problems(options).folder)
    assert round(100 * found["E/right"]["value"], 1) == 42.4
    assert found["E/right"]["groups"] == 800


def test_a_dry_run_tells_the_calls_and_makes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = published(tmp_path / "set.jsonl", 12)
    assert main(["eval", "counterfeit", "--set", str(made), "--out", str(tmp_path / "run"), "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["questions"], plan["generations"]) == ({"judge": 12, "judge_reasoning": 12}, 12 * 11 + 12 * 10)
    assert not (tmp_path / "run").exists()

"""Runs on pairs: made in the real sandbox, and asked of a real server."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recorded_answers import write
from study_runs import figures_of, files_of, isolation_here

from assay.cli.main import main
from assay.inference.opening import ModelChoice
from assay.offline_eval.catcode.pairs.asking import ANSWERS, Options
from assay.offline_eval.catcode.pairs.pair import read_pairs
from assay.offline_eval.catcode.pairs.study import run_pairs
from assay.offline_eval.errors import StudyError, UsageError
from assay.offline_eval.pairing import compare
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.recorded.answers import Recorded, RecordedAnswer
from assay.offline_eval.run import Run

from ....inference.chat_server import ChatSpeech, chatting

pytestmark = pytest.mark.slow

PROGRAMS = 5


def problem(number: int) -> dict[str, Any]:
    """A problem of HumanEval."""
    name = f"f{number}"
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": f'def {name}(values):\n    """ What is not below {number}, together. """\n',
        "entry_point": name,
        "canonical_solution": "    total = 0\n    for value in values:\n        if value < NUMBER:\n            total += 0\n"
        "        else:\n            total += value\n    return total\n".replace("NUMBER", str(number)),
        "test": f"def check(candidate):\n    assert candidate([{number - 1}, {number}, {number + 4}]) == {2 * number + 4}\n",
    }


def asked_about(body: dict[str, Any]) -> tuple[str, str] | None:
    """Both programs of a question."""
    text = next(message["content"] for message in reversed(body["messages"]) if message["role"] == "user")
    found = re.findall(r"\[A\]\n(.*?)\n\[/A\]\n\n\[B\]\n(.*?)\n\[/B\]", text, re.DOTALL)
    return found[-1] if found else None


def able(body: dict[str, Any]) -> Sequence[str]:
    """A model that knows each pair of one condition from another by its text: it looks for the sign."""
    both = asked_about(body)
    if both is None:
        return ["Hello"]
    same = all(sorted(re.findall(r"<=|>=|==|!=|<|>|else", text)) == ["<", "else"] for text in both)
    return ["True" if same else "False", "."]


def willing(body: dict[str, Any]) -> Sequence[str]:
    """A model that says True of all pairs, in the paper's own form."""
    return ["Hello"] if asked_about(body) is None else ["True"]


def nonsense(body: dict[str, Any]) -> Sequence[str]:
    """A model that keeps to no form."""
    return ["Hello"] if asked_about(body) is None else ["They", " look", " alike"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run that made pairs, and the benchmark's file beside it."""
    isolation_here()
    folder = tmp_path_factory.mktemp("built")
    data = folder / "HumanEval.jsonl"
    data.write_text("".join(json.dumps(problem(number)) + "\n" for number in range(PROGRAMS)))
    run_pairs(Options(folder / "run", data=(data,), pool=Pool(1), steps=("pairs",)))
    return folder


@pytest.fixture
def speech() -> ChatSpeech:
    return ChatSpeech(reply=able)


@pytest.fixture
def address(speech: ChatSpeech) -> Iterator[str]:
    with chatting(speech) as at:
        yield at


def about(built: Path, out: Path, address: str = "", **more: Any) -> Options:
    """A run on the pairs that were made."""
    return Options(
        out, data=(built / "run" / "pairs.jsonl",), choice=ModelChoice(address) if address else ModelChoice(), votes=2, pool=Pool(1), **more
    )


def test_pairs_are_made_without_a_model_and_counted(built: Path) -> None:
    run = Run.opened(built / "run")
    assert (run.question()["model"], run.question()["prompt"]) == ("none", "none")
    assert not run.records(ANSWERS).path.exists()
    pairs = read_pairs(run.folder / "pairs.jsonl")
    assert {pair.problem for pair in pairs} == {f"HumanEval/{number}" for number in range(PROGRAMS)}
    assert {"1-eq", "2-eq", "2-eq-chain", "3-eq-chain", "1-neq", "identity"} == {pair.kind for pair in pairs}
    page = (run.folder / "report" / "report.md").read_text()
    assert f"| humaneval python | {PROGRAMS} of {PROGRAMS} |" in page
    assert "| boolean_exchange | finds no place here | 5 |" in page
    assert "What is not below" not in "".join(pair.first for pair in pairs)


def test_each_pair_is_asked_about_in_both_orders(built: Path, tmp_path: Path, address: str, speech: ChatSpeech) -> None:
    run = run_pairs(about(built, tmp_path / "run", address))
    found = {name: each["value"] for name, each in figures_of(run.folder).items()}
    for way in ("vote", "probability"):
        assert [found[f"K/{way}/{kind}"] for kind in ("1-eq", "2-eq", "1-neq", "identity")] == [1.0, 1.0, 1.0, 1.0]
        assert (found[f"C/{way}/local/balanced"], found[f"C/{way}/local/youden"]) == (1.0, 1.0)
        assert found[f"O/{way}/1-eq/same"] == 1.0
    assert found["K/vote/global-eq"] is None
    # "False." can be read, though the paper's own code would not count it
    assert (found["U/all/here"], found["U/all/paper"]) == (0.0, 1.0)
    pairs = read_pairs(built / "run" / "pairs.jsonl")
    asked = [asked_about(body) for body in speech.chats if body["temperature"] == 0.0 and asked_about(body)]
    assert sorted(asked) == sorted(
        (a.strip("\n"), b.strip("\n")) for pair in pairs for order in pair.orders for a, b in [pair.programs(order)]
    )
    claims = {claim["id"]: claim["verdict"] for claim in json.loads((run.folder / "report" / "report.json").read_text())["claims"]}
    assert claims == {"a1": "confirmed", "a2": "not run", "b": "undecided", "c": "undecided"}
    page = (run.folder / "report" / "report.md").read_text()
    assert "96.0 %, 90.5 %" in page
    assert "inconsistent: printed as Avg." in page
    before = files_of(run.folder)
    assert main(["eval", "report", str(run.folder)]) == 0
    assert files_of(run.folder) == before


def test_answers_that_can_not_be_read_are_told_first_and_count_as_wrong(
    built: Path, tmp_path: Path, address: str, speech: ChatSpeech
) -> None:
    speech.reply = nonsense
    run = run_pairs(about(built, tmp_path / "run", address))
    found = figures_of(run.folder)
    assert found["U/all/here"]["value"] == 1.0
    assert found["U/all/here"]["low"] is not None
    assert found["K/vote/1-eq"]["value"] == found["K/vote/1-neq"]["value"] == 0.0
    assert found["K/probability/1-eq"]["value"] == 0.0
    page = (run.folder / "report" / "report.md").read_text()
    assert page.splitlines()[2].startswith("Many answers are neither True nor False (100.0 %")


def test_two_models_are_compared_at_the_same_pairs(built: Path, tmp_path: Path, address: str, speech: ChatSpeech) -> None:
    kinds = ("1-eq", "3-eq-chain", "1-neq")
    first = run_pairs(about(built, tmp_path / "first", address, kinds=kinds))
    assert {record["id"].split(":")[1] for record in first.records(ANSWERS).read()} == set(kinds)
    speech.reply = willing
    second = run_pairs(about(built, tmp_path / "second", address, kinds=kinds))
    assert main(["eval", "report", str(first.folder), str(second.folder), "--out", str(tmp_path / "both")]) == 0
    found = {name: each["value"] for name, each in figures_of(tmp_path / "both").items()}
    assert (found["MC/vote/local/1/balanced"], found["MC/vote/local/2/balanced"]) == (1.0, 0.5)
    (chain,) = (value for name, value in found.items() if name.startswith("P/") and name.endswith("vote/3-eq-chain/difference"))
    recall = figures_of(first.folder)["K/vote/3-eq-chain"]["value"]
    (changed,) = (value for name, value in found.items() if name.startswith("P/") and name.endswith("vote/1-neq/difference"))
    assert (chain, changed) == (pytest.approx(1 - recall), -1.0)
    with pytest.raises(StudyError, match="has no answer about a pair: run its step answers first"):
        compare([first.folder, built / "run"], tmp_path / "none", as_json=False)


def test_recorded_answers_take_the_place_of_a_model(built: Path, tmp_path: Path) -> None:
    pairs = [pair for pair in read_pairs(built / "run" / "pairs.jsonl") if pair.kind in ("1-eq", "1-neq")]
    answers = [
        RecordedAnswer(f"{pair.id}:{order}", "pair", n, word)
        for pair in pairs
        for order in pair.orders
        for n, word in enumerate(("\n\nTrue", "True", "False"))
    ]
    write(tmp_path / "answers.jsonl", Recorded("a judge", "other-7b", "here", "MIT", {answer.key: answer for answer in answers}))
    run = run_pairs(about(built, tmp_path / "run", recorded=(tmp_path / "answers.jsonl",)))
    found = {name: each["value"] for name, each in figures_of(run.folder).items()}
    assert [found[f"K/vote/{kind}"] for kind in ("1-eq", "1-neq", "identity")] == [1.0, 0.0, None]
    assert "| a judge | other-7b | here | MIT |" in (run.folder / "report" / "report.md").read_text()


def test_recorded_answers_to_other_pairs_are_refused(built: Path, tmp_path: Path) -> None:
    answer = RecordedAnswer("other:1-eq:ab", "pair", 0, "True")
    write(tmp_path / "answers.jsonl", Recorded("a judge", "other-7b", "", "", {answer.key: answer}))
    with pytest.raises(UsageError, match="no answer to any of these pairs"):
        run_pairs(about(built, tmp_path / "run", recorded=(tmp_path / "answers.jsonl",)))
    assert not (tmp_path / "run").exists()


def test_programs_that_were_drawn_make_global_pairs(built: Path, tmp_path: Path) -> None:
    texts = {0: ["    return sum(values)\n", "    return 0\n", "    return sum(value for value in values if value >= 0)\n"]}
    answers = [RecordedAnswer(f"HumanEval/{number}", "draw", n, text) for number, found in texts.items() for n, text in enumerate(found)]
    write(tmp_path / "draws.jsonl", Recorded("draws", "other-7b", "", "", {answer.key: answer for answer in answers}))
    data = (built / "HumanEval.jsonl", tmp_path / "draws.jsonl")
    made = Options(tmp_path / "run", data=data, pool=Pool(1), steps=("pairs",), limit=5)
    with pytest.raises(UsageError, match="global-eq needs several programs for one problem, right and wrong ones, and --data names none"):
        run_pairs(replace(made, data=data[:1], kinds=("global-eq",)))
    run = run_pairs(made)
    found = [pair for pair in read_pairs(run.folder / "pairs.jsonl") if pair.kind.startswith("global")]
    assert {pair.problem for pair in found} == {"HumanEval/0"}
    assert {pair.kind for pair in found} == {"global-neq"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--data", "PAIRS", "--steps", "pairs"], "has pairs that are made already, so the step pairs has nothing to do"),
        (["--data", "PAIRS", "DATA"], "pairs are not mixed with what they are made of"),
        (["--data", "DATA", "--kinds", "4-eq"], "no such kind of pair: 4-eq (there are 1-eq"),
        (["--data", "DATA", "--steps", "pairs", "--votes", "3"], "the step pairs asks no model: leave --votes out"),
    ],
)
def test_what_can_not_be_asked_for_is_refused_in_a_sentence(
    built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    named = {"PAIRS": str(built / "run" / "pairs.jsonl"), "DATA": str(built / "HumanEval.jsonl")}
    with suppress(SystemExit):
        assert main(["eval", "catcode", "--set", "pairs", "--out", str(tmp_path / "RUN"), *(named.get(each, each) for each in options)])
    assert message in capsys.readouterr().err
    assert not (tmp_path / "RUN").exists()


def test_a_dry_run_says_calls_and_tokens_and_does_nothing(built: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = read_pairs(built / "run" / "pairs.jsonl")
    questions = sum(len(pair.orders) for pair in pairs)
    options = ["eval", "catcode", "--set", "pairs", "--out", str(tmp_path / "RUN"), "--dry-run"]
    assert main([*options, "--data", str(built / "run" / "pairs.jsonl")]) == 0
    said = capsys.readouterr().err
    assert f"questions    at most {questions}" in said
    assert f"generations  at most {11 * questions}" in said.replace(",", "")
    assert main([*options, "--data", str(built / "HumanEval.jsonl"), "--steps", "pairs", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["programs"], plan["generations"]) == (PROGRAMS, 0)
    assert not (tmp_path / "RUN").exists()

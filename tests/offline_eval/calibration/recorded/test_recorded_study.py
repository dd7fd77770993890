"""Runs about recorded answers: programs that are labelled here, votes, and scores that a file tells."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import Any

import pytest
from needs import DATA, needs_data
from recorded_answers import write
from study_runs import figures_of, files_of, isolation_here

from assay.calibration.samples import read_samples
from assay.cli.main import main
from assay.offline_eval.calibration.recorded import labelled
from assay.offline_eval.calibration.recorded.study import LABELS, Options, run_recorded
from assay.offline_eval.errors import UsageError
from assay.offline_eval.recorded.answers import Recorded, RecordedAnswer
from assay.offline_eval.recorded.source import read
from assay.offline_eval.run import Run

BODIES = [
    "    return x // {k}\n",
    "    return x // {k}  # again\n",
    "    return -x // {k}\n",
    "    return y\n",
    "    return int(x / {k})\n",
]
VOTES, WARM = (f"cruxeval-model-outputs/codellama-34b_temp{temperature}_output.json.gz" for temperature in (0.2, 0.8))
CRUXEVAL = "cruxeval/cruxeval.jsonl"


def problem(number: int) -> dict[str, Any]:
    return {
        "task_id": f"HumanEval/{number}",
        "prompt": f'def f{number}(x: int) -> int:\n    """ The part of it, rounded down. """\n',
        "entry_point": f"f{number}",
        "canonical_solution": f"    return x // {number + 2}\n",
        "test": "",
        "base_input": [[4], [5]],
        "plus_input": [[0], [-3], [100]],
        "atol": 0,
    }


def answers(path: Path, step: str, texts: dict[str, list[str]], **more: Any) -> Path:
    made = [RecordedAnswer(item, step, n, text) for item, drawn in texts.items() for n, text in enumerate(drawn)]  # type: ignore[arg-type]
    told = {"name": f"made up {step}s", "model": "some-7b", "source": "nowhere", "licence": "MIT"} | more
    write(path, Recorded(**told, answers={answer.key: answer for answer in made}))
    return path


@pytest.fixture
def options(tmp_path: Path) -> Options:
    isolation_here()
    data = tmp_path / "HumanEvalPlus.jsonl"
    data.write_text("".join(json.dumps(problem(number)) + "\n" for number in range(6)))
    draws = {f"HumanEval/{n}": [body.format(k=n + 2) for body in (*BODIES[: 3 + n % 3], BODIES[0])] for n in range(5)}
    tests = {f"HumanEval/{n}": [f"f{n}(0) == 0\nassert f{n}({2 * n + 4}) == 2\nassert f{n}(1) == 7"] for n in range(4)}
    files = [answers(tmp_path / "draws.jsonl", "draw", draws), answers(tmp_path / "tests.jsonl", "test", tests)]
    return Options(tmp_path / "run", set="humaneval", data=data, files=read(files))


@pytest.mark.slow
def test_each_distinct_program_is_run_once_and_both_measures_are_judged(options: Options, capsys: pytest.CaptureFixture[str]) -> None:
    run = run_recorded(options)
    labels = run.records(LABELS).read()
    assert len({label["id"] for label in labels}) == len(labels) == len(run.items(dict))
    said = capsys.readouterr()
    assert said.err.startswith("24 answers to 6 problems, 19 distinct texts")
    assert said.out.splitlines() == [
        str(run.folder / "report" / name) for name in ("figures.json", "report.json", "report.html", "report.md")
    ]
    found = figures_of(run.folder)
    assert {name for name in found if name.endswith("/skill")} == {
        f"S/made up draws/{measure}/{way}/skill" for measure in ("agreement", "self-test") for way in ("raw", "random_folds", "by_problem")
    }
    agreement, self_test = (found[f"S/made up draws/{measure}/raw/brier"] for measure in ("agreement", "self-test"))
    assert (agreement["n"], agreement["groups"], agreement["grouped_by"]) == (24, 5, "problem")
    assert (self_test["n"], self_test["groups"]) == (19, 4)
    right = sum(
        label["tests_pass"] * item["draws"] for label, item in zip(labels, sorted(run.items(dict), key=itemgetter("id")), strict=True)
    )
    page = (run.folder / "report" / "report.md").read_text()
    assert f"{right / 24:.1%} are right" in page
    for place in (page, said.err):
        assert "1 problem without a recorded answer." in place
    assert "| made up draws | some-7b | nowhere | MIT |" in page
    before = files_of(run.folder)
    for path in (*(file.path for file in options.files), options.data):
        path.unlink()
    assert main(["eval", "report", str(options.out)]) == 0
    assert files_of(options.out) == before
    items, question = options.out / "items.jsonl", options.out / "run.toml"
    written = items.read_bytes()
    items.write_bytes(written.replace(b'"draws": 2', b'"draws": 9'))
    assert main(["eval", "report", str(options.out)]) == 2
    assert "items.jsonl is not what the run began with" in capsys.readouterr().err
    items.write_bytes(written)
    question.write_text("\n".join(line for line in question.read_text().splitlines() if not line.startswith("licences = ")))
    assert main(["eval", "report", str(options.out)]) == 2
    assert f"{question}: missing: licences" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"files": ["tests"]}, "0 and 1 were named"),
        ({"files": ["draws", "judged"]}, r"judged.jsonl: neither programs \(step draw\) nor tests"),
        ({"files": ["others"]}, "has no answers to any of 6 problems of humaneval"),
        ({"data": "HumanEval.jsonl"}, r"has no list of inputs.*name HumanEvalPlus.jsonl.gz or MbppPlus.jsonl.gz"),
    ],
)
def test_what_can_not_be_judged_is_said(options: Options, tmp_path: Path, change: dict[str, Any], message: str) -> None:
    answers(tmp_path / "judged.jsonl", "judge", {"HumanEval/0": ["Score: 1"]})
    answers(tmp_path / "others.jsonl", "draw", {"Mbpp/1": ["    pass\n"]})
    plain = {name: problem(0)[name] for name in ("task_id", "prompt", "entry_point", "canonical_solution")}
    (tmp_path / "HumanEval.jsonl").write_text(json.dumps(plain | {"test": "def check(f):\n    assert f(4) == 2\n"}))
    files = [tmp_path / f"{name}.jsonl" for name in change.get("files", ["draws"])]
    with pytest.raises(UsageError, match=message):
        run_recorded(replace(options, files=read(files), data=tmp_path / change.get("data", options.data.name)))
    assert not options.out.exists()


def scored(path: Path, rows: list[tuple[str, float | None, bool | None]], event: str = "tests_pass", name: str = "scores") -> Path:
    made = [
        RecordedAnswer(item, "judge", n, "", score=score, labels={event: right})  # type: ignore[dict-item]
        for n, (item, score, right) in enumerate(rows)
    ]
    write(path, Recorded(name, "some-7b", "", "", {answer.key: answer for answer in made}, (0.0, 4.0)))
    return path


def test_scores_that_a_file_tells_are_judged_by_its_labels(tmp_path: Path) -> None:
    event = "exact_match"
    rows = [(f"I/{n % 10}", float(n % 5), n % 5 > n % 3) for n in range(60)]
    path = scored(tmp_path / "scores.jsonl", [*rows, ("I/1", None, True), ("I/2", 3.0, None)], event)
    assert main(["eval", "report", str(path), "--out", str(tmp_path / "run")]) == 0
    found = figures_of(tmp_path / "run")["S/scores/verbalised/raw/brier"]
    assert found["value"] == pytest.approx(sum((score / 4 - right) ** 2 for _, score, right in rows) / 60)
    assert (found["n"], found["groups"]) == (60, 10)
    assert Run.opened(tmp_path / "run").question()["event"] == event
    assert "1 answer without a label." in (tmp_path / "run" / "report" / "report.md").read_text()
    before = files_of(tmp_path / "run")
    path.unlink()
    assert main(["eval", "report", str(tmp_path / "run")]) == 0
    assert files_of(tmp_path / "run") == before


def test_answers_without_scores_or_of_one_kind_alone_can_not_be_judged(tmp_path: Path) -> None:
    options = labelled.Options(
        tmp_path / "run", set="answers", data=None, files=read([answers(tmp_path / "draws.jsonl", "draw", {"I/0": ["x", "y"]})])
    )
    with pytest.raises(UsageError, match="no answer of made up draws has a label"):
        labelled.run_labelled(options)
    right = scored(tmp_path / "right.jsonl", [("I/0", 1.0, True), ("I/1", 1.0, True)])
    with pytest.raises(
        UsageError, match="scores has 2 answers with a measure and a label tests_pass: both right and wrong ones are needed"
    ):
        labelled.run_labelled(replace(options, files=read([right])))


@needs_data(VOTES, WARM, CRUXEVAL)
def test_votes_on_cruxeval_are_judged_without_a_run(tmp_path: Path) -> None:
    command = ["eval", "report", str(DATA / VOTES), str(DATA / WARM), "--data", str(DATA / CRUXEVAL)]
    assert main([*command, "--out", str(tmp_path / "run")]) == 0
    found = figures_of(tmp_path / "run")
    # as the README of github.com/facebookresearch/cruxeval says at 10d71b4
    assert found["R/codellama-34b_temp0.2/pass_at_1"]["value"] == pytest.approx(0.424, abs=1e-3)
    assert found["R/codellama-34b_temp0.8/pass_at_5"]["value"] == pytest.approx(0.559, abs=1e-3)
    assert found["S/codellama-34b_temp0.2/vote share/raw/skill"]["value"] == pytest.approx(-0.527, abs=1e-3)
    assert main([*command, "--out", str(tmp_path / "few"), "--limit", "20"]) == 0
    assert figures_of(tmp_path / "few")["S/codellama-34b_temp0.2/vote share/raw/skill"]["n"] == 20


def test_log_probabilities_of_a_file_are_measures_and_make_samples(tmp_path: Path) -> None:
    path = tmp_path / "some.answers.jsonl"
    made = [
        RecordedAnswer(
            f"I/{n % 8}",
            "draw",
            n // 8,
            f"{n}" if n else "",
            () if n == 0 else (-0.1 * (n % 4), -0.2),
            labels={"tests_pass": 0 < n % 4 < 3},
        )
        for n in range(48)
    ]
    write(path, Recorded("some", "some-7b", "", "", {answer.key: answer for answer in made}))
    assert main(["eval", "report", str(path), "--out", str(tmp_path / "run")]) == 0
    found = figures_of(tmp_path / "run")
    assert (found["S/some/p_tot/raw/brier"]["n"], found["R/some/pass_at_1"]["n"]) == (47, 48), "an answer without text is none that passes"
    expected = sum((math.exp(sum(each.logprobs or ())) - bool(each.labels["tests_pass"])) ** 2 for each in made[1:]) / 47
    assert found["S/some/p_tot/raw/brier"]["value"] == pytest.approx(expected)
    samples = read_samples(tmp_path / "run" / "samples" / "answers.jsonl")
    assert len(samples) == 47
    assert samples[0].measures["total_logprob"] == pytest.approx(-0.3)
    fitted = tmp_path / "fitted.json"
    assert (
        main(["calibrate", "fit", str(tmp_path / "run" / "samples" / "answers.jsonl"), "--event", "tests_pass", "--out", str(fitted)]) == 0
    )
    assert fitted.exists()


@pytest.mark.slow
def test_programs_of_another_tool_are_run_and_its_labels_compared(tmp_path: Path) -> None:
    isolation_here()
    data = tmp_path / "HumanEvalPlus.jsonl"
    data.write_text("".join(json.dumps(problem(number)) + "\n" for number in range(6)))
    rows = {
        f"HumanEval/{n}": [
            {"solution": problem(n)["prompt"] + body.format(k=n + 2), "base_status": "pass", "plus_status": "pass"} for body in BODIES[:3]
        ]
        for n in range(6)
    }
    rows["HumanEval/5"][2]["solution"] = "Hier ist die Lösung."
    path = tmp_path / "m_vllm_temp_0.2_eval_results.json"
    path.write_text(json.dumps({"date": "", "hash": "", "eval": rows}))
    assert main(["eval", "report", str(path), "--data", str(data), "--out", str(tmp_path / "run")]) == 0
    page = (tmp_path / "run" / "report" / "report.md").read_text()
    assert "66.7% are right" in page
    assert "| labels of the file that differ | 6 |" in page
    assert "1 answer that Python can't parse, among the wrong ones." in page
    assert "S/m_vllm_temp_0.2_eval_results/agreement/raw/skill" in figures_of(tmp_path / "run")


def test_options_for_files_are_refused_for_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "report", str(tmp_path), "--limit", "3"]) == 2
    assert "--limit is for files of recorded answers" in capsys.readouterr().err
    (tmp_path / "a.jsonl").write_text('{"task_id": "LCB/1", "solution": ""}\n')
    assert main(["eval", "report", str(tmp_path / "a.jsonl"), "--data", "x", "--out", str(tmp_path / "run")]) == 2
    assert "its problems, such as LCB/1, are of no set that is run here" in capsys.readouterr().err


def test_half_a_surrogate_pair_in_an_answer_is_kept(tmp_path: Path) -> None:
    made = [RecordedAnswer("I/0", "draw", n, "\ud83d", (-0.1,), labels={"tests_pass": n > 1}) for n in range(4)]
    write(tmp_path / "a.jsonl", Recorded("some", "", "", "", {answer.key: answer for answer in made}))
    assert main(["eval", "report", str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "run")]) == 0
    assert main(["eval", "report", str(tmp_path / "run")]) == 0

"""Recorded programs labelled whole: the natural stream, its classes, own tests as a judge, and the set that they make."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from counterfeit_models import OTHER, RIGHT, WRONG, problem
from recorded_answers import write
from study_runs import figures_of, files_of, isolation_here

from assay.cli.main import main
from assay.offline_eval.calibration.recorded.draws import Labelled
from assay.offline_eval.calibration.recorded.study import Options
from assay.offline_eval.counterfeit.problems.derived import pass_shares
from assay.offline_eval.counterfeit.problems.programs import PassShares, read_set
from assay.offline_eval.counterfeit.problems.recorded import drawn_of, run_recorded
from assay.offline_eval.recorded.answers import Recorded, RecordedAnswer
from assay.offline_eval.recorded.source import read

pytestmark = pytest.mark.slow


def answers(path: Path, step: str, texts: dict[str, list[str]]) -> Path:
    made = [RecordedAnswer(item, step, n, text) for item, drawn in texts.items() for n, text in enumerate(drawn)]  # type: ignore[arg-type]
    write(path, Recorded(f"made up {step}s", "some-7b", "nowhere", "MIT", {answer.key: answer for answer in made}))
    return path


def test_recorded_draws_have_classes_own_tests_and_are_a_set_that_can_be_judged(tmp_path: Path) -> None:
    isolation_here()
    data = tmp_path / "HumanEvalPlus.jsonl"
    data.write_text("".join(json.dumps(problem(number)) + "\n" for number in range(2)))
    draws = {f"HumanEval/{n}": [f"    {body.format(k=n + 2)}\n" for body in (*RIGHT, *WRONG, *OTHER)] for n in range(2)}
    tests = {f"HumanEval/{n}": [f"f{n}(0) == 0\nassert f{n}(-3) == {-3 // (n + 2)}"] for n in range(2)}
    files = [answers(tmp_path / "draws.jsonl", "draw", draws), answers(tmp_path / "tests.jsonl", "test", tests)]
    run = run_recorded(Options(tmp_path / "run", set="humaneval", data=data, files=read(files)))
    found = {name: each["value"] for name, each in figures_of(run.folder).items()}
    # 14 draws a problem: six right texts, one of them twice, six counterfeits and one other
    assert [found[f"F2/strict/draws/{kind}"] for kind in ("right", "counterfeit", "other")] == pytest.approx([7 / 14, 6 / 14, 1 / 14])
    assert found["O/right_against_counterfeit/auc"] == 1.0
    assert found["O/the_balanced_set/sensitivity"] == 1.0
    # a counterfeit passes one of two own tests, which is called right
    assert found["O/the_balanced_set/specificity"] == 0.0
    made = read_set(run.folder / "counterfeits.jsonl")
    assert (len(made.programs), made.generator, made.source, made.licence) == (20, "some-7b", "nowhere", "MIT")
    assert {program.pass_at_1 for program in made.programs} == {0.5}
    for program in made.programs:
        assert program.text.startswith(problem(int(program.problem[-1]))["prompt"])
    before = files_of(run.folder)
    assert main(["eval", "report", str(run.folder)]) == 0
    assert files_of(run.folder) == before


def test_inputs_that_a_program_did_not_come_to_are_not_right_and_what_the_machine_failed_at_has_no_class() -> None:
    item = {"id": "P/0:a", "problem": "P/0", "program": "x = 1\n", "draws": 3, "own_tests": 4}
    label = Labelled("P/0:a", "P/0", False, "failed", "", "", 4, 6, None, base_right=2, base_inputs=2, plus_inputs=8)
    (drawn,) = drawn_of([item], {"P/0:a": label})
    assert drawn.tested == PassShares(1.0, 2 / 8, True, 6)
    (drawn,) = drawn_of([item], {"P/0:a": replace(label, tests_pass=None)})
    assert (drawn.tested, drawn.own_share) == (None, None)
    # a program that fails is not right, whatever its tests counted
    ended = replace(label, problem="ODEX/1", inputs_right=3, inputs=3, base_right=3, base_inputs=3, plus_inputs=0)
    assert pass_shares(ended, "x = 1\n") == PassShares(2 / 3, None, True, 6)

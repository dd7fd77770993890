"""The driver of every study, with real worker processes that answer some items and not others."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pool_work import Place, Places

from assay.calibration.samples import read_samples
from assay.offline_eval.answers import Answer
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.run import GENERATIONS, SCHEMA, Run, Step
from assay.offline_eval.study import MAX_LOST_IN_A_ROW, Results, Unanswered, Work, conduct, do, finish

QUESTION = {"schema": SCHEMA, "study": "calibration", "model": "0" * 16, "model_name": "tiny", "prompt": "0" * 16, "seed": 0}


ANSWERS = Step("answers", "place", Answer)


class Study:
    """Reports nothing but how many answers there are."""

    name = "calibration"
    steps: tuple[Step, ...] = (ANSWERS,)
    needed = ()

    def answers(self, run: Run) -> list[Any]:
        return run.records(ANSWERS).read()

    def report(self, run: Run, results: Results, *, as_json: bool) -> None:
        (run.folder / "reported").write_text(f"{len(results.answers)} {as_json}")


def asked(folder: Path, count: int, fails: set[str], wanted: int | None = 50) -> list[str]:
    """Ask them of one worker that has no answer for some; the places in the order in which they were asked."""
    log = folder / "asked"
    log.write_text("")
    run = Run.begin(folder / "run", QUESTION)
    items = [Place(f"p{i:02}") for i in range(count)]
    try:
        failure = do(run, Work(ANSWERS, items, Places(log, frozenset(fails)), Pool(), wanted))
        if failure:
            raise failure
    finally:
        order = log.read_text().split()
    return order


def answered(folder: Path) -> list[str]:
    return [answer["id"] for answer in Run(folder / "run").records(ANSWERS).read()]


def test_a_step_that_fails_wholly_leaves_a_report_on_the_steps_before_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study, later = Study(), Step("labels", "text", Answer)
    study.steps = (ANSWERS, later)
    items, run = [Place("p00"), Place("p01")], Run.begin(tmp_path / "run", QUESTION)
    fails = Places(tmp_path / "asked", frozenset({"p00", "p01"}))
    with pytest.raises(Unanswered, match="the step answers failed, for no place has an answer"):
        conduct(study, run, [lambda: Work(ANSWERS, items, fails, Pool(), 2)], as_json=False)
    assert not (run.folder / "reported").exists()
    assert "no more than" not in capsys.readouterr().err
    works = [Work(ANSWERS, items, Places(tmp_path / "asked", frozenset()), Pool(), 2), Work(later, items, fails, Pool(), 2)]
    with pytest.raises(Unanswered, match="the step labels failed, for no text has an answer"):
        conduct(study, run, [lambda: works[0], lambda: works[1]], as_json=False)
    assert (run.folder / "reported").read_text() == "2 False"


def test_places_that_were_lost_are_asked_last_by_the_next_run_and_do_not_end_it(tmp_path: Path) -> None:
    cursed = {f"p{i:02}" for i in range(MAX_LOST_IN_A_ROW)}
    with pytest.raises(Unanswered, match="10 places in a row"):
        asked(tmp_path, 14, cursed)
    order = asked(tmp_path, 14, cursed)
    assert order == [*(f"p{i:02}" for i in range(MAX_LOST_IN_A_ROW, 14)), *sorted(cursed)]
    assert answered(tmp_path) == ["p10", "p11", "p12", "p13"]
    assert Run(tmp_path / "run").lost(ANSWERS) == cursed
    # once the machine is mended they are answered, in their order
    assert asked(tmp_path, 14, set()) == sorted(cursed)
    assert len(answered(tmp_path)) == 14
    assert Run(tmp_path / "run").lost(ANSWERS) == set()


@pytest.mark.parametrize("damaged", ["[", "7"])
def test_a_damaged_list_of_lost_places_leaves_them_in_their_order(tmp_path: Path, capsys: pytest.CaptureFixture[str], damaged: str) -> None:
    Run.begin(tmp_path / "run", QUESTION)
    (tmp_path / "run" / "lost.json").write_text(damaged)
    assert asked(tmp_path, 3, {"p01"}) == ["p00", "p01", "p02"]
    assert "no more than" not in capsys.readouterr().err, "which is said only where none was lost"
    assert asked(tmp_path, 4, set()) == ["p03", "p01"]
    assert "there are no more than 4 places" in capsys.readouterr().err


def test_a_resumed_run_says_how_many_places_are_done_and_counts_from_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked(tmp_path, 3, set(), wanted=3)
    assert "done already" not in capsys.readouterr().err
    asked(tmp_path, 9, set(), wanted=5)
    said = capsys.readouterr().err
    assert "3 of 5 places are done already" in said
    assert "5/5 places" in said
    assert asked(tmp_path, 9, set(), wanted=5) == []
    assert "5 places done already" in capsys.readouterr().err


def test_only_what_a_kill_or_the_disk_damaged_is_asked_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked(tmp_path, 4, set())
    path = tmp_path / "run" / "answers.jsonl"
    first, second, third, fourth = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first + b"\x00" * 20 + b"\n" + third + fourth[:-9])
    capsys.readouterr()
    assert asked(tmp_path, 4, set()) == ["p01", "p03"]
    assert f"note: line 2 of {path} was damaged and is left out" in capsys.readouterr().err
    assert sorted(path.read_bytes().splitlines(keepends=True)) == [first, second, third, fourth]


def generation(number: int, **changed: Any) -> dict[str, Any]:
    base = {
        "task": "line",
        "text": "x ",
        "inserted": "x",
        "truth": "x",
        "measures": {"total_logprob": -1.0},
        "labels": {"exact_match": True},
    }
    return {"id": f"p:{number}", **base, "stopped_by": "line", **changed}


def test_samples_are_of_what_the_editor_inserts_and_an_arm_has_a_file_of_its_own(tmp_path: Path) -> None:
    run = Run.begin(tmp_path / "run", QUESTION)
    hidden = generation(2, inserted=None, labels={"exact_match": False})
    made = [generation(1), hidden, generation(3, task="line_rest", labels={}), generation(1, arm="no_suffix", inserted="y")]
    run.records(ANSWERS).add({"id": "p", "project": "q", "file": "f.py", "function": "f", "line": 3, "generations": made})
    finish(Study(), run, as_json=False)
    (line,) = read_samples(run.folder / "samples" / "line.jsonl")
    assert (line.id, line.project, line.file, line.labels) == ("p:1", "q", "f.py", {"exact_match": True, "tests_pass": None, "kept": None})
    (unlabelled,) = read_samples(run.folder / "samples" / "line_rest.jsonl")
    assert set(unlabelled.labels.values()) == {None}
    (arm,) = read_samples(run.folder / "samples" / "line-no_suffix.jsonl")
    assert (arm.id, arm.task, arm.text_sha256 == line.text_sha256) == ("p:1", "line", False)
    lines = [json.loads(text) for text in (run.folder / GENERATIONS).read_text().splitlines()]
    assert [one["id"] for one in lines] == ["p:1", "p:2", "p:3", "p:1"]
    assert all(one["project"] == "q" and one["line"] == 3 for one in lines)
    assert lines[1]["labels"] == {"exact_match": False}


@pytest.mark.parametrize("kill", [signal.SIGKILL, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_run_that_is_ended_from_outside_is_resumed_and_nothing_finished_is_done_twice(tmp_path: Path, kill: signal.Signals) -> None:
    program = tmp_path / "program.py"
    program.write_text(f"""
import sys
sys.path[:0] = {[str(Path(__file__).parent), str(Path(__file__).parents[1])]!r}
from pathlib import Path
from pool_work import Place, Places
from test_study import ANSWERS, Place, QUESTION, Study
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.run import Run
from assay.offline_eval.study import Work, conduct
if __name__ == "__main__":
    start = Places(Path({str(tmp_path / "asked")!r}), frozenset(), pause_s=0.05)
    work = Work(ANSWERS, [Place(f"p{{i:03}}") for i in range(60)], start, Pool(2), 60)
    conduct(Study(), Run.begin(Path({str(tmp_path / "run")!r}), QUESTION), [lambda: work], as_json=False)
""")
    path = tmp_path / "run" / "answers.jsonl"
    child = subprocess.Popen([sys.executable, str(program)], stderr=subprocess.PIPE, text=True, start_new_session=True)
    until = time.monotonic() + 120
    while not (path.exists() and path.stat().st_size) and child.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(child.pid, kill)
    _, said = child.communicate(timeout=60)
    assert child.returncode != 0
    if kill is signal.SIGINT:
        assert "what is finished is kept in" in said
        assert "The same command goes on" in said
    else:
        with path.open("ab") as f:
            f.write(b'{"id": "torn')
    before = path.read_bytes()
    before = before[: before.rfind(b"\n") + 1]
    assert before
    subprocess.run([sys.executable, str(program)], check=True, capture_output=True)
    after = path.read_bytes()
    assert set(before.splitlines()) <= set(after.splitlines())
    assert [json.loads(line)["id"] for line in after.splitlines()] == [f"p{i:03}" for i in range(60)]
    asked_for = Counter((tmp_path / "asked").read_text().split())
    assert all(asked_for[json.loads(line)["id"]] == 1 for line in before.splitlines())

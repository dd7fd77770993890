from __future__ import annotations

import hashlib
import io
import itertools
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from assay.offline_eval.answers import Answer
from assay.offline_eval.errors import RunError
from assay.offline_eval.progress import Progress, counted, duration, progress_text
from assay.offline_eval.repository.suite import suite_of
from assay.offline_eval.run import SCHEMA, Run, Step

ANSWERS = Step("answers", "place", Answer)
QUESTION = {"schema": SCHEMA, "study": "calibration", "model": "0" * 16, "model_name": "tiny", "prompt": "0" * 16, "seed": 0}


@pytest.mark.parametrize(
    ("done", "wanted", "spent_s", "max_s", "before", "text"),
    [
        (10, 40, 5.0, None, 0, "━━━━━━────────────────── 10/40 places, 2.0 a second, 15 s left"),
        (1, 40, 60.0, None, 0, "━─────────────────────── 1/40 places, 1.0 a minute, 39 min left"),
        (10, 1000, 5.0, 20.0, 0, "━━━━━━────────────────── 10/1000 places, 2.0 a second, 15 s left"),
        (0, 40, 70.0, None, 0, "──────────────────────── 0/40 places, 70 s so far"),
    ],
)
def test_rate_and_time_left_are_those_of_whichever_bound_comes_first(
    done: int, wanted: int | None, spent_s: float, max_s: float | None, before: int, text: str
) -> None:
    assert progress_text(done, wanted, spent_s, max_s, "places", before=before) == text
    assert progress_text(10, 40, 5.0, None, "places", columns=36) == "10/40 places, 2.0 a second, 15 s left"[:36], "the bar goes first"
    assert [counted(number, "place") for number in (0, 1, 2000)] == ["0 places", "1 place", "2,000 places"]
    assert [duration(seconds) for seconds in (40, 170, 7500)] == ["40 s", "3 min", "2 h 5 min"]


def test_off_a_terminal_a_line_comes_every_fifteen_seconds_and_at_the_end() -> None:
    now, stream = [0.0], io.StringIO()
    progress = Progress("places", 4, None, stream, clock=lambda: now[0])
    for at in (5.0, 16.0, 20.0, 32.0):
        now[0] = at
        progress.step()
    progress.say("a note")
    progress.end()
    lines = stream.getvalue().splitlines()
    assert [line.split(" places")[0].split()[-1] for line in lines] == ["2/4", "4/4", "note", "4/4"]
    assert "left" not in lines[-1]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_on_a_terminal_the_bar_is_there_and_moves_while_nothing_is_finished() -> None:
    ticks = itertools.count()
    terminal = Terminal()
    with Progress("places", 4, None, terminal, clock=lambda: float(next(ticks))):
        until = time.monotonic() + 20
        while terminal.getvalue().count("0/4 places") < 2 and time.monotonic() < until:
            time.sleep(0.02)
    shown = terminal.getvalue().split("\r\x1b[K")
    assert "so far" in shown[2]
    assert terminal.getvalue().endswith("\n")


def test_an_error_is_not_told_behind_the_bar() -> None:
    terminal = Terminal()
    progress = Progress("places", 4, None, terminal)

    def fail() -> None:
        with progress:
            progress.step()
            raise ValueError("gone")

    with pytest.raises(ValueError, match="gone"):
        fail()
    assert terminal.getvalue().endswith("\n")


def test_the_name_of_a_file_drives_no_terminal() -> None:
    stream = io.StringIO()
    Progress("places", 4, None, stream).say("\x1b]0;title\x07 a.py")
    assert stream.getvalue() == "\\x1b]0;title\\x07 a.py\n"


def test_what_was_asked_is_read_again_whatever_a_folder_is_called(tmp_path: Path) -> None:
    name = 'a\x7fb tab\t\n\x01\x1f quo"te\\ \x80\x9f ünïcödé 𝕏 \\u007f'
    asked = {**QUESTION, "folder": f"/{name}", "tasks": [name]}
    assert Run.begin(tmp_path / "run", asked).question() == asked
    assert Run.begin(tmp_path / "run", asked).question() == asked


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ({"tasks": ["line", "block"], "seed": 5}, "(seed: 1 -> 5; tasks: line -> line, block)"),
        ({"content": "f1", "interpreter": "/b/python"}, "(interpreter: /a/python -> /b/python)"),
        ({"content": "f1", "prompt": "q", "prompt_block": "r"}, "(how the model is asked; the project's files, or what is installed for"),
        ({"reflective": 1}, "(reflective: none given -> 1)"),
    ],
)
def test_a_run_that_asked_something_else_is_refused_with_what_differs(tmp_path: Path, now: dict[str, Any], said: str) -> None:
    before = QUESTION | {"seed": 1, "prompt_block": "p", "tasks": ["line"], "interpreter": "/a/python", "content": "e0"}
    Run.begin(tmp_path / "run", before)
    with pytest.raises(RunError, match=re.escape(said)):
        Run.begin(tmp_path / "run", before | now)


def answer(number: int) -> dict[str, Any]:
    return {"id": f"p{number}", "project": "p", "file": "f.py", "function": "f", "line": number, "generations": []}


def test_a_later_step_may_add_its_part_of_the_question_once(tmp_path: Path) -> None:
    Run.begin(tmp_path / "run", QUESTION)
    assert Run.begin(tmp_path / "run", {**QUESTION, "shots": 2}, ["shots"]).question()["shots"] == 2
    for now in (QUESTION, {**QUESTION, "shots": 3}, {**QUESTION, "shots": 2, "votes": 1}):
        with pytest.raises(RunError, match="asked something else"):
            Run.begin(tmp_path / "run", now, ["shots"])


def test_a_run_of_an_earlier_version_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.toml").write_text('schema = "assay/run/1"\nstudy = "calibration"\nmodel = "m"\n')
    for use in (lambda: Run.opened(tmp_path / "run").question(), lambda: Run.begin(tmp_path / "run", QUESTION)):
        with pytest.raises(RunError, match="its labels judge what the model wrote, and not what the editor would have inserted"):
            use()


def test_what_a_run_toml_lacks_is_said_when_it_is_read(tmp_path: Path) -> None:
    question = Run.begin(tmp_path / "run", {**QUESTION, "names": ["a", "b"], "models": ["m"], "none": []}).question()
    with pytest.raises(RunError, match=r"run\.toml: missing: tasks"):
        question["tasks"]
    assert question.get("tasks") is None
    assert question.lists(["names"]) == [["a", "b"]]
    for names, said in (
        (["names", "sources"], "missing: sources"),
        (["names", "models"], "must have as many texts each: names, models"),
        (["names", "model"], "must be lists of texts: names, model"),
        (["none"], "must be lists of texts: none"),
    ):
        with pytest.raises(RunError, match=said):
            question.lists(names)


@pytest.mark.parametrize("name", ["answers.jsonl", "report", "samples/line.jsonl"])
def test_a_run_does_not_follow_a_link_in_its_folder(tmp_path: Path, name: str) -> None:
    folder, target = tmp_path / "run", tmp_path / "target"
    Run.begin(folder, QUESTION)
    target.mkdir() if name == "report" else target.write_text("mine")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).symlink_to(target)
    for use in (lambda: Run.begin(folder, QUESTION), lambda: Run.opened(folder)):
        with pytest.raises(RunError, match=f"{name} is a symbolic link"):
            use()


def test_a_run_reads_and_writes_no_pipe_in_its_folder(tmp_path: Path) -> None:
    run = Run.begin(tmp_path / "run", QUESTION)
    os.mkfifo(run.folder / "answers.jsonl")
    with pytest.raises(RunError, match=r"answers\.jsonl is no file"):
        Run.opened(run.folder)


def test_an_answer_names_no_file_by_its_task(tmp_path: Path) -> None:
    run = Run.begin(tmp_path / "run", QUESTION)
    generation = {"id": "a:1", "text": "x", "inserted": "x", "truth": "x", "measures": {}, "labels": {}, "stopped_by": ""}
    answer = {"id": "a", "project": "p", "file": "a.py", "function": "f", "line": 1}
    run.records(ANSWERS).add({**answer, "generations": [{**generation, "task": "line_rest"}]})
    assert len(run.records(ANSWERS).read()) == 1
    run.records(ANSWERS).add({**answer, "id": "b", "generations": [{**generation, "task": "../../elsewhere"}]})
    with pytest.raises(RunError, match="not the record of an item"):
        run.records(ANSWERS).read()


@pytest.mark.skipif(os.name != "posix", reason="asks for POSIX's rights")
def test_only_the_owner_can_read_a_run(tmp_path: Path) -> None:
    Run.begin(tmp_path / "runs" / "run", QUESTION)
    assert (tmp_path / "runs" / "run").stat().st_mode & 0o777 == 0o700


def test_a_folder_that_is_not_a_run_is_left_alone(tmp_path: Path) -> None:
    for name in ("thesis.txt", ".run.toml.0123456789aB"):  # the second resembles what a killed run leaves
        (tmp_path / name / ".run.toml.0123456789ab").parent.mkdir()
        (tmp_path / name / name).write_text("mine")
        (tmp_path / name / ".run.toml.0123456789ab").touch()
        with pytest.raises(RunError, match="not a run"):
            Run.begin(tmp_path / name, QUESTION)
        assert {file.name for file in (tmp_path / name).iterdir()} == {name, ".run.toml.0123456789ab"}
    with pytest.raises(RunError, match="not a run"):
        Run.opened(tmp_path)


def test_a_run_that_is_gone_on_with_loses_the_temporary_files_of_a_killed_one_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    Run.begin(folder, QUESTION)
    (folder / "samples").mkdir()
    left, others = folder / "samples" / ".line.jsonl.0123456789ab", (folder / ".notes", folder / "samples" / ".line.jsonl.012345")
    for file in (left, *others):
        file.touch()
    Run.begin(folder, QUESTION)
    assert not left.exists()
    assert all(file.exists() for file in others)


def test_a_run_that_another_process_works_on_is_left_to_it(tmp_path: Path) -> None:
    run = Run.begin(tmp_path / "run", QUESTION)
    works = (
        "import pathlib, sys; from assay.offline_eval.run import Run\n"
        "with Run(pathlib.Path(sys.argv[1])).locked(): print(flush=True); input()"
    )
    command = [sys.executable, "-c", works, str(run.folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        with pytest.raises(RunError, match="another process works on"):
            Run.begin(run.folder, QUESTION)
        other.kill()
    assert Run.begin(run.folder, QUESTION) == run


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("not json", "not JSON"),
        ('{"id": "p1"}', "missing required field"),
        (json.dumps(answer(1) | {"line": "1"}), "Expected `int`, got `str` - at `$.line`"),
        (json.dumps(answer(1)), "the item p1 has a line before"),
    ],
)
def test_a_damaged_line_is_named_and_a_torn_last_one_is_left_out(tmp_path: Path, line: str, said: str) -> None:
    run = Run.begin(tmp_path / "run", QUESTION)
    run.records(ANSWERS).add(answer(2))
    run.records(ANSWERS).add(answer(1))
    with run.records(ANSWERS).path.open("a") as f:
        f.write(line)
    assert run.records(ANSWERS).read() == [answer(1), answer(2)], "by their ids"
    with run.records(ANSWERS).path.open("a") as f:
        f.write("\n")
    with pytest.raises(RunError, match=r"answers\.jsonl:3: ") as refused:
        run.records(ANSWERS).read()
    assert said in str(refused.value)
    assert run.records(ANSWERS).mend() == [3]
    assert run.records(ANSWERS).read() == [answer(1), answer(2)]


def test_a_deeply_nested_file_in_a_strangers_run_is_said_to_be_damaged(tmp_path: Path) -> None:
    line = b'{"id":"x","other":' + b"[" * 100_000 + b"\n"
    run = Run.begin(tmp_path / "run", {**QUESTION, "items": hashlib.sha256(line).hexdigest()})
    for name in ("items.jsonl", "suite.json", "answers.jsonl"):
        (run.folder / name).write_bytes(line)
    for read in (lambda: run.items(Answer), lambda: suite_of(run), lambda: run.records(ANSWERS).read()):
        with pytest.raises(RunError):
            read()

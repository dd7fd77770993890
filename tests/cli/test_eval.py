"""`assay eval` as a user runs it: what it prints, and what it says of bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from house.running import assay_here

from assay.calibration.samples import read_samples
from assay.cli.main import main
from assay.offline_eval.asked_line import ANSWERS
from assay.offline_eval.run import SCHEMA, Run

QUESTION = {
    "schema": SCHEMA,
    "study": "calibration",
    "model": "0" * 16,
    "model_name": "tiny",
    "prompt": "0" * 16,
    "seed": 0,
    "set": "projects",
}
RECORD = "answers.jsonl:1: not the record of an item"


def answer(number: int, *, project: str = "p", exact: bool | None = True, **changed: Any) -> dict[str, Any]:
    base = dict.fromkeys(("text", "inserted", "truth"), "x") | {"task": "line", "measures": {"total_logprob": -1.0}, "stopped_by": "line"}
    made = {"id": f"{project}:{number}", **base, "labels": {"exact_match": exact}, **changed}
    return {"id": f"{project}:{number}", "project": project, "file": "f.py", "function": "f", "line": number, "generations": [made]}


def line(record: dict[str, Any]) -> bytes:
    return json.dumps(record).encode() + b"\n"


def toml(**changed: object) -> bytes:
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in (QUESTION | changed).items()).encode()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    run = Run.begin(tmp_path / "run", QUESTION)
    hidden = {"exact": False, "inserted": None}
    for made in (answer(1), answer(2, exact=False), answer(3, project="q", exact=None), answer(4, **hidden, text=" "), answer(5, **hidden)):
        run.records(ANSWERS).add(made)
    return run


def test_a_generation_without_a_label_is_unknown_and_not_counted_as_wrong(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "report", str(run.folder), "--json"]) == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    low, high = (pytest.approx(end, abs=1e-4) for end in (0.0008, 0.9992))
    assert document["exact_match"]["line"] == {"n": 2, "projects": 1, "value": 0.5, "low": low, "high": high}
    labels = {sample.id: sample.labels["exact_match"] for sample in read_samples([Path(path) for path in document["samples"]])}
    assert labels == {"p:1": True, "p:2": False, "q:3": None}
    assert "1 of 5 generations had no text, and 1 would be hidden by the editor; they make no sample" in said.err
    assert "1 have no label" in said.err
    assert "labelled suggestions of 1 project, exact match" in said.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--arms", "docstring,other"], 2, "no such arm: other (there are docstring, no_docstring, no_suffix)"),
        (["--set", "suites", "--projects", "flask"], 2, "no such project in the list: flask. It has: arrow"),
        (["--model", "notes.txt"], 2, "not a model"),
        (["--model", "TINY", "--out", "notes.txt"], 2, "notes.txt is not a folder; name another"),
        (["--model", "TINY", "--cache", "notes.txt/cache"], 2, "name another folder with --cache"),
        (["--set", "suites", "--python", "no-such-python"], 1, "no-such-python: no such program"),
        (["--ray", "127.0.0.1:1"], 1, "no Ray cluster at 127.0.0.1:1"),
    ],
)
def test_what_a_study_can_not_run_with_is_one_line(tmp_path: Path, tiny_gguf: Path, options: list[str], code: int, message: str) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    given = [str(tiny_gguf) if option == "TINY" else option for option in options]
    ran = assay_here("eval", "calibration", "--out", "run", *given, cwd=tmp_path)
    assert ran.returncode == code, ran.stderr
    assert message in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.stdout == ""
    assert (tmp_path / "notes.txt").read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("run.toml", b'schema = "assay/run/1"\nmodel = "x"\n', "its labels judge what the model wrote"),
        ("run.toml", toml(study="poems"), "run.toml: no such study: 'poems' (there are "),
        ("run.toml", toml(study="repository"), "run.toml: missing: project, folder, prompt_block, interpreter, isolation"),
        ("answers.jsonl", b'{"id": "p:1"}\n', f"{RECORD}: Object missing required field"),
        ("answers.jsonl", line(answer(1, measures={"total_logprob": "low"})), "got `str` - at `$.generations[0].measures"),
    ],
)
def test_a_damaged_run_is_refused_and_why(run: Run, capsys: pytest.CaptureFixture[str], file: str, content: bytes, message: str) -> None:
    (run.folder / file).write_bytes(content)
    assert main(["eval", "report", str(run.folder)]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.startswith("assay: ")
    assert said.out == ""


def test_a_report_on_a_killed_run_says_how_many_places_of_how_many_are_done(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    begun = "5 of 81 places are done; the same command as before goes on"
    for wanted, far in ((81, begun), (5, "5 places are done"), (None, "5 places are done")):
        run.keep_wanted(ANSWERS, wanted)
        assert main(["eval", "report", str(run.folder)]) == 0
        said = capsys.readouterr()
        assert said.err.endswith(f"\n{far}\n")
        assert "done" not in said.out

"""Recorded answers take the place of a model's, and published completions are run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from needs import DATA, needs_data
from study_runs import figures_of

from assay.offline_eval.catcode.functors.labelling import Options
from assay.offline_eval.catcode.functors.study import run_functors
from assay.offline_eval.errors import UsageError
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.recorded.answers import RecordedError
from assay.offline_eval.recorded.formats import recorded

from .functor_server import written

pytest.importorskip("matplotlib", reason="matplotlib is not installed")

pytestmark = pytest.mark.usefixtures("isolated")


def recording(path: Path, *answers: tuple[str, str, str]) -> Path:
    """A file of answers (item, step, text)."""
    lines: list[dict[str, Any]] = [{"schema": "assay/answers/1", "name": "mine", "model": "some-7b", "licence": "MIT"}]
    lines += [{"item": item, "step": step, "index": 0, "text": text} for item, step, text in answers]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def asked(tmp_path: Path, path: Path, name: str = "translate") -> Options:
    return Options(
        tmp_path / "run", data=written(tmp_path, 3), set=name, recorded=[path], sources=("javascript",), pool=Pool(1)  # type: ignore[arg-type]
    )  # fmt: skip


def test_recorded_answers_that_belong_to_no_program_are_told(tmp_path: Path) -> None:
    path = recording(tmp_path / "answers.jsonl", ("HumanEval/0", "translate", "pass"))
    with pytest.raises(UsageError, match=r"no recorded answer .*items are named like humaneval-javascript-python/0"):
        run_functors(asked(tmp_path, path))
    path.write_text(json.dumps({"task_id": "Nobody/1", "completion": "x", "language": "java"}) + "\n")
    with pytest.raises(RecordedError, match=r"answers.jsonl:1: a task 'Nobody/1', which is of no benchmark known here"):
        recorded(path)


@pytest.mark.slow
def test_recorded_translations_are_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = recording(
        tmp_path / "answers.jsonl",
        ("humaneval-javascript-python/0", "translate", "def halve_0(x):\n    return x // 2\n"),
        ("humaneval-javascript-python/1", "translate", "```\nreturn x\n```"),
        ("humaneval-javascript-python/9", "translate", "pass"),
    )
    run_functors(replace(asked(tmp_path, path), dry_run=True))
    assert "no model is asked" in capsys.readouterr().err
    run = run_functors(asked(tmp_path, path))
    cell = figures_of(run.folder)["T4/humaneval/javascript-python"]
    assert (cell["value"], cell["n"]) == (0.5, 2)
    report = (run.folder / "report" / "report.md").read_text()
    assert "some-7b" in report
    assert "1 recorded item that --data has no program for" in report


@pytest.mark.slow
def test_recorded_round_trips_are_run_as_reproductions(tmp_path: Path) -> None:
    path = recording(
        tmp_path / "answers.jsonl",
        ("humaneval-javascript/0", "describe", "Halve it."),
        ("humaneval-javascript/0", "rebuild", "const halve0 = (x) => Math.floor(x / 2);"),
        ("humaneval-javascript/2", "describe", "halve2: return x * x"),
        ("humaneval-javascript/2", "rebuild", "return x * x;"),
    )
    cells = figures_of(run_functors(asked(tmp_path, path, "explain")).folder)
    assert (cells["T6/humaneval/javascript/named"]["value"], cells["T6/humaneval/javascript/named"]["n"]) == (1.0, 2)
    assert cells["T6/humaneval/javascript/named_without_copies"]["n"] == 1
    assert cells["T6/humaneval/javascript/header"]["value"] is None


@pytest.mark.slow
@needs_data("mbxp")
def test_published_completions_are_read_and_run(tmp_path: Path) -> None:
    samples, tasks = DATA / "mbxp" / "mbjsp_samples.jsonl.gz", DATA / "mbxp" / "mbjsp_release_v1.2.jsonl.gz"
    found = recorded(samples)
    assert (found.name, len(found.answers)) == ("mxeval-mbjsp_samples", 966)
    run = run_functors(Options(tmp_path / "run", data=[tasks], recorded=[samples], limit=2, pool=Pool(1)))
    cell = figures_of(run.folder)["D/mbxp/javascript"]
    assert (cell["n"], cell["value"] is not None) == (2, True)
    assert run.question()["set"] == "complete"

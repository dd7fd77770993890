"""`assay calibrate repo` on a small project of real code and real tests, with the embedded model, in a real jail."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from sums_project import SOURCE, write_project

from assay.analysis.sandbox.isolation.best_level import NoIsolation, best_level
from assay.calibration import calibrator
from assay.calibration.calibrator import load, save
from assay.calibration.samples import read_samples
from assay.calibration.trust import remember
from assay.cli.main import main
from assay.inference.opening import ModelChoice
from assay.offline_eval.model import model_of
from assay.offline_eval.pool.interface import PoolError
from assay.offline_eval.pool.pool import Pool
from assay.offline_eval.repository.answers import Answerer
from assay.offline_eval.sets.regions import TASKS

pytest.importorskip("libcst", reason="libcst is not installed")


@pytest.fixture(scope="module", autouse=True)
def isolation() -> None:
    try:
        best_level()
    except NoIsolation as error:
        pytest.skip(f"nothing isolates programs here: {error}")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return write_project(tmp_path / "shop-1.0")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSAY_DATA_HOME", str(tmp_path / "data"))


def command(project: Path, *more: str) -> list[str]:
    return ["calibrate", "repo", str(project), "--python", sys.executable, "--out", str(project.parent / "run"), *more]


def begun(project: Path, *more: str, out: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3] / ".typing")}
    program = [sys.executable, "-m", "assay", *command(project, *more)]
    return subprocess.Popen(program, env=environment, stdout=out, stderr=subprocess.PIPE, text=True)


def await_records(run: Path, process: subprocess.Popen[str], count: int) -> None:
    """Wait until so many answers are on the disk, or the process has ended."""
    until = time.monotonic() + 240
    while len(records(run)) < count and process.poll() is None and time.monotonic() < until:
        time.sleep(0.02)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and ".assay" not in p.parts}


def records(run: Path) -> list[dict[str, object]]:
    """The answers that are on the disk, but for a line that is being written."""
    path = run / "answers.jsonl"
    lines = path.read_bytes().splitlines(keepends=True) if path.exists() else []
    return [json.loads(line) for line in lines if line.endswith(b"\n")]


@pytest.mark.slow
def test_a_project_gets_samples_calibrators_and_a_report_and_nothing_else(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, run = contents(project), project.parent / "run"
    assert main(command(project, "--samples", "6", "--json")) == 0
    said = json.loads(capsys.readouterr().out)
    assert contents(project) == before
    found = records(run)
    assert {r["deletion"] for r in found} >= {"seen"}
    assert all(r["deletion"] == "unseen" for r in found if r["function"] == "unseen")
    samples = [s for path in said["samples"] for s in read_samples(Path(path))]
    assert {s.project for s in samples} == {"shop-1.0"}
    assert {s.task for s in samples} <= {"line", "line_rest", "line_middle", "block"}
    assert all(s.labels["tests_pass"] for s in samples if s.labels["exact_match"])
    assert {s.labels["tests_pass"] for s in samples} >= {False}
    for path in said["calibrators"]:
        assert Path(path).parent == project / ".assay" / "calibrators"
        assert load(Path(path)).fitted_on.n > 0
    for name in ("report.html", "report.md", "report.json"):
        assert (run / "report" / name).stat().st_size > 1000
    assert said["deletion"]["seen"] == sum(r["deletion"] == "seen" for r in found)

    # the same command does nothing twice, and more samples add to what is there
    answers = (run / "answers.jsonl").read_bytes()
    assert main(command(project, "--samples", "6")) == 0
    assert (run / "answers.jsonl").read_bytes() == answers
    assert main(["eval", "report", str(run)]) == 0


def interrupted(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_what_a_killed_run_had_finished_is_kept(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run = project.parent / "run"
    for kill in (signal.SIGKILL, signal.SIGINT):
        known = records(run)
        process = begun(project, "--samples", "30", "--workers", "2")
        await_records(run, process, len(known) + 2)
        process.send_signal(kill)
        _, said = process.communicate(timeout=60)
        now = records(run)
        assert now[: len(known)] == known
        if kill is signal.SIGINT and process.returncode:
            assert f"stopped after {sum(answer['deletion'] == 'seen' for answer in now)} place" in said
    assert main(command(project, "--samples", "30", "--workers", "2")) == 0
    assert len({r["id"] for r in records(run)}) == len(records(run)) >= len(now)

    # who stops the fits and the report is told as well, and how to have them of what is finished
    done = sum(answer["deletion"] == "seen" for answer in records(run))
    capsys.readouterr()
    with monkeypatch.context() as patched:
        patched.setattr("assay.offline_eval.repository.study.write_results", interrupted)
        assert main(command(project, "--samples", "30")) == 130
    said = capsys.readouterr().err
    assert f"stopped after {done} place" in said
    assert f"With `--samples {done}` the same command makes the calibrators of what is finished" in said
    answers = (run / "answers.jsonl").read_bytes()
    assert main(command(project, "--samples", str(done))) == 0
    assert (run / "answers.jsonl").read_bytes() == answers
    assert capsys.readouterr().out.splitlines()


def test_a_dry_run_says_what_would_be_executed_and_executes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "tests" / "test_sums.py").write_text(f"open({str(project.parent / 'was-run')!r}, 'w')")
    before = contents(project.parent)
    assert main(command(project, "--minutes", "3", "--make-environment", "--dry-run", "--json")) == 0
    said = capsys.readouterr()
    plan = json.loads(said.out)
    assert (plan["schema"], plan["minutes"], plan["places"], plan["interpreter"]) == ("assay/repository-plan/1", 3, None, None)
    assert (plan["project"], said.err) == (str(project), "")
    assert contents(project.parent) == before


@pytest.mark.slow
def test_a_calibrator_with_a_number_is_not_replaced_by_one_without(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(calibrator.__file__).parent / "shipped"
    shipped = load(folder / "exact_match-line.json")
    # What is shipped is withdrawn where the prompt has changed, until it is measured anew.
    other = "the shipped one" if (folder / "tests_pass-line.json").exists() else "no number"
    path = project / ".assay" / "calibrators" / f"repo-exact_match-line-{shipped.fitted_on.model[:8]}.json"
    path.parent.mkdir(parents=True)
    save(shipped, path)
    remember(project, trusted=True)
    before = path.read_bytes()
    assert main(command(project, "--samples", "2", "--tasks", "line")) == 0
    said = capsys.readouterr()
    assert f"{path} stays as it was" in said.err
    assert str(path) not in said.out.splitlines()
    assert said.err.splitlines()[-1].endswith(f": its own calibrator for exact_match of line; {other} for tests_pass of line")
    assert path.read_bytes() == before


def test_without_a_sandbox_nothing_runs_unasked(project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    with Path(os.devnull).open() as nobody:
        for stdin in (nobody, None):
            monkeypatch.setattr(sys, "stdin", stdin)
            assert main(command(project, "--sandbox", "none")) == 2
            assert "--yes" in capsys.readouterr().err
    assert not (project.parent / "run").exists()


@pytest.mark.slow
def test_what_cannot_be_calibrated_to_is_told(project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.rmtree(project / "tests")
    assert main(command(project)) == 1
    assert "test" in capsys.readouterr().err
    # what only a link out of the project leads to is not in the copy
    (project / "tests").mkdir()
    (project / "tests" / "test_core.py").write_text("import core\n")
    (project / "core").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").mkdir()
    assert main(command(project)) == 1
    said = capsys.readouterr().err
    assert "note: not in the copy that the tests see: core (a link out of the project)" in said
    assert "Links out of the project are not followed (core)" in said
    assert main(["calibrate", "repo", str(project), "--out", str(project / "run"), "--dry-run"]) == 2
    assert "inside the project" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_whose_workers_cannot_begin_makes_calibrators_of_what_there_is(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (project / "data.bin").open("wb") as file:
        file.truncate(1 << 25)  # too large to be copied, so that workers see what is saved
    assert main(command(project, "--samples", "6")) == 0
    made = capsys.readouterr().out.splitlines()
    assert made
    for path in made:
        Path(path).unlink()
    with begun(project, "--samples", "30", out=subprocess.PIPE) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if "what is done is kept in" in line)  # the tests have run
        (project / "shop" / ".sums.py.swp").touch()
        out, said = process.communicate(timeout=240)
    assert process.returncode == 1
    assert "is not what it was when the run began" in said
    assert out.splitlines() == made
    assert all(Path(path).is_file() for path in made)


def test_a_worker_of_another_assay_or_with_another_model_does_nothing(project: Path, tmp_path: Path, tiny_gguf: Path) -> None:
    model = model_of(ModelChoice(str(tiny_gguf)), TASKS)
    for other, said in (
        (replace(model, version="0.0.1"), "the driver 0.0.1: install the same on both"),
        (replace(model, id="f" * 16), "f{16} when the run began"),
    ):
        answerer = Answerer(other, project, project.name, Path(sys.executable), best_level(), tmp_path, ("line",), 0, "")
        with pytest.raises(PoolError, match=said):
            list(Pool().run(answerer, []))


@pytest.mark.slow
def test_a_run_of_other_questions_is_refused_and_a_damaged_place_is_asked_again(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = project.parent / "run"
    assert main(command(project, "--samples", "1")) == 0
    assert main(command(project, "--samples", "1", "--seed", "5")) == 2
    assert "asked something else (seed: 0 -> 5)" in capsys.readouterr().err
    (project / "shop" / "sums.py").write_text(SOURCE.replace("start=0", "start=1 - 1"))
    assert main(command(project, "--samples", "1")) == 2
    (project / "shop" / "sums.py").write_text(SOURCE)
    path = run / "answers.jsonl"
    first, *others = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(first[:20] + b"\n" + b"".join(others))
    assert main(["eval", "report", str(run)]) == 2
    assert f"{path}:1: not JSON" in capsys.readouterr().err
    assert main(command(project, "--samples", "1")) == 0
    assert f"line 1 of {path} was damaged and is left out" in capsys.readouterr().err

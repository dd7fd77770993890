from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import pytest
from source_distribution import make_sdist

from assay.calibration.samples import read_samples
from assay.cli.eval import eval_report
from assay.inference.completion.settings import Settings
from assay.inference.completion.task import task_of
from assay.inference.opening import ModelChoice, open_model
from assay.offline_eval.line_completion.projects import Project, ProjectError, fetch, is_test, measured_projects, sources
from assay.offline_eval.line_completion.study import answer, generate, samples, tasks_of
from assay.offline_eval.run import GENERATIONS, LABELS, Run, RunError
from assay.suggestion.complete import complete


def asked() -> dict[str, str | int | list[str]]:
    return {"schema": "assay/run/1", "model": "0" * 16, "model_name": "tiny", "prompt": "0" * 16, "seed": 0, "tasks": ["line"]}


def test_gaps_come_from_code_that_is_not_a_test_and_put_back_give_the_file(tmp_path: Path) -> None:
    files = tasks_of(make_sdist(tmp_path), tmp_path, per_project=4, seed=1)
    assert [f.path for f in files] == ["shapes-1.0/shapes/area.py"]
    (file,) = files
    assert len({t.function for t in file.tasks}) == 4
    for task in file.tasks:
        line = file.text.split("\n")[task.line - 1]
        assert file.text[task.gap.start : task.gap.end] in line


def test_each_gap_is_the_task_that_the_live_engine_would_call_it(tmp_path: Path) -> None:
    for seed in range(10):
        for file in tasks_of(make_sdist(tmp_path), tmp_path, per_project=6, seed=seed):
            for task in file.tasks:
                assert task_of(file.text[: task.gap.start], file.text[task.gap.end :], "line") == task.task


def test_the_same_seed_asks_the_same_and_another_does_not(tmp_path: Path) -> None:
    project = make_sdist(tmp_path)
    first = tasks_of(project, tmp_path, 3, seed=1)
    assert first == tasks_of(project, tmp_path, 3, seed=1)
    assert first != tasks_of(project, tmp_path, 3, seed=2)


def test_an_archive_with_another_hash_is_refused(tmp_path: Path) -> None:
    project = make_sdist(tmp_path)
    (tmp_path / "shapes-1.0.tar.gz").write_bytes(b"something else")
    with pytest.raises(ProjectError, match="SHA-256"):
        sources(project, tmp_path)


def test_pip_runs_nothing_of_a_download_with_another_hash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """pip imports the build backend of a source distribution to learn its metadata."""
    marker = tmp_path / "it-ran"
    backend = f"open({str(marker)!r}, 'w')\nraise SystemExit('no metadata')\n"
    build = '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
    with tarfile.open(tmp_path / "assay-runs-code-1.0.tar.gz", "w:gz") as t:
        for file, text in {"pyproject.toml": build, "backend.py": backend, "PKG-INFO": "Name: assay-runs-code\nVersion: 1.0\n"}.items():
            info = tarfile.TarInfo(f"assay-runs-code-1.0/{file}")
            info.size = len(text)
            t.addfile(info, io.BytesIO(text.encode()))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(ProjectError, match="another SHA-256 than 0000"):
        sources(Project("assay-runs-code", "1.0", "0" * 64), tmp_path / "cache")
    assert not marker.exists()
    assert not list((tmp_path / "cache").iterdir())
    with pytest.raises(ProjectError, match="could not be downloaded"):
        fetch("assay-runs-code", "1.0", "sdist", tmp_path / "cache")
    assert marker.exists()


def test_a_project_that_pip_does_not_find_is_a_clear_error(tmp_path: Path) -> None:
    with pytest.raises(ProjectError, match=r"assay-no-such-project==1\.0 \(sdist\) could not be downloaded"):
        fetch("assay-no-such-project", "1.0", "sdist", tmp_path)


def test_an_archive_is_found_whatever_its_spelling_of_the_name(tmp_path: Path) -> None:
    for name in ("More_Itertools-11.2.1.tar.gz", "python-dateutil-4.0.0.tar.gz", "zope.interface-8.0-cp311-cp311-linux.whl"):
        (tmp_path / name).touch()
    assert fetch("more-itertools", "11.2.1", "sdist", tmp_path).name.startswith("More")
    assert fetch("python-dateutil", "4.0.0", "sdist", tmp_path).name.startswith("python")
    assert fetch("zope.interface", None, "wheel", tmp_path).name.startswith("zope")


def test_the_list_of_projects_is_long_enough_and_pinned() -> None:
    projects = measured_projects()
    assert len(projects) >= 15
    assert len({p.name for p in projects}) == len(projects)
    assert all(len(p.sha256) == 64 and p.version for p in projects)


def test_tests_are_told_from_code() -> None:
    assert is_test("a-1/tests/x.py")
    assert is_test("a-1/src/test_x.py")
    assert is_test("a-1/conftest.py")
    assert not is_test("a-1/src/contest.py")


def test_the_study_measures_what_the_live_engine_would_show(tmp_path: Path, tiny_gguf: Path) -> None:
    (file,) = tasks_of(make_sdist(tmp_path), tmp_path, per_project=2, seed=0)
    with open_model(tiny_gguf, threads=1) as model:
        records = answer(model, file, Settings())
    with open_model(tiny_gguf, threads=1) as model:
        for task, record in zip(file.tasks, records, strict=True):
            live = complete(model, file.text[: task.gap.start], file.text[task.gap.end :])
            assert record["text"] == live.text
            assert record["measures"]["total_logprob"] == pytest.approx(sum(t.logprob for t in live.tokens), abs=2e-3)


def test_a_run_gives_a_samples_file_per_task_with_labels(tmp_path: Path, tiny_gguf: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = tasks_of(make_sdist(tmp_path / "cache"), tmp_path / "cache", per_project=4, seed=0)
    run = Run.begin(tmp_path / "run", asked())
    generate(run, files, ModelChoice(str(tiny_gguf)), Settings(), workers=1, say=lambda _: None)
    assert eval_report(tmp_path / "run", as_json=True) == 0
    summary = json.loads(capsys.readouterr().out)
    found = read_samples([Path(p) for p in summary["samples"]])
    shown = [r for r in run.records(GENERATIONS) if r["text"].strip()]
    assert len(found) == len(shown)
    truth = {r["id"]: r["text"].rstrip() == r["truth"].rstrip() for r in shown}
    assert {s.id: s.labels["exact_match"] for s in found} == truth
    assert {s.labels["tests_pass"] for s in found} == {None}


def test_a_killed_run_goes_on_and_nothing_finished_is_done_twice(tmp_path: Path, tiny_gguf: Path) -> None:
    cache, folder = tmp_path / "cache", tmp_path / "run"
    projects = [make_sdist(cache, f"shapes{i}", functions=20) for i in range(6)]
    script = f"""
from pathlib import Path
from assay.inference.completion.settings import Settings
from assay.inference.opening import ModelChoice
from assay.offline_eval.line_completion.study import generate, tasks_of
from assay.offline_eval.line_completion.projects import Project
from assay.offline_eval.run import Run
if __name__ == "__main__":
    projects = {projects!r}
    files = [f for p in projects for f in tasks_of(p, Path({str(cache)!r}), 20, 0)]
    run = Run.begin(Path({str(folder)!r}), {asked()!r})
    generate(run, files, ModelChoice({str(tiny_gguf)!r}), Settings(), 1, print)
"""
    program = tmp_path / "program.py"
    program.write_text(script)
    child = subprocess.Popen([sys.executable, str(program)], start_new_session=True)
    generations = folder / GENERATIONS
    deadline = time.monotonic() + 60
    while not (generations.exists() and generations.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    with generations.open("ab") as f:
        f.write(b'{"id": "torn')
    before = generations.read_bytes()
    before = before[: before.rfind(b"\n") + 1]

    subprocess.run([sys.executable, str(program)], check=True)
    after = generations.read_bytes()
    assert after.startswith(before)
    ids = [json.loads(line)["id"] for line in after.splitlines()]
    wanted = [t.id for p in projects for f in tasks_of(p, cache, 20, 0) for t in f.tasks]
    assert sorted(ids) == sorted(wanted)
    labelled = [r["id"] for r in Run.opened(folder).records(LABELS)]
    assert sorted(labelled) == sorted(wanted)


def test_a_generation_whose_label_was_lost_gets_it_on_the_next_run(tmp_path: Path, tiny_gguf: Path) -> None:
    files = tasks_of(make_sdist(tmp_path / "cache"), tmp_path / "cache", per_project=2, seed=0)
    run = Run.begin(tmp_path / "run", asked())
    generate(run, files, ModelChoice(str(tiny_gguf)), Settings(), workers=1, say=lambda _: None)
    (tmp_path / "run" / LABELS).unlink()
    generate(run, files, ModelChoice(str(tiny_gguf)), Settings(), workers=1, say=lambda _: None)
    assert [r["id"] for r in run.records(LABELS)] == [r["id"] for r in run.records(GENERATIONS)]


def test_a_folder_with_another_question_is_refused(tmp_path: Path) -> None:
    Run.begin(tmp_path / "run", asked())
    with pytest.raises(RunError, match="asked something else"):
        Run.begin(tmp_path / "run", {**asked(), "seed": 1})


def test_a_folder_that_is_not_a_run_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(RunError, match="not a run"):
        Run.begin(tmp_path, asked())
    with pytest.raises(RunError, match="not a run"):
        Run.opened(tmp_path)


def test_a_damaged_line_is_named(tmp_path: Path) -> None:
    run = Run.begin(tmp_path / "run", asked())
    run.append(LABELS, [{"id": "a"}])
    with (run.folder / LABELS).open("a") as f:
        f.write("not json\n")
    with pytest.raises(RunError, match=r"labels\.jsonl:2"):
        list(run.records(LABELS))


def test_a_generation_without_text_makes_no_sample(tmp_path: Path) -> None:
    run = Run.begin(tmp_path / "run", asked())
    base = {"task": "line", "project": "p", "file": "f.py", "measures": {"total_logprob": -1.0}}
    run.append(GENERATIONS, [{**base, "id": "a", "text": " ", "truth": "x"}, {**base, "id": "b", "text": "x", "truth": "x"}])
    run.append(LABELS, [{"id": "a", "exact_match": False}, {"id": "b", "exact_match": True}])
    assert [s.id for s in samples(run, "0" * 16, "tiny", "0" * 16, 0)["line"]] == ["b"]


def test_an_interrupt_ends_a_study_soon_with_what_is_finished_kept(tmp_path: Path, tiny_gguf: Path) -> None:
    cache, folder = tmp_path / "cache", tmp_path / "run"
    projects = [make_sdist(cache, f"shapes{i}", functions=20) for i in range(40)]
    program = tmp_path / "program.py"
    program.write_text(f"""
from pathlib import Path
from assay.inference.completion.settings import Settings
from assay.inference.opening import ModelChoice
from assay.offline_eval.line_completion.study import generate, tasks_of
from assay.offline_eval.line_completion.projects import Project
from assay.offline_eval.run import Run
if __name__ == "__main__":
    files = [f for p in {projects!r} for f in tasks_of(p, Path({str(cache)!r}), 20, 0)]
    run = Run.begin(Path({str(folder)!r}), {asked()!r})
    generate(run, files, ModelChoice({str(tiny_gguf)!r}), Settings(), 2, print)
""")
    child = subprocess.Popen([sys.executable, str(program)], stdout=subprocess.PIPE, text=True, start_new_session=True)
    generations = folder / GENERATIONS
    deadline = time.monotonic() + 60
    while not (generations.exists() and generations.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(child.pid, signal.SIGINT)
    try:
        said, _ = child.communicate(timeout=60)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
    assert child.returncode != 0
    assert "the same command goes on" in said
    assert list(Run.opened(folder).records(GENERATIONS))

"""What is wrong with `assay calibrate repo` as it was given, seen before anything is run."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from house.running import assay
from study_runs import isolation_here

from assay.analysis.oracle.copying import copy_project, left_out_notes
from assay.cli.main import main
from assay.offline_eval.repository.suite import advice_on_links, changed_since, frozen

pytest.importorskip("libcst", reason="libcst is not installed")


@pytest.mark.slow
def test_who_stops_the_baseline_is_told_that_nothing_is_lost(tmp_path: Path) -> None:
    isolation_here()
    project = tmp_path / "shop"
    project.mkdir()
    (project / "test_slow.py").write_text("import time\n\n\ndef test_slow():\n    time.sleep(60)\n")
    path = str(Path(__file__).parents[3] / ".typing")
    environment = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    program = [sys.executable, "-m", "assay", "calibrate", "repo", str(project), "--python", sys.executable]
    with subprocess.Popen(program, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "running the tests as they are" in line:
                break
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert "stopped; nothing is lost: the tests' baseline is made again by the same command" in said


FUNCTION = 'def f{n}(items):\n    """Sum."""\n    total = {n}\n    for item in items:\n        total += item\n    return total\n\n\n'


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project without tests; the cache is kept beside it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop/shop.py").write_text("".join(FUNCTION.format(n=n) for n in range(9)))
    return tmp_path / "shop"


@pytest.mark.slow
def test_a_project_needs_no_tests_for_exact_matches_and_options_of_tests_are_refused(shop: Path, tiny_gguf: Path) -> None:
    begin = ("calibrate", "repo", shop, "--event", "exact_match", "--model", tiny_gguf, "--memory", "off")
    done = assay(*begin, "--samples", "5", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["places"] == {"unknown": 5}
    for option in (("--yes",), ("--make-environment",), ("--sandbox", "none"), ("--tasks", "block")):
        refused = assay(*begin, *option)
        assert refused.returncode == 2
        assert "exact_match" in refused.stderr


def test_what_tests_may_miss_in_the_copy_is_told_and_what_every_project_has_is_not(tmp_path: Path) -> None:
    project, elsewhere = tmp_path / "project", tmp_path / "core"
    elsewhere.mkdir()
    project.mkdir()
    subprocess.run(["git", "init", "-q", project], check=True)
    for folder in (".venv", "__pycache__", ".pytest_cache"):
        (project / folder).mkdir()
    (project / ".venv" / "pyvenv.cfg").touch()
    (project / ".coverage").touch()
    (project / "core").symlink_to(elsewhere)
    (project / "gone").symlink_to("nowhere")
    left_out = copy_project(project, tmp_path / "copy").left_out
    assert len(left_out) == 7
    assert list(left_out_notes(left_out)) == [
        "not in the copy that the tests see: core (a link out of the project)",
        "not in the copy that the tests see: gone (a link that leads nowhere)",
    ]
    assert advice_on_links(left_out).startswith(". Links out of the project are not followed (core): ")
    for number in range(9):
        (project / f"link{number}").symlink_to(tmp_path)
    assert list(left_out_notes(copy_project(project, tmp_path / "other").left_out))[-1].startswith("nor are ")


def test_what_is_copied_from_the_frozen_project_is_what_it_was_whatever_is_saved_meanwhile(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "pkg").mkdir(parents=True)
    (project / "pkg" / "a.py").write_text("x = 1\n")
    (project / "run.sh").write_text("echo\n")
    (project / "run.sh").chmod(0o755)
    (project / "link.py").symlink_to("pkg/a.py")
    (project / "outside").symlink_to(tmp_path)
    began = copy_project(project, tmp_path / "copy")
    with frozen(project) as (folder, left_out):
        assert folder != project
        assert left_out == began.left_out
        (project / "pkg" / "a.py").write_text("x = 2\n")
        (project / "pkg" / ".a.py.swp").touch()
        assert copy_project(folder, tmp_path / "again").sha256 == began.sha256
        (project / "d.py").touch()
        (project / "link.py").unlink()
        (project / ".coverage").touch()
        assert changed_since(project, folder) == ["d.py", "link.py", "pkg/.a.py.swp", "pkg/a.py"]
    assert not folder.exists()
    with (project / "data.bin").open("wb") as file:
        file.truncate(1 << 25)
    with frozen(project) as (folder, _):
        assert folder == project, "what is too large to copy is its own folder"


pytest.importorskip("libcst", reason="libcst is not installed")

pytestmark = pytest.mark.usefixtures("isolated")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "sums.py").touch()
    return tmp_path / "shop"


def command(project: Path, *more: str) -> list[str]:
    return ["calibrate", "repo", str(project), "--python", sys.executable, "--out", str(project.parent / "run"), *more]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("given", "out", "refused"),
    [
        (".", "../run", False),
        (".", "{parent}/link/run", True),
    ],
)
def test_a_run_is_kept_outside_of_the_project_however_both_are_named(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, given: str, out: str, refused: bool
) -> None:
    monkeypatch.chdir(project)
    (project.parent / "link").symlink_to(project)
    asked = ["calibrate", "repo", given, "--python", sys.executable, "--out", out.format(parent=project.parent), "--dry-run"]
    assert main(asked) == (2 if refused else 0)
    assert ("inside the project" in capsys.readouterr().err) == refused


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the cache is named otherwise")
@pytest.mark.parametrize("cache", ["/proc/nope", "{project}/.cache"])
def test_a_cache_inside_of_the_project_or_that_cannot_be_made_is_named_with_how_to_choose_another(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, cache: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", cache.format(project=project))
    assert main(command(project)) == 2
    assert "let XDG_CACHE_HOME name a folder elsewhere" in capsys.readouterr().err


def test_a_project_whose_path_is_not_utf_8_is_refused_at_once(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = project.rename(project.with_name(os.fsdecode(b"shop-\xff")))
    assert main(command(odd, "--dry-run")) == 2
    assert "is not UTF-8" in capsys.readouterr().err


def test_a_dry_run_refuses_a_python_without_pytest_as_the_run_would(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    venv.create(project.parent / "bare", with_pip=False)
    python = str(project.parent / "bare" / "bin" / "python")
    assert main(["calibrate", "repo", str(project), "--python", python, "--dry-run"]) == 1
    assert "has no pytest" in capsys.readouterr().err


@pytest.mark.slow
def test_a_dry_run_names_the_runs_folder_and_whether_it_goes_on(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["calibrate", "repo", str(project), "--python", sys.executable, "--samples", "1", "--dry-run"]
    assert main(asked) == 0
    said = capsys.readouterr().err
    assert "places       1\n" in said
    assert f"pytest       {pytest.__version__}\n" in said
    found = re.search(r"run          (\S+/repositories/shop-[0-9a-f]{12})\nplaces done  0\n", said)
    assert found, said
    Path(found[1]).mkdir(parents=True)
    # the question is that of no run with this seed
    (Path(found[1]) / "run.toml").write_text(
        'schema = "assay/run/3"\nstudy = "repository"\nmodel = "m"\nmodel_name = ""\nprompt = "p"\nseed = 7\n'
    )
    assert main(asked) == 2
    assert "seed: 7 -> 0" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_wrong_with_the_command_is_told_before_a_test_has_run(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.offline_eval.repository.study.Oracle", None)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "empty").mkdir()
    given = ["calibrate", "repo", str(project)]
    assert main([*given, "--out", str(tmp_path / "full")]) == 2
    assert "is not empty and not a run" in capsys.readouterr().err
    assert main([*given, "--model", str(tmp_path / "none.gguf")]) == 2
    assert "none.gguf" in capsys.readouterr().err
    assert main(["calibrate", "repo", str(tmp_path / "empty")]) == 2
    assert "holds no Python file" in capsys.readouterr().err
    (project / ".assay").symlink_to(tmp_path / "empty")
    assert main([*given, "--dry-run"]) == 2
    assert f"{project / '.assay'} is a symbolic link" in capsys.readouterr().err
    (project / ".assay").unlink()
    (project / ".assay").touch()
    assert main([*given, "--dry-run"]) == 2
    assert "calibrators are written there" in capsys.readouterr().err

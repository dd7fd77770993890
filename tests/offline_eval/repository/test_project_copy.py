from __future__ import annotations

import subprocess
from pathlib import Path

from assay.analysis.oracle.copying import copy_project, left_out_notes
from assay.offline_eval.repository.suite import advice_on_links, changed_since, frozen


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


def test_of_many_things_that_are_not_in_the_copy_only_some_are_named(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    for number in range(9):
        (tmp_path / "project" / f"link{number}").symlink_to(tmp_path)
    left_out = copy_project(tmp_path / "project", tmp_path / "copy").left_out
    told = list(left_out_notes(left_out))
    assert (len(told), told[-1]) == (6, "nor are 4 more")
    assert "link4 and others" in advice_on_links(left_out)
    assert advice_on_links({}) == ""


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
    assert not folder.exists()


def test_a_project_with_files_too_large_to_copy_is_its_own_folder(tmp_path: Path) -> None:
    with (tmp_path / "data.bin").open("wb") as file:
        file.truncate(1 << 25)
    with frozen(tmp_path) as (folder, left_out):
        assert (folder, left_out) == (tmp_path, {})


def test_files_that_were_saved_made_or_removed_since_the_copy_are_named(tmp_path: Path) -> None:
    project = tmp_path / "project"
    (project / "pkg").mkdir(parents=True)
    for name in ("a.py", "b.py", "c.py"):
        (project / "pkg" / name).write_text("x = 1\n")
    (project / "link.py").symlink_to("pkg/a.py")
    with frozen(project) as (folder, _):
        (project / ".coverage").touch()
        assert changed_since(project, folder) == []
        (project / "pkg" / "a.py").write_text("x = 2\n")
        (project / "pkg" / "b.py").unlink()
        (project / "d.py").touch()
        (project / "link.py").unlink()
        (project / "link.py").symlink_to("pkg/c.py")
        assert changed_since(project, folder) == ["d.py", "link.py", "pkg/a.py", "pkg/b.py"]

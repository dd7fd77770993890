"""Who changed which files of a repository, read without running anything of it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from assay.analysis.corpora.git_history import changed_by, committed, open_repository


def git(folder: Path, *arguments: str) -> None:
    environment = {
        **os.environ,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_AUTHOR_DATE": "1700000000 +0000",
        "GIT_COMMITTER_DATE": "1700000000 +0000",
    }
    named = ["-c", "user.name=x", "-c", "user.email=me@example.org"]
    subprocess.run(["git", "-C", str(folder), *named, *arguments], check=True, capture_output=True, env=environment)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    git(tmp_path, "init")
    return tmp_path


def test_files_with_any_name_and_the_time_of_their_last_change(folder: Path) -> None:
    names = ["a b.py", "ü.py", "\x01123", "1", "in/deep.py"]
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("x")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "x")
    repository = open_repository(folder)
    assert committed(repository) == set(names)
    assert changed_by(repository, "me@example.org", 10) == dict.fromkeys(names, 1700000000)
    assert changed_by(repository, "you@example.org", 10) == {}
    below = open_repository(folder / "in")
    assert (committed(below), set(changed_by(below, "me@example.org", 10))) == ({"deep.py"}, {"deep.py"})


def test_before_the_first_commit_there_is_nothing(folder: Path) -> None:
    assert committed(open_repository(folder)) == set()
    assert changed_by(open_repository(folder), "me@example.org", 10) == {}


def test_no_program_that_the_repository_names_is_run(folder: Path) -> None:
    (folder / "a.py").write_text("x")
    git(folder, "add", "-A")
    git(folder, "commit", "-m", "x")
    program = folder / "program"
    program.write_text(f"#!/bin/sh\ntouch {folder}/ran\n")
    program.chmod(0o755)
    for setting in ("core.fsmonitor", "core.pager", "diff.external", "gpg.program"):
        git(folder, "config", setting, str(program))
    git(folder, "config", "log.showSignature", "true")
    repository = open_repository(folder)
    assert set(changed_by(repository, "me@example.org", 10)) == {"a.py"}
    assert committed(repository) == {"a.py"}
    assert not (folder / "ran").exists()

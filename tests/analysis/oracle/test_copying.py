"""The private copy of a project."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from assay.analysis.oracle import copying
from assay.analysis.oracle.baseline_runs import line_counts
from assay.analysis.oracle.copying import NotCopied, ProjectCopy, copy_project
from assay.analysis.oracle.interpreter import probe
from assay.analysis.oracle.scratch_folder import ScratchFolder
from assay.analysis.oracle.sources import NotJudged, source_of
from assay.analysis.oracle.suite import Suite, compile_sources, install_plugin
from assay.analysis.sandbox.isolation.jail import Jail
from assay.analysis.sandbox.isolation.levels import Isolation


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "package").mkdir(parents=True)
    (folder / "package" / "__init__.py").write_text("x = 1\n")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o700)
    return folder


def test_histories_caches_and_environments_stay_behind_and_are_named(project: Path, tmp_path: Path) -> None:
    for name in (".git", "__pycache__", "mine", "package/.tox"):
        (project / name).mkdir()
    (project / "mine" / "pyvenv.cfg").write_text("")
    copied = copy_project(project, tmp_path / "copy")
    assert sorted(path.name for path in copied.folder.rglob("*")) == ["__init__.py", "package", "run.sh"]
    assert copied.left_out.keys() == {".git", "__pycache__", "mine", "package/.tox"}
    assert copied.left_out["mine"] == "a virtual environment"


def test_every_user_can_read_the_copy_and_run_its_programs(project: Path, tmp_path: Path) -> None:
    (project / "package" / "__init__.py").chmod(0o600)
    copied = copy_project(project, tmp_path / "copy")
    assert (copied.folder / "package" / "__init__.py").stat().st_mode & 0o777 == 0o644
    assert (copied.folder / "run.sh").stat().st_mode & 0o777 == 0o755


def compiled_by(copied: ProjectCopy, place: Path, script: str, python: Path, tmp_path: Path) -> None:
    """Has a program in the place of the project's Python compile its copy."""
    install_plugin(place)
    fake, jail = tmp_path / "python", Jail(Isolation.NONE)
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    compile_sources(Suite(copied, place, replace(probe(python, jail), path=fake), jail))


@pytest.mark.slow
def test_a_deep_tree_that_the_projects_own_interpreter_leaves_stops_nothing(project: Path, python: Path, tmp_path: Path) -> None:
    place = ScratchFolder()
    copied = copy_project(project, place.path / "project")
    nests = f"cd {copied.folder}\ni=0\nwhile [ $i -lt 1500 ]; do mkdir d; cd d; i=$((i + 1)); done"
    compiled_by(copied, place.path, nests, python, tmp_path)
    assert (copied.folder / "/".join("d" * 500)).is_dir()
    place.close()
    assert not place.path.exists()


@pytest.mark.slow
def test_a_file_of_the_copy_that_the_projects_own_interpreter_makes_huge_is_not_read(project: Path, python: Path, tmp_path: Path) -> None:
    with closing(ScratchFolder()) as place:
        copied = copy_project(project, place.path / "project")
        fills = f"head -c 20M /dev/zero | tr '\\0' '\\n' > {copied.folder}/package/__init__.py"
        compiled_by(copied, place.path, fills, python, tmp_path)
        assert (copied.folder / "package" / "__init__.py").stat().st_size == 20 << 20
        with pytest.raises(NotJudged, match=r"package/__init__.py: larger than 16 MiB"):
            source_of(copied.folder, "package/__init__.py")
        assert line_counts(copied)("package/__init__.py") == 0


def test_folders_nested_too_deep_and_files_beyond_a_total_are_not_copied(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "/".join("d" * 120)).mkdir(parents=True)
    copied = copy_project(project, tmp_path / "copy")
    assert copied.left_out == {"/".join("d" * 101): "nested more than 100 folders deep"}
    monkeypatch.setattr(copying, "_MAX_TOTAL_BYTES", 10)
    with pytest.raises(NotCopied, match="would be copied"):
        copy_project(project, tmp_path / "other")


def test_links_inside_are_kept_and_links_out_of_the_project_or_to_nowhere_are_not(project: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (project / "inside").symlink_to(project / "package" / "__init__.py")
    (project / "outside").symlink_to(tmp_path / "secret")
    (project / "nowhere").symlink_to("missing")
    (project / "again").symlink_to(project)
    (project / "round").symlink_to("round")
    copied = copy_project(project, tmp_path / "copy")
    assert (copied.folder / "inside").resolve() == copied.folder / "package" / "__init__.py"
    assert (copied.folder / "again").resolve() == copied.folder
    assert not (copied.folder / "outside").is_symlink()
    nowhere = "a link that leads nowhere"
    assert copied.left_out == {"nowhere": nowhere, "round": nowhere, "outside": "a link out of the project"}


def test_large_files_are_linked_to(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "MAX_COPIED_BYTES", 100)
    (project / "data.bin").write_bytes(bytes(101))
    copied = copy_project(project, tmp_path / "copy")
    assert copied.linked == (project / "data.bin",)
    assert (copied.folder / "data.bin").readlink() == project / "data.bin"


@pytest.mark.skipif(os.geteuid() == 0, reason="root can read everything")
def test_what_cannot_be_read_is_named(project: Path, tmp_path: Path) -> None:
    (project / "package" / "__init__.py").chmod(0)
    assert copy_project(project, tmp_path / "copy").left_out == {"package/__init__.py": "can't be read: Permission denied"}


def test_the_hash_is_that_of_paths_and_contents(project: Path, tmp_path: Path) -> None:
    first = copy_project(project, tmp_path / "1").sha256
    assert copy_project(project, tmp_path / "2").sha256 == first
    (project / "package" / "__init__.py").rename(project / "package" / "other.py")
    second = copy_project(project, tmp_path / "3").sha256
    (project / "package" / "other.py").write_text("x = 2\n")
    assert len({first, second, copy_project(project, tmp_path / "4").sha256}) == 3


@pytest.mark.parametrize(
    "planted", ["ln -s {secret} {place}/project/package/__pycache__", "mv {file} {file}.py; ln -s {secret}/key {file}"]
)
def test_no_link_that_the_projects_own_interpreter_leaves_is_followed(project: Path, tmp_path: Path, planted: str, python: Path) -> None:
    secret, place = tmp_path / "secret", tmp_path / "place"
    secret.mkdir()
    (secret / "key").touch(mode=0o600)
    place.mkdir()
    copied = copy_project(project, place / "project")
    script = planted.format(secret=secret, place=place, file=copied.folder / "package" / "__init__.py")
    with pytest.raises(NotCopied, match="put links into the copy"):
        compiled_by(copied, place, script, python, tmp_path)
    assert (secret / "key").stat().st_mode & 0o777 == 0o600


def test_what_cannot_be_copied_is_named(project: Path, tmp_path: Path) -> None:
    os.mkfifo(project / "pipe")
    assert copy_project(project, tmp_path / "copy").left_out == {"pipe": "neither a file nor a folder"}


def test_a_missing_project_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotCopied, match="no such folder"):
        copy_project(tmp_path / "missing", tmp_path / "copy")

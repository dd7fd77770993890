from __future__ import annotations

import io
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest
from source_distribution import make_sdist

from assay.offline_eval.sets.projects import Project, ProjectError, fetch, measured_projects, sources, unpacked


@pytest.mark.slow
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


def test_an_archive_that_is_not_the_listed_one_is_not_unpacked(tmp_path: Path) -> None:
    project = replace(make_sdist(tmp_path / "cache"), sha256="0" * 64)
    with pytest.raises(ProjectError, match="its SHA-256 is"):
        unpacked(project, tmp_path / "sources", tmp_path / "cache")
    assert not (tmp_path / "sources").exists()

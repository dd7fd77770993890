from __future__ import annotations

import hashlib
import tomllib
import zipfile
from pathlib import Path

import pytest

from assay.offline_eval.errors import UsageError
from assay.offline_eval.memory_weights import recording as projects
from assay.offline_eval.memory_weights.recording import code_of, listed_projects
from assay.offline_eval.sets.projects import Project, ProjectError, measured_projects

REPOSITORY = Path(__file__).parents[3]


def test_nothing_is_measured_on_the_listed_projects_and_the_model_was_trained_on_them() -> None:
    listed = {project.name: project for project in listed_projects()}
    held_out = tomllib.loads((REPOSITORY / "training" / "held_out.toml").read_text())["names"]
    trained_on = {each["name"]: each for each in tomllib.loads((REPOSITORY / "training" / "corpus.toml").read_text())["package"]}
    assert len(listed) >= 20
    assert not listed.keys() & {project.name for project in measured_projects()}
    assert not listed.keys() & set(held_out)
    assert all((project.version, project.sha256) == (trained_on[name]["version"], trained_on[name]["sha256"])
               for name, project in listed.items())  # fmt: skip


def test_a_wheel_is_read_as_its_memory_reads_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "default_cache", lambda: tmp_path)
    wheel = tmp_path / "shapes-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in {
            "shapes/area.py": "x = 1\n",
            "shapes/_vendor/six.py": "y = 1\n",
            "shapes/data.py": f"z = '{'0' * 9_000}'\n",
        }.items():
            archive.writestr(name, text)
    project = Project("shapes", "1.0", hashlib.sha256(wheel.read_bytes()).hexdigest())
    assert [file.path for file in code_of(project).files] == ["shapes/area.py"]
    with pytest.raises(ProjectError, match="SHA-256"):
        code_of(Project("shapes", "1.0", "0" * 64))


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a folder"):
        code_of(tmp_path / "nowhere")

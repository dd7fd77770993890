"""The public code that is shipped."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.offline_eval.errors import StudyError
from assay.offline_eval.own_code import public
from assay.offline_eval.own_code.public import ARCHIVE, licences, public_code, public_projects
from assay.offline_eval.sets.projects import measured_projects


def test_it_is_small_and_of_measured_projects_alone_which_no_model_of_ours_was_trained_on() -> None:
    assert ARCHIVE.stat().st_size <= 2_000_000
    measured = {(project.name, project.version, project.sha256) for project in measured_projects()}
    assert {(project.name, project.version, project.sha256) for project in public_projects()} <= measured


def test_each_project_has_its_files_and_the_text_of_a_permissive_licence() -> None:
    code, texts = public_code(), licences()
    assert {project.name: project.files for project in public_projects()} == {name: len(files) for name, files in code.items()}
    for project in public_projects():
        assert project.licence in ("MIT", "BSD-3-Clause", "Apache-2.0")
        of_project = [text for path, text in texts.items() if path.startswith(code[project.name][0].path.partition("/")[0])]
        assert any("permission" in text.lower() or "licens" in text.lower() for text in of_project)


def test_another_file_in_its_place_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "public.xz"
    other.write_bytes(ARCHIVE.read_bytes()[:-1])
    monkeypatch.setattr(public, "ARCHIVE", other)
    with pytest.raises(StudyError, match="install Assay again"):
        public_code()

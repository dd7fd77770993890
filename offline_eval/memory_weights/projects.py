"""The projects that weights are fitted on: folders, or the wheels that projects.toml names.

Nothing of a wheel is run, also not by pip. None of the listed projects is one that anything is measured on. The embedded model was trained
on them.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...inference.project_memory.project import ProjectTooLarge
from ...suggestion.memory.folder import as_code, files_in, is_own_code
from ..errors import StudyError, UsageError
from ..sets.projects import Project, ProjectError, SourceFile, default_cache, fetch, python_files


@dataclass(frozen=True, slots=True)
class Code:
    """The files of a project that its memory reads."""

    project: str
    files: Sequence[SourceFile]


def listed_projects() -> list[Project]:
    """The list in projects.toml; the hashes are of wheels."""
    listed = tomllib.loads((Path(__file__).parent / "projects.toml").read_text())["project"]
    return [Project(each["name"], each["version"], each["sha256"]) for each in listed]


def code_of(project: Project | Path) -> Code:
    """The code of a listed project or of a folder. Raises ProjectError, UsageError, StudyError."""
    return _in_wheel(project, default_cache()) if isinstance(project, Project) else _in_folder(project)


def _in_wheel(project: Project, cache: Path) -> Code:
    archive = fetch(project.name, project.version, "wheel", cache, project.sha256)
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    if digest != project.sha256:
        raise ProjectError(f"{archive}: its SHA-256 is {digest}, projects.toml names {project.sha256}; delete the file and try again")
    own = (file for file in python_files(archive, project.name) if is_own_code(file.path) and as_code(file.text) is not None)
    return Code(f"{project.name} {project.version}", tuple(own))


def _in_folder(folder: Path) -> Code:
    if not folder.is_dir():
        raise UsageError(f"{folder} is not a folder")
    name = folder.resolve().name
    try:
        return Code(name, tuple(SourceFile(name, path, text.replace("\r\n", "\n")) for path, text in files_in(folder)))
    except ProjectTooLarge as error:
        raise StudyError(f"{folder} is too large for a project memory ({error}): leave it out") from error

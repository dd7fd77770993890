"""A project's own folder of calibrators. It may have come with the project from anywhere, so no symbolic link is followed in it."""

from __future__ import annotations

import errno
import os
from pathlib import Path

PROJECT_FOLDER = Path(".assay") / "calibrators"


def is_folder(path: Path) -> bool:
    """Whether it is a folder. False where that can't be told: a name is too long, or a folder above can't be entered."""
    return os.path.isdir(path)  # noqa: PTH112 - Path.is_dir raises there


def project_of(path: Path) -> Path | None:
    """The nearest folder at or above an absolute path that has calibrators of its own, or None. One that can't be looked at has none."""
    return next((folder for folder in (path, *path.parents) if is_folder(folder / PROJECT_FOLDER)), None)


def link_in(project: Path) -> Path | None:
    """The first symbolic link on the way from a project's root folder to its calibrators, or None. What can't be looked at is none."""
    on_the_way = project / PROJECT_FOLDER.parent, project / PROJECT_FOLDER
    return next((folder for folder in on_the_way if os.path.islink(folder)), None)  # noqa: PTH114 - Path.is_symlink may raise


def project_with(file: Path) -> Path | None:
    """The root folder of the project that a file, by its absolute path, is a calibrator of; None where it is in no such folder."""
    return file.parents[len(PROJECT_FOLDER.parts)] if file.parent.parts[-2:] == PROJECT_FOLDER.parts else None


def check_unlinked(file: Path) -> None:
    """Raises OSError where a file of a project's calibrators, or a folder on the way to it, is a symbolic link: it would lead elsewhere."""
    project = project_with(file)
    linked = file if file.is_symlink() else project and link_in(project)
    if linked:
        raise OSError(errno.ELOOP, f"it is a symbolic link to {linked.readlink()}: Assay writes only into the project itself", str(linked))

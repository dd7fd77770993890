"""Writing a calibrator into a project's own folder."""

from __future__ import annotations

from pathlib import Path

from .calibrator import Calibrator, save
from .calibrator_files import files_of
from .project_folder import PROJECT_FOLDER, check_unlinked, project_with
from .trust import remember


def save_for_project(calibrator: Calibrator, file: Path) -> None:
    """Write a calibrator that the user made into a project's folder.

    It is trusted from then on, as long as no other calibrator was there before: of that one, somebody has to say so.

    Raises OSError, also where a link would lead out of the project; CalibratorError where the folder can't be listed.
    """
    project = project_with(file.absolute())
    assert project is not None
    check_unlinked(file.absolute())
    is_first = not files_of("project", project / PROJECT_FOLDER)[0]
    save(calibrator, file, follow=False)
    if is_first:
        remember(project, trusted=True)

"""`assay calibrate trust`: remembers whether a project's own calibrators count, and whether its tests may run."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..exit_codes import DONE, UsageError
from ..options import Subparsers, command_parser
from ..terminal import say


def register(actions: Subparsers) -> None:
    """Add `assay calibrate trust`."""
    parser = command_parser(
        actions,
        "trust",
        "say that you trust a project's own calibrators, so that they are used",
        "They decide what probability you see for the project's files, and may come from anywhere. Your answer is remembered for the root "
        "folder. With --tests it is about the project's tests: the editor and `assay repair --verify` run them only after your yes, in the "
        "sandbox.",
    )
    parser.add_argument(
        "project", metavar="DIR", type=Path, nargs="?", help="root folder of the project (default: the project of the current folder)"
    )
    parser.add_argument("--tests", action="store_true", help="say that Assay may run the tests of the project")
    parser.add_argument("--no", action="store_true", help="say that you do not trust them, so that they are not used")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Remember the answer. Raises UsageError and OSError."""
    from ...calibration.project_folder import PROJECT_FOLDER, project_of
    from ...calibration.trust import TESTS, remember

    if arguments.project is not None and not arguments.project.is_dir():
        raise UsageError(f"{arguments.project} is not a folder")
    if arguments.tests:
        project = (arguments.project or Path.cwd()).absolute()
        remember(project, trusted=not arguments.no, about=TESTS)
        say(f"the tests of {project} {'are not' if arguments.no else 'may be'} run from now on")
        return DONE
    project = arguments.project.absolute() if arguments.project else project_of(Path.cwd())
    if project is None:
        raise UsageError(
            f"no folder at or above {Path.cwd()} has calibrators of its own ({PROJECT_FOLDER}); name the project's root folder"
        )
    remember(project, trusted=not arguments.no)
    say(f"the calibrators in {project / PROJECT_FOLDER} are {'not ' if arguments.no else ''}used from now on")
    return DONE

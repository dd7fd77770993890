"""`assay calibrate repo`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, minutes, one_of, positive

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice


def _tasks(text: str) -> list[str]:
    from .items import TASKS

    return one_of(TASKS, text, "task")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    parser.add_argument("project", metavar="PATH", type=Path, help="root folder of a Python project with a pytest suite")
    parser.add_argument("--samples", metavar="N", type=positive, help="places to ask at, whose tests see their code gone (default: 200)")
    parser.add_argument("--minutes", metavar="N", type=minutes, help="stop asking after so long; without --samples there is no other bound")
    parser.add_argument(
        "--tasks", type=_tasks, default="line,line_rest,line_middle,block", help="what is asked at each place (default: %(default)s)"
    )
    parser.add_argument("--python", metavar="FILE", type=Path, help="runs the tests (default: the project's .venv, else this Python)")
    parser.add_argument(
        "--make-environment", action="store_true",
        help="make an environment with what the tests need: runs the project's build code, with a network",
    )  # fmt: skip
    parser.add_argument(
        "--sandbox",
        choices=("auto", "none"),
        default="auto",
        help="none: run tests with no isolation, with your rights; you are asked first",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="say what would be executed; only the Python that would run the tests is asked for its pytest",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before anything runs unprotected")
    parser.add_argument("--seed", type=int, default=0, help="which places, lines and cursors are drawn (default: 0)")
    parser.add_argument(
        "--out", metavar="RUN", type=Path, help="folder of the run (default: one in the user's cache, for this very question)"
    )


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of the calibrators."""
    from ..pool.choice import Pool
    from .plan import Asked
    from .study import run_study

    run_study(
        Asked(
            arguments.project,
            choice,
            arguments.samples,
            arguments.minutes,
            arguments.python,
            arguments.make_environment,
            Pool(arguments.workers, arguments.ray),
            arguments.sandbox == "none",
            arguments.dry_run,
            arguments.yes,
            arguments.seed,
            tuple(arguments.tasks),
            arguments.out,
            arguments.json,
        )
    )


COMMAND = Command(
    group="calibrate",
    name="repo",
    summary="calibrate to a repository with its own tests",
    details="Regions of the project's own code are completed as in the editor, its tests judge the result in a sandbox, and calibrators "
    "are fitted that its files are then shown. What was done is kept: the same command goes on where it stopped.",
    add_arguments=add_arguments,
    run=run,
)

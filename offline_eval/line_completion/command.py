"""`assay eval calibration`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, add_memory_option, names, one_of, positive

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice


def _tasks(text: str) -> list[str]:
    from .items import TASKS

    return one_of(TASKS, text, "task")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    parser.add_argument("--out", metavar="RUN", type=Path, required=True, help="folder of the run")
    parser.add_argument("--projects", type=names, default=[], help="some of the projects, separated by commas (default: all)")
    parser.add_argument(
        "--per-project", metavar="N", type=positive, default=150, help="at most N functions of each project (default: %(default)s)"
    )
    parser.add_argument(
        "--tasks", type=_tasks, default="line,line_rest,line_middle", help="what the model is asked for at each line (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the draw of functions, lines and places (default: %(default)s)")
    parser.add_argument("--cache", metavar="DIR", type=Path, help="where the projects' archives are kept (default: your cache folder)")
    parser.add_argument(
        "--reflective", action="store_true", help="also ask the model about each of its answers, for the measures ask_true and verbalised"
    )
    parser.add_argument(
        "--alternatives", metavar="N", type=positive, default=1,
        help="draw N completions at each place and record each that differs, with the measure agreement (default: %(default)s)",
    )  # fmt: skip
    add_memory_option(parser)


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its samples files."""
    from ..pool.choice import Pool
    from .study import Asked, named, run_study

    run_study(
        Asked(
            arguments.out,
            choice,
            named(arguments.projects),
            arguments.per_project,
            arguments.tasks,
            arguments.seed,
            Pool(arguments.workers, arguments.ray),
            arguments.cache,
            arguments.reflective,
            arguments.alternatives,
            arguments.memory,
            arguments.json,
        )
    )


COMMAND = Command(
    group="eval",
    name="calibration",
    summary="complete lines of real projects, to get samples that calibrators are fitted to",
    details="The projects' sources are downloaded once, by pip, which checks their hashes. To learn a project's metadata, pip runs its "
    "build backend: that is code of the project or of others, and it runs with your rights. Assay itself only reads the sources. "
    "The same command resumes a run that was stopped.",
    add_arguments=add_arguments,
    run=run,
)

"""`assay eval calibration`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, names, one_of, positive

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice


def _tasks(text: str) -> list[str]:
    from .items import TASKS

    return one_of(TASKS, text, "task")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    parser.add_argument("--out", metavar="RUN", type=Path, required=True, help="folder of the run")
    parser.add_argument("--projects", type=names, default=[], help="some of the listed projects, with commas between (default: all)")
    parser.add_argument(
        "--per-project", metavar="N", type=positive, default=150, help="functions of each project at most (default: %(default)s)"
    )
    parser.add_argument(
        "--tasks", type=_tasks, default="line,line_rest,line_middle", help="what is asked of each line (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="which functions, lines and places are drawn (default: %(default)s)")
    parser.add_argument(
        "--cache", metavar="DIR", type=Path, help="where the projects' archives are kept (default: the user's cache folder)"
    )
    parser.add_argument(
        "--reflective", action="store_true", help="ask the model about each of its answers, too: the measures ask_true and verbalised"
    )
    parser.add_argument(
        "--alternatives", metavar="N", type=positive, default=1,
        help="draw so many at each place and record every one that differs, with the measure agreement (default: %(default)s)",
    )  # fmt: skip


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
            arguments.json,
        )
    )


COMMAND = Command(
    group="eval",
    name="calibration",
    summary="complete real lines of real projects and compare: the samples that calibrators are fitted on",
    details="The projects' sources are fetched once, through pip with their hashes (pip asks each one's build backend for its metadata), "
    "and only read. A run that was stopped is resumed by the same command.",
    add_arguments=add_arguments,
    run=run,
)

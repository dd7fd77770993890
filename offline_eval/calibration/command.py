"""`assay eval calibration`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, add_memory_option, names, one_of, positive

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice


def _tasks(text: str) -> list[str]:
    from ..sets.lines import TASKS

    return one_of(TASKS, text, "task")


def _arms(text: str) -> list[str]:
    from ..sets.arms import ARMS

    return one_of(ARMS, text, "arm")


def _steps(text: str) -> list[str]:
    return one_of(("answers", "labels"), text, "step")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    parser.add_argument("--out", metavar="RUN", type=Path, required=True, help="folder of the run")
    parser.add_argument(
        "--set", choices=("projects", "suites"), default="projects",
        help="lines of 30 projects, judged by exact match; or of 20 whose own tests judge as well, in a sandbox (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--projects", type=names, default=[], help="some of the projects, separated by commas (default: all)")
    parser.add_argument(
        "--per-project", metavar="N", type=positive,
        help="at most N places of each project (default: 150, and 60 where tests judge)",
    )  # fmt: skip
    parser.add_argument("--limit", metavar="N", type=positive, help="at most N places in all, drawn by the seed: for a quick look")
    parser.add_argument(
        "--tasks", type=_tasks, default="line,line_rest,line_middle", help="what the model is asked for at each line (default: %(default)s)"
    )
    parser.add_argument(
        "--arms", type=_arms, default="docstring",
        help="how the file is shown: docstring (as it is), no_docstring, no_suffix (nothing after the gap), separated by commas "
        "(default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="seed of the draw of functions, lines and places (default: %(default)s)")
    parser.add_argument("--cache", metavar="DIR", type=Path, help="where the projects' archives are kept (default: your cache folder)")
    parser.add_argument(
        "--python", metavar="FILE", type=Path, help="with --set suites: the Python that the tests' environments are made with"
    )
    parser.add_argument(
        "--reflective", action="store_true", help="also ask the model about each of its answers, for the measures ask_true and verbalised"
    )
    parser.add_argument(
        "--alternatives", metavar="N", type=positive, default=1,
        help="draw N completions at each place and record each that differs, with the measure agreement (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--steps", type=_steps, default=[], help="do these alone: answers, labels (default: all)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be asked and run, with counts of calls and tokens")
    add_memory_option(parser)


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its samples files."""
    from ..pool.choice import Pool
    from ..sets.projects import named
    from .plan import tell_plan
    from .study import Asked, run_study

    asked = Asked(
        arguments.out,
        choice,
        arguments.set,
        named(arguments.projects, suite=arguments.set == "suites"),
        arguments.per_project,
        arguments.limit,
        arguments.tasks,
        tuple(arguments.arms),
        arguments.seed,
        Pool(arguments.workers, arguments.ray),
        arguments.cache,
        arguments.python,
        arguments.reflective,
        arguments.alternatives,
        arguments.memory,
        arguments.steps,
        arguments.json,
    )
    if arguments.dry_run:
        tell_plan(asked)
    else:
        run_study(asked)


COMMAND = Command(
    group="eval",
    name="calibration",
    summary="complete lines of real projects, to get samples that calibrators are fitted to",
    details="The projects' sources are downloaded once, by pip, which checks their hashes. To learn a project's metadata, pip runs its "
    "build backend: that is code of the project or of others, and it runs with your rights. With --set suites an environment for each "
    "project's tests is made, which runs build code as well, and the tests run in the sandbox; else Assay itself only reads the sources. "
    "The same command resumes a run that was stopped.",
    add_arguments=add_arguments,
    run=run,
)

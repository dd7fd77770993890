"""`assay eval repairs`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, add_run_options, checked_pool, names, one_of, positive
from .options import SETS, STEPS, refuse_what_does_nothing

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice
    from ..pool.choice import Pool

_STEPS = tuple(dict.fromkeys(step for steps in STEPS.values() for step in steps))


def _steps(text: str) -> list[str]:
    return one_of(_STEPS, text, "step")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    parser.add_argument("--out", metavar="RUN", type=Path, required=True, help="folder of the run")
    parser.add_argument(
        "--set", choices=SETS, default="lines",
        help="lines: bugs in lines of 20 projects, judged by their own tests in a sandbox. quixbugs: the programs of --data, judged by the "
        "tests that come with them. defects4j: lines of Java projects in the patches of --data; only exact matches are judged. A "
        "program has no project, so --memory project is the open file there (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--data", metavar="FOLDER", type=Path, help="with --set quixbugs or defects4j a copy of the project")
    parser.add_argument("--projects", type=names, default=[], help="some of the projects, separated by commas (default: all)")
    parser.add_argument("--per-project", metavar="N", type=positive, help="at most N places of each project (default: 20)")
    parser.add_argument(
        "--limit", metavar="N", type=positive, help="for a quick look: at most N places in all, drawn by the seed; or the first N programs"
    )
    parser.add_argument("--steps", type=_steps, default=[], help=f"do these alone: {', '.join(_STEPS)} (default: all)")
    add_run_options(
        parser,
        seed_of="the places, of the bugs put there, and of which tests are held back",
        python="the Python that the environments of the projects' tests are made with",
    )


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its samples files and report. Raises UsageError, and what each study raises."""
    refuse_what_does_nothing(arguments)
    pool = checked_pool(arguments)
    if arguments.set == "lines":
        _run_lines(arguments, choice, pool)
    else:
        _run_programs(arguments, choice, pool)


def _run_lines(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool) -> None:
    from ..sets.projects import named
    from .lines.plan import tell_lines
    from .lines.study import Asked, run_lines

    asked = Asked(
        arguments.out,
        choice,
        named(arguments.projects, suite=True),
        arguments.per_project,
        arguments.limit,
        arguments.seed,
        pool,
        arguments.cache,
        arguments.python,
        arguments.memory,
        arguments.steps,
        arguments.json,
    )
    if arguments.dry_run:
        tell_lines(asked)
    else:
        run_lines(asked)


def _run_programs(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool) -> None:
    from .programs.study import Asked, run_programs, tell_programs

    asked = Asked(
        arguments.out,
        arguments.set,
        arguments.data,
        choice,
        arguments.limit,
        arguments.seed,
        pool,
        arguments.memory,
        arguments.steps,
        arguments.json,
    )
    if arguments.dry_run:
        tell_programs(asked)
    else:
        run_programs(asked)


COMMAND = Command(
    group="eval",
    name="repairs",
    summary="put bugs into lines, and see whether what is proposed in their place is right and the number beside it true",
    details="Lines of real projects get a bug that their own tests notice, by a rule or drawn from the model. What the editor would "
    "propose there, and at the right line, is judged by the tests in the sandbox, and compared with testing mutants without a model. The "
    "projects' sources and their tests' environments are made by pip, which runs build code with your rights. The same command resumes a "
    "run that was stopped.",
    add_arguments=add_arguments,
    run=run,
)

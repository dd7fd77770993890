"""`assay eval counterfeit`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, add_memory_option, names, one_of, positive, seed
from .options import STEPS, refuse_what_does_nothing, sort_of

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice
    from ..pool.choice import Pool

_STEPS = tuple(dict.fromkeys(step for steps in STEPS.values() for step in steps))


def _tasks(text: str) -> list[str]:
    from .lines.draw import TASKS

    return one_of(TASKS, text, "task")


def _steps(text: str) -> list[str]:
    return one_of(_STEPS, text, "step")


def temperature(text: str) -> float:
    """A temperature above 0: at 0 all draws are one text."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 10:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0, and at most 10")
    return value


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    parser.add_argument("--out", metavar="RUN", type=Path, required=True, help="folder of the run")
    parser.add_argument(
        "--set", metavar="SET", default="lines", help="lines: of 20 projects, judged by their own tests in a sandbox (default: %(default)s)"
    )
    parser.add_argument("--projects", type=names, default=[], help="some of the projects, separated by commas (default: all)")
    parser.add_argument("--per-project", metavar="N", type=positive, help="at most N places of each project (default: 60)")
    parser.add_argument("--limit", metavar="N", type=positive, help="for a quick look: at most N places in all, drawn by the seed")
    parser.add_argument("--tasks", type=_tasks, help="what the model is asked for at each line of a project (default: line,line_rest)")
    parser.add_argument("--draws", metavar="N", type=positive, default=10, help="texts drawn at each place (default: %(default)s)")
    parser.add_argument(
        "--temperature", metavar="T", type=temperature, default=0.6, help="the temperature at which they are drawn (default: %(default)s)"
    )
    parser.add_argument(
        "--seed",
        type=seed,
        default=0,
        help="seed of the places, of what is drawn there, and of what is repaired (default: %(default)s)",
    )
    parser.add_argument("--cache", metavar="DIR", type=Path, help="where the projects' archives are kept (default: your cache folder)")
    parser.add_argument("--python", metavar="FILE", type=Path, help="the Python that the environments of the projects' tests are made with")
    parser.add_argument("--steps", type=_steps, default=[], help=f"do these alone: {', '.join(_STEPS)} (default: all)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be asked and run, with counts of calls and tokens")
    add_memory_option(parser)


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its samples files and report. Raises UsageError, and what each study raises."""
    from ..pool.choice import Pool
    from ..run import check_writable

    sort = sort_of(arguments)
    refuse_what_does_nothing(arguments, sort)
    pool = Pool(arguments.workers, arguments.ray)
    check_writable(arguments.out, "the run is kept there")
    pool.check()
    match sort:
        case "lines":
            _run_lines(arguments, choice, pool)


def _run_lines(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool) -> None:
    from ..run import check_writable
    from ..sets.items import check_suites
    from ..sets.projects import named
    from .lines.draw import TASKS
    from .lines.plan import tell_lines
    from .lines.study import Asked, run_lines

    asked = Asked(
        arguments.out,
        choice,
        named(arguments.projects, suite=True),
        arguments.per_project or 60,
        arguments.limit,
        tuple(arguments.tasks or TASKS),
        arguments.draws,
        arguments.temperature,
        arguments.seed,
        pool,
        arguments.cache,
        arguments.python,
        arguments.memory,
        arguments.steps,
        arguments.json,
    )
    check_writable(asked.archives, "the projects' archives are kept there: name another folder with --cache")
    check_suites(asked.python)
    if arguments.dry_run:
        tell_lines(asked)
    else:
        run_lines(asked)


COMMAND = Command(
    group="eval",
    name="counterfeit",
    summary="draw lines from a model, and see whether it tells its own right ones from wrong ones that look right",
    details="Places of real projects are completed as in the editor, once greedily and several times at a temperature. The projects' own "
    "tests, in the sandbox, say of each text how much of them it keeps: a counterfeit is wrong and keeps some. Then the model is asked to "
    "judge its texts and to repair counterfeits. The projects' sources and their tests' environments are made by pip, which runs build "
    "code with your rights. The same command resumes a run that was stopped.",
    add_arguments=add_arguments,
    run=run,
)

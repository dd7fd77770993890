"""`assay eval counterfeit`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, add_ask_option, add_run_options, checked_pool, names, one_of, positive
from .options import STEPS, Sort, refuse_what_does_nothing, sort_of

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
        "--set", metavar="SET", default="lines",
        help="lines: of 20 projects, judged by their own tests in a sandbox. humaneval, mbpp, odex: programs for the problems of --data. "
        "cruxeval: its functions, executed in words. FILE: a set of counterfeits (assay/counterfeits/1), or the published one "
        "(default: %(default)s)",
    )  # fmt: skip
    parser.add_argument("--data", metavar="FILE", type=Path, help="the benchmark's file; Assay brings none with it")
    parser.add_argument(
        "--recorded", metavar="FILE", type=Path, nargs="+",
        help="ask no model: programs for humaneval or mbpp, and perhaps a file of the model's own tests, are labelled in the sandbox; "
        "answers to cruxeval, or to the programs of a file of counterfeits, are taken as they are",
    )  # fmt: skip
    add_ask_option(parser)
    parser.add_argument("--votes", metavar="N", type=positive, help="answers to each question about a program (default: 10)")
    parser.add_argument("--repairs", metavar="N", type=positive, help="repairs of each counterfeit program (default: 10)")
    parser.add_argument(
        "--reasoning", choices=("with", "without"), help="judge programs with reasoning alone, or without alone (default: both ways)"
    )
    parser.add_argument("--projects", type=names, default=[], help="some of the projects, separated by commas (default: all)")
    parser.add_argument("--per-project", metavar="N", type=positive, help="at most N places of each project (default: 60)")
    parser.add_argument(
        "--limit", metavar="N", type=positive, help="for a quick look: at most N places in all, drawn by the seed; or the first N problems"
    )
    parser.add_argument("--tasks", type=_tasks, help="what the model is asked for at each line of a project (default: line,line_rest)")
    parser.add_argument("--draws", metavar="N", type=positive, help="texts drawn at each place, or for each problem (default: 10, or 50)")
    parser.add_argument("--temperature", metavar="T", type=temperature, help="the temperature at which they are drawn (default: 0.6)")
    parser.add_argument("--steps", type=_steps, default=[], help=f"do these alone: {', '.join(_STEPS)} (default: all)")
    add_run_options(
        parser,
        seed_of="the places, of what is drawn there, and of what is repaired",
        python="the Python that the environments of the projects' tests are made with",
    )


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its samples files and report. Raises UsageError, and what each study raises."""
    sort = sort_of(arguments)
    refuse_what_does_nothing(arguments, choice, sort)
    pool = checked_pool(arguments)
    match sort:
        case "lines":
            _run_lines(arguments, choice, pool)
        case "problems" | "file":
            _run_problems(arguments, choice, pool, sort)
        case "draws":
            _run_draws(arguments, pool)


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
        arguments.draws or 10,
        arguments.temperature or 0.6,
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


def _run_problems(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool, sort: Sort) -> None:
    from .problems.asked import Asked
    from .problems.plan import tell_problems
    from .problems.study import run_problems

    asked = Asked(
        arguments.out,
        arguments.set if sort == "problems" or arguments.set == "cruxeval" else Path(arguments.set),
        arguments.data,
        choice,
        tuple(arguments.recorded or ()),
        arguments.limit,
        arguments.draws or 50,
        arguments.temperature or 0.6,
        arguments.votes or 10,
        arguments.repairs or 10,
        arguments.reasoning,
        arguments.ask,
        arguments.seed,
        pool,
        tuple(arguments.steps),
        arguments.json,
    )
    if arguments.dry_run:
        tell_problems(asked)
    else:
        run_problems(asked)


def _run_draws(arguments: argparse.Namespace, pool: Pool) -> None:
    from ..calibration.recorded.study import Asked
    from .problems.plan import tell_draws
    from .problems.recorded import run_recorded

    asked = Asked(arguments.out, arguments.set, arguments.data, arguments.recorded, arguments.limit, arguments.seed, pool, arguments.json)
    if arguments.dry_run:
        tell_draws(asked)
    else:
        run_recorded(asked)


COMMAND = Command(
    group="eval",
    name="counterfeit",
    summary="draw lines from a model, and see whether it tells its own right ones from wrong ones that look right",
    details="Places of real projects are completed as in the editor, once greedily and several times at a temperature. The projects' own "
    "tests, in the sandbox, say of each text how much of them it keeps: a counterfeit is wrong and keeps some. Then the model is asked to "
    "judge its texts and to repair counterfeits. With a set of problems whole programs are drawn, judged, executed in words and repaired; "
    "what a model wrote runs in the sandbox alone. The projects' sources and their tests' environments are made by pip, which runs build "
    "code with your rights. The same command resumes a run that was stopped.",
    add_arguments=add_arguments,
    run=run,
)

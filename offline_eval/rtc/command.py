"""`assay eval rtc`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, add_ask_option, add_run_options, checked_pool, names, one_of, positive
from .options import DEFAULT_SET, SETS, STEPS, refuse_what_does_nothing, sort_of

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice
    from ..pool.choice import Pool


def _steps(text: str) -> list[str]:
    return one_of(STEPS, text, "step")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    parser.add_argument("--out", metavar="RUN", type=Path, required=True, help="folder of the run")
    parser.add_argument(
        "--set", choices=SETS,
        help="regions: statements of 20 projects, judged by exact match and by the projects' own tests, in a sandbox. humaneval: functions "
        "without their docstrings, judged by the benchmark's tests. edits: commits of git histories, judged by their texts. Any instruct "
        f"or completion model is asked in words (default: {DEFAULT_SET})",
    )  # fmt: skip
    parser.add_argument(
        "--data", metavar="PATH", type=Path, nargs="+", default=[],
        help="with --set humaneval its file, with --set edits folders of git repositories; Assay brings none with it",
    )  # fmt: skip
    parser.add_argument(
        "--recorded", metavar="FILE", type=Path, nargs="+",
        help="report on round trips that were recorded, and ask no model: files of IdentityChain (IDChain_*.jsonl.gz), or "
        "assay/answers/1 with the steps draw, describe and rebuild",
    )  # fmt: skip
    add_ask_option(parser)
    parser.add_argument(
        "--forward",
        metavar="N",
        type=positive,
        help="descriptions of each code, drawn at temperature 0.8, of an edit at 1.0 (default: 3)",
    )
    parser.add_argument(
        "--backward", metavar="N", type=positive,
        help="how often code is rebuilt from each description: an edit once greedily, all else, and more often, at "
        "temperature 0.1 (default: 1)",
    )  # fmt: skip
    parser.add_argument("--projects", type=names, default=[], help="some of the projects, separated by commas (default: all)")
    parser.add_argument("--per-project", metavar="N", type=positive, help="at most N places of each project (default: 100)")
    parser.add_argument(
        "--limit", metavar="N", type=positive, help="for a quick look: at most N in all, drawn by the seed, or the first N problems"
    )
    parser.add_argument("--steps", type=_steps, default=[], help=f"do these alone: {', '.join(STEPS)} (default: all)")
    add_run_options(
        parser,
        seed_of="the draw of places, and of the descriptions",
        python="the Python that the environments of the projects' tests are made with",
        memory=False,
    )


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its samples files and report. Raises UsageError, and what each study raises."""
    sort = sort_of(arguments)
    refuse_what_does_nothing(arguments, choice, sort)
    pool = checked_pool(arguments)
    if sort == "recorded":
        _run_recorded(arguments)
    else:
        _run_problems(arguments, choice, pool)


def _run_problems(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool) -> None:
    from ..sets.projects import named
    from .problems.study import Asked, run_problems, tell_problems

    asked = Asked(
        arguments.out,
        choice,
        arguments.set or DEFAULT_SET,
        arguments.data,
        named(arguments.projects, suite=True),
        arguments.per_project,
        arguments.limit,
        arguments.seed,
        arguments.forward or 3,
        arguments.backward or 1,
        pool,
        arguments.cache,
        arguments.python,
        arguments.steps,
        arguments.json,
        arguments.ask,
    )
    if arguments.dry_run:
        tell_problems(asked)
    else:
        run_problems(asked)


def _run_recorded(arguments: argparse.Namespace) -> None:
    from .problems.recorded import Asked, run_recorded, tell_recorded

    asked = Asked(arguments.out, arguments.recorded, arguments.limit, arguments.seed, arguments.json)
    if arguments.dry_run:
        tell_recorded(asked)
    else:
        run_recorded(asked)


COMMAND = Command(
    group="eval",
    name="rtc",
    summary="have a model describe code and rebuild it from its description, and see whether that says that the code is right",
    details="The projects' sources are downloaded once, by pip, which checks their hashes, and an environment for each project's tests is "
    "made: both run build code of the project or of others, with your rights. The tests run in the sandbox. The same command resumes a run "
    "that was stopped.",
    add_arguments=add_arguments,
    run=run,
)

"""`assay calibrate repo`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, add_memory_option, listed, minutes, options_from, positive, seed
from ..errors import UsageError

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice


# Options that are about running tests.
_OF_TESTS = ("python", "make_environment", "dry_run", "yes")
# Where nobody gives a bound.
_DEFAULT_SAMPLES = 200


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    parser.add_argument(
        "project", metavar="PATH", type=Path, help="root folder of a Python project with a pytest suite; with --event exact_match of any"
    )
    parser.add_argument(
        "--event", choices=("exact_match",),
        help="exact_match: compare with what stood there alone, and run no tests (default: run them, for tests_pass and exact_match)",
    )  # fmt: skip
    parser.add_argument(
        "--samples", metavar="N", type=positive, help="ask at N places whose tests notice when their code is gone (default: 200)"
    )
    parser.add_argument(
        "--minutes",
        metavar="N",
        type=minutes,
        help="stop asking after N minutes, and give up a suite that takes longer; without --samples there is no other limit",
    )
    parser.add_argument(
        "--tasks",
        type=listed("task", ".sets.regions:TASKS"),
        help="what the model is asked for at each place (default: line,line_rest,line_middle and, where tests are run, block)",
    )
    parser.add_argument(
        "--python",
        metavar="FILE",
        type=Path,
        help="the Python that runs the tests (default: that of the activated environment, else of the project's .venv, of poetry's or "
        "uv's, or the one that runs Assay)",
    )
    parser.add_argument(
        "--make-environment", action="store_true",
        help="make an environment with what the tests need; this runs the project's build code, with a network",
    )  # fmt: skip
    parser.add_argument(
        "--sandbox",
        choices=("auto", "none"),
        default="auto",
        help="none: run the tests without isolation, with your rights; you are asked first",
    )
    parser.add_argument(
        "--dry-run",
        action="store_true",
        help="say what would be run; only the Python that would run the tests is started, to look for pytest",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask before tests run without isolation")
    parser.add_argument("--seed", type=seed, default=0, help="seed of the draw of places, lines and cursors (default: 0)")
    parser.add_argument(
        "--out", metavar="RUN", type=Path, help="folder of the run (default: one in your cache folder, for the same question)"
    )
    add_memory_option(parser)


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of the calibrators."""
    if arguments.event:
        _run_without_tests(arguments, choice)
        return
    from ..pool.pool import Pool
    from ..sets.regions import TASKS
    from .plan import Options
    from .study import run_study

    pool, tasks = Pool(arguments.workers, arguments.ray), tuple(arguments.tasks or TASKS)
    run_study(options_from(Options, arguments, choice=choice, pool=pool, unprotected=arguments.sandbox == "none", tasks=tasks))


def _run_without_tests(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    from ..own_code.study import Options, check_no_home, run_study
    from ..pool.pool import Pool
    from ..sets.lines import TASKS

    given = [f"--{name.replace('_', '-')}" for name in _OF_TESTS if getattr(arguments, name)]
    if arguments.sandbox == "none":
        given.append("--sandbox none")
    if given:
        raise UsageError(f"with --event exact_match no tests are run: leave {' and '.join(given)} out")
    if "block" in (arguments.tasks or ()):
        raise UsageError("a block is judged by tests: with --event exact_match leave the task block out")
    project = arguments.project.resolve()
    check_no_home(project)
    samples = arguments.samples or (None if arguments.minutes else _DEFAULT_SAMPLES)
    more = {"folders": (project,), "project": project, "minutes": arguments.minutes, "samples": samples}
    pool, tasks = Pool(arguments.workers, arguments.ray), tuple(arguments.tasks or TASKS)
    run_study(options_from(Options, arguments, choice=choice, pool=pool, tasks=tasks, **more))


COMMAND = Command(
    group="calibrate",
    name="repo",
    summary="fit calibrators to a project, with its own tests",
    details="Parts of the project's code are taken out and completed as in the editor, its tests judge the result in a sandbox, and "
    "calibrators for its files are fitted. What was done is kept: the same command resumes a run that was stopped.",
    add_arguments=add_arguments,
    run=run,
)

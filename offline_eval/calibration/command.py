"""`assay eval calibration`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, add_run_options, checked_pool, names, one_of, positive
from .options import DEFAULT_SET, LINES, PROBLEMS, RECORDED_ONLY, refuse_what_does_nothing, sort_of

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice
    from ..pool.choice import Pool
    from .study import Set


def _tasks(text: str) -> list[str]:
    from ..sets.lines import TASKS

    return one_of(TASKS, text, "task")


def _arms(text: str) -> list[str]:
    from ..sets.arms import ARMS

    return one_of(ARMS, text, "arm")


def _languages(text: str) -> list[str]:
    from ...analysis.lines.draw import LANGUAGES

    return one_of(LANGUAGES, text, "language")


def _steps(text: str) -> list[str]:
    return one_of(("answers", "labels"), text, "step")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    parser.add_argument("--out", metavar="RUN", type=Path, required=True, help="folder of the run")
    parser.add_argument(
        "--set", choices=(*LINES, *PROBLEMS, *RECORDED_ONLY), default=DEFAULT_SET,
        help="projects: lines of 30 projects, judged by exact match. suites: of 20 whose own tests judge as well, in a sandbox. bugs: "
        "of these, lines with an injected bug that their tests notice. packages: lines of packages in other languages. humaneval, "
        "mbpp: functions, judged by the benchmark's tests. quixbugs, defects4j: repairs of one line. cruxeval, answers: with --recorded "
        "alone (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--code", metavar="DIR", type=Path, nargs="+",
        help="instead of a set: lines of your own code, in any language that a parser is installed for, judged by exact match; each folder "
        "is a project, and of five or more each is held out of the map that judges it",
    )  # fmt: skip
    parser.add_argument(
        "--languages", metavar="NAME,NAME", type=_languages, default=[],
        help="with --set packages or --code: draw in these languages alone (default: all)",
    )  # fmt: skip
    parser.add_argument("--data", metavar="PATH", type=Path, help="file or folder of a set of problems; Assay brings none with it")
    parser.add_argument(
        "--recorded", metavar="FILE", type=Path, nargs="+",
        help="judge answers that were recorded, and ask no model: with --data programs for humaneval or mbpp, and perhaps a file of the "
        "model's own tests, which are run in the sandbox, or answers to cruxeval; without --data the scores and labels that the files "
        "tell (assay/answers/1)",
    )  # fmt: skip
    parser.add_argument("--projects", type=names, default=[], help="some of the projects or packages, separated by commas (default: all)")
    parser.add_argument(
        "--per-project", metavar="N", type=positive,
        help="at most N places of each project (default: 150, of suites and packages 60, of bugs 20)",
    )  # fmt: skip
    parser.add_argument(
        "--limit", metavar="N", type=positive, help="for a quick look: at most N places in all, drawn by the seed; or the first N problems"
    )
    parser.add_argument(
        "--tasks", type=_tasks, help="what the model is asked for at each line of a project (default: line,line_rest,line_middle)"
    )
    parser.add_argument(
        "--arms", type=_arms,
        help="how the file of a line is shown: docstring (as it is), no_docstring, no_suffix (nothing after the gap), separated by commas "
        "(default: docstring)",
    )  # fmt: skip
    parser.add_argument(
        "--reflective",
        action="store_true",
        help="also ask the model, which must not be the embedded one, about each of its answers, for the measures ask_true and verbalised",
    )
    parser.add_argument(
        "--alternatives", metavar="N", type=positive,
        help="draw N completions at each place and record each that differs, with the measure agreement (default: 1)",
    )  # fmt: skip
    parser.add_argument("--steps", type=_steps, default=[], help="do these alone: answers, labels (default: all)")
    add_run_options(
        parser,
        seed_of="the draw of functions, lines and places, and of the report's folds",
        python="with --set suites or bugs: the Python that the tests' environments are made with",
    )


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its samples files and report. Raises UsageError, and what each study raises."""
    sort = sort_of(arguments)
    refuse_what_does_nothing(arguments, choice, sort)
    pool = checked_pool(arguments)
    match sort:
        case "lines" | "suites" | "bugs" | "packages" | "code":
            _run_lines(arguments, choice, pool)
        case "problems":
            _run_problems(arguments, choice, pool)
        case "draws":
            _run_draws(arguments, pool)
        case "labelled":
            _run_labelled(arguments)


def _run_lines(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool) -> None:
    from ..sets.arms import PLAIN
    from ..sets.lines import TASKS
    from .plan import tell_plan
    from .study import Asked, check, run_study, sources_of

    name: Set = "code" if arguments.code else arguments.set
    asked = Asked(
        arguments.out,
        choice,
        name,
        sources_of(name, arguments.projects, arguments.languages, arguments.code or ()),
        arguments.per_project,
        arguments.limit,
        ("line",) if name == "bugs" else arguments.tasks or TASKS,
        tuple(arguments.arms or (PLAIN,)),
        arguments.seed,
        pool,
        arguments.cache,
        arguments.python,
        arguments.reflective,
        arguments.alternatives or 1,
        arguments.memory,
        arguments.steps,
        arguments.json,
        arguments.languages,
    )
    check(asked)
    if arguments.dry_run:
        tell_plan(asked)
    else:
        run_study(asked)


def _run_problems(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool) -> None:
    from .other_plans import tell_problems
    from .problems import Asked, run_problems

    asked = Asked(
        arguments.out,
        arguments.set,
        arguments.data,
        choice,
        arguments.limit,
        arguments.seed,
        pool,
        arguments.reflective,
        arguments.alternatives or 1,
        arguments.memory,
        arguments.steps,
        arguments.json,
    )
    if arguments.dry_run:
        tell_problems(asked)
    else:
        run_problems(asked)


def _run_draws(arguments: argparse.Namespace, pool: Pool) -> None:
    from .other_plans import tell_recorded
    from .recorded.study import Asked, run_recorded

    asked = Asked(arguments.out, arguments.set, arguments.data, arguments.recorded, arguments.limit, arguments.seed, pool, arguments.json)
    if arguments.dry_run:
        tell_recorded(asked)
    else:
        run_recorded(asked)


def _run_labelled(arguments: argparse.Namespace) -> None:
    from .other_plans import tell_labelled
    from .recorded.labelled import Asked, run_labelled

    asked = Asked(arguments.out, arguments.set, arguments.data, arguments.recorded, arguments.limit, arguments.seed, arguments.json)
    if arguments.dry_run:
        tell_labelled(asked)
    else:
        run_labelled(asked)


COMMAND = Command(
    group="eval",
    name="calibration",
    summary="complete lines of real projects, or functions and repairs of benchmarks, to get samples that calibrators are fitted to",
    details="The projects' sources are downloaded once, by pip, which checks their hashes. To learn a project's metadata, pip runs its "
    "build backend: that is code of the project or of others, and it runs with your rights. With --set suites or bugs an environment for "
    "each project's tests is made, which runs build code as well, and the tests run in the sandbox; else Assay itself only reads the "
    "sources. What a model wrote for a set of problems runs in the sandbox alone. With --recorded no model is asked: answers of others "
    "are judged. Packages are fetched once by npm or apt-get, which run nothing of them, and are only read, as is the code of --code. The "
    "same command resumes a run that was stopped.",
    add_arguments=add_arguments,
    run=run,
)

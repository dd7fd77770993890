"""`assay eval calibration`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, Sorts, add_code_options, add_run_options, checked_pool, listed, options_from, positive, refuse_beside_code
from ..errors import UsageError

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice
    from ..pool.pool import Pool
    from .study import Set

LINES = ("projects", "suites", "bugs", "packages")
DEFAULT_SET = "projects"
PROBLEMS = ("humaneval", "mbpp", "quixbugs", "defects4j")
_OF_LINES = (*LINES, "code")
SORTS = Sorts(
    {
        **{name: f"--set {name}" for name in LINES},
        "code": "--code",
        "problems": "a set of problems",
    },
    only={
        **dict.fromkeys(("projects", "cache"), LINES),
        **dict.fromkeys(("per_project", "arms"), _OF_LINES),
        "languages": ("packages", "code"),
        "older": ("suites", "bugs", "code"),
        "tasks": ("projects", "suites", "packages", "code"),
        "python": ("suites", "bugs"),
    },
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    add_run_options(
        parser,
        seed_of="the draw of functions, lines and places, and of the report's folds",
        most="150, of suites and packages 60, of bugs 20",
        steps=("answers", "labels", "shots"),
        python="with --set suites or bugs: the Python that the tests' environments are made with",
    )
    parser.add_argument(
        "--set", choices=(*LINES, *PROBLEMS), default=DEFAULT_SET,
        help="projects: lines of 30 projects, judged by exact match. suites: of 20 whose own tests judge as well, in a sandbox. bugs: "
        "of these, lines with an injected bug that their tests notice. packages: lines of packages in other languages. humaneval, "
        "mbpp: functions, judged by the benchmark's tests. quixbugs, defects4j: repairs of one line "
        "(default: %(default)s)",
    )  # fmt: skip
    add_code_options(
        parser,
        "lines of your own code, in any language that a parser is installed for, judged by exact match; each folder is a project, and of "
        "five or more each is held out of the map that judges it",
        with_older="--code, or --set suites or bugs",
    )
    parser.add_argument(
        "--languages", metavar="NAME,NAME", type=listed("language", "..analysis.lines.draw:LANGUAGES"), default=[],
        help="with --set packages or --code: draw in these languages alone (default: all)",
    )  # fmt: skip
    parser.add_argument("--data", metavar="PATH", type=Path, help="file or folder of a set of problems; Assay brings none with it")
    parser.add_argument(
        "--tasks", type=listed("task", ".sets.lines:TASKS"),
        help="what the model is asked for at each line of a project (default: line,line_rest,line_middle)",
    )  # fmt: skip
    parser.add_argument(
        "--arms", type=listed("arm", ".sets.lines:ARMS"),
        help="how the file of a line is shown: docstring (as it is), no_docstring, no_suffix (nothing after the gap), separated by commas "
        "(default: docstring)",
    )  # fmt: skip
    parser.add_argument(
        "--reflective", action="store_true",
        help="also ask the model, which must not be the embedded one, about each of its answers, for the measures ask_true and verbalised",
    )  # fmt: skip
    parser.add_argument(
        "--shots", metavar="N", type=positive,
        help="also ask the model, which must not be the embedded one, in words whether each of its answers is right, alone (ask_chat) and "
        "behind its N nearest other answers with what came of them (ask_shots)",
    )  # fmt: skip
    parser.add_argument(
        "--alternatives", metavar="N", type=positive,
        help="draw N completions at each place and record each that differs, with the measure agreement (default: 1)",
    )  # fmt: skip


def sort_of(arguments: argparse.Namespace) -> str:
    """Which sort of run is asked for. Raises UsageError where set and data do not go together."""
    name = arguments.set
    if arguments.code:
        refuse_beside_code(arguments, DEFAULT_SET)
        return "code"
    if name in LINES:
        if arguments.data:
            raise UsageError(f"--data is of a set of problems: name one with --set ({', '.join(PROBLEMS)})")
        return str(name)
    from ..sets.problems import SETS

    if arguments.data is None:
        raise UsageError(SETS[name].needed(name))
    return "problems"


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its samples files and report. Raises UsageError, and what each study raises."""
    sort = sort_of(arguments)
    SORTS.refuse_what_does_nothing(arguments, choice, sort)
    words = SORTS.words[sort]
    python_alone = sort == "code" and set(arguments.languages or ()) == {"python"}
    if sort in ("packages", "code") and not python_alone and "no_docstring" in (arguments.arms or ()):
        raise UsageError(f"the arm no_docstring takes the docstrings of Python away, and {words} has other languages: leave it out")
    if "labels" in arguments.steps and (sort in ("projects", "packages", "code") or arguments.set == "defects4j"):
        named = "--code" if sort == "code" else f"--set {arguments.set}"
        raise UsageError(f"{named} has no step labels: nothing is run there, and exact matches are known with the answers")
    if "shots" in arguments.steps and arguments.shots is None:
        raise UsageError("the step shots needs --shots N, how many examples it shows")
    if arguments.shots and arguments.arms and "docstring" not in arguments.arms:
        raise UsageError("--shots asks about files as they are, the arm docstring: name it with --arms, too")
    if arguments.shots:
        from .shots import check_shots

        check_shots(choice)
    pool = checked_pool(arguments)
    if sort in _OF_LINES:
        _run_lines(arguments, choice, pool)
    else:
        _run_problems(arguments, choice, pool)


def _run_lines(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool) -> None:
    from .study import Options, run_study, sources_of

    name: Set = "code" if arguments.code else arguments.set
    tasks = {"tasks": ("line",)} if name == "bugs" else {}
    sources = sources_of(name, arguments.projects, arguments.languages, arguments.code or ())
    run_study(options_from(Options, arguments, choice=choice, pool=pool, set=name, projects=sources, **tasks))


def _run_problems(arguments: argparse.Namespace, choice: ModelChoice, pool: Pool) -> None:
    from .problems import Options, run_problems

    run_problems(options_from(Options, arguments, choice=choice, pool=pool))


COMMAND = Command(
    group="eval",
    name="calibration",
    summary="complete lines of real projects, or functions and repairs of benchmarks, to get samples that calibrators are fitted to",
    details="The projects' sources are downloaded once, by pip, which checks their hashes. To learn a project's metadata, pip runs its "
    "build backend: that is code of the project or of others, and it runs with your rights. With --set suites or bugs an environment for "
    "each project's tests is made, which runs build code as well, and the tests run in the sandbox; else Assay itself only reads the "
    "sources. What a model wrote for a set of problems runs in the sandbox alone. Packages are fetched once by npm or apt-get, which run "
    "nothing of them, and are only read, as is the code of --code. The same command resumes a run that was stopped.",
    add_arguments=add_arguments,
    run=run,
)

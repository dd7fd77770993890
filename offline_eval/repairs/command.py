"""`assay eval repairs`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, Sorts, add_run_options, checked_pool, options_from
from ..errors import UsageError

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice

# Of published bugs, and what there is to name.
PROGRAMS = {
    "quixbugs": "a copy of the project github.com/jkoppel/QuixBugs",
    "defects4j": "a copy of the project github.com/rjust/defects4j, or an archive of its folder framework/",
}
DATA = {"commits": "a folder with a clone of each project's repository, named as the project", **PROGRAMS}
LINES = ("lines", "commits")
SORTS = Sorts(
    {name: f"--set {name}" for name in (*LINES, *PROGRAMS)},
    only={"data": tuple(DATA), **dict.fromkeys(("projects", "per_project", "cache", "python"), LINES)},
    steps={
        "lines": ("draw", "bug", "propose", "label", "locate", "search", "loop"),
        "commits": ("bug", "propose", "label", "locate", "search", "loop"),
        "quixbugs": ("fail", "propose", "label", "search", "loop"),
        "defects4j": ("propose",),
    },
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    seed_of = "the places, of the bugs put there, and of which tests are held back"
    add_run_options(parser, seed_of=seed_of, most="20", steps=SORTS.all_steps)
    parser.add_argument(
        "--set", choices=tuple(SORTS.words), default="lines",
        help="lines: bugs in lines of 20 projects, judged by their own tests in a sandbox. commits: in their place lines that commits "
        "changed, as they were before. quixbugs: the programs of --data, judged by the tests that come with them. defects4j: lines of Java "
        "projects in the patches of --data; only exact matches are judged. A program has no project, so --memory project is the open file "
        "there (default: %(default)s)",
    )  # fmt: skip
    parser.add_argument(
        "--data", metavar="FOLDER", type=Path, help="with any other set: " + "; ".join(f"{n}: {w}" for n, w in DATA.items())
    )


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its samples files and report. Raises UsageError, and what each study raises."""
    from ..sets.projects import named
    from . import programs
    from .lines import study as lines

    SORTS.refuse_what_does_nothing(arguments, choice, arguments.set)
    if arguments.set in DATA and arguments.data is None:
        raise UsageError(f"--set {arguments.set} needs --data: {DATA[arguments.set]}; Assay brings none with it")
    pool = checked_pool(arguments)
    if arguments.set in LINES:
        projects = named(arguments.projects, suite=True)
        of_lines = options_from(lines.Options, arguments, choice=choice, pool=pool, projects=projects, histories=arguments.data)
        lines.run_lines(of_lines)
    else:
        programs.run_programs(options_from(programs.Options, arguments, choice=choice, pool=pool))


COMMAND = Command(
    group="eval",
    name="repairs",
    summary="put bugs into lines, and see whether what is proposed in their place is right and the number beside it true",
    details="Lines of real projects get a bug that their own tests notice: by a rule, drawn from the model, or out of their history. What "
    "the editor would propose there, and at the right line, is judged by the tests in the sandbox, and compared with testing mutants "
    "without a model. The projects' sources and their tests' environments are made by pip, which runs build code with your rights. The "
    "same command resumes a run that was stopped.",
    add_arguments=add_arguments,
    run=run,
)

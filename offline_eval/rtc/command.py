"""`assay eval rtc`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from ..command import Command, Sorts, add_ask_option, add_run_options, checked_pool, options_from, positive
from ..errors import UsageError

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice

SETS = ("regions", "humaneval", "edits")
STEPS = ("describe", "rebuild", "labels")
SORTS = Sorts(
    {**{name: f"--set {name}" for name in SETS}, "recorded": "recorded round trips"},
    only={
        **dict.fromkeys(("ask", "forward", "backward", "steps", "workers", "ray"), SETS),
        **dict.fromkeys(("projects", "cache", "python"), ("regions",)),
        "data": ("humaneval", "edits"),
        "per_project": ("regions", "edits"),
    },
    unasked=("recorded",),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The study's own options."""
    add_run_options(parser, seed_of="the draw of places, and of the descriptions", most="100", steps=STEPS, memory=False)
    parser.add_argument(
        "--set", choices=SETS,
        help="regions: statements of 20 projects, judged by exact match and by the projects' own tests, in a sandbox. humaneval: functions "
        "without their docstrings, judged by the benchmark's tests. edits: commits of git histories, judged by their texts. Any instruct "
        f"or completion model is asked in words (default: {SETS[0]})",
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
        "--forward", metavar="N", type=positive, help="descriptions of each code, drawn at temperature 0.8, of an edit at 1.0 (default: 3)"
    )
    parser.add_argument(
        "--backward", metavar="N", type=positive,
        help="how often code is rebuilt from each description: an edit once greedily, all else, and more often, at "
        "temperature 0.1 (default: 1)",
    )  # fmt: skip


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the study; ends with the paths of its report. Raises UsageError, and what each study raises."""
    from ..sets.projects import named
    from . import recorded, study

    if arguments.recorded and arguments.set:
        raise UsageError("recorded round trips are a set of their own: leave --set out")
    name = arguments.set or SETS[0]
    SORTS.refuse_what_does_nothing(arguments, choice, "recorded" if arguments.recorded else name)
    pool = checked_pool(arguments)
    if arguments.recorded:
        trips = options_from(recorded.Options, arguments, files=arguments.recorded)
        recorded.run_recorded(trips)
        return
    projects = named(arguments.projects, suite=True)
    options = options_from(study.Options, arguments, choice=choice, pool=pool, set=name, projects=projects, form=arguments.ask)
    study.run_problems(options)


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

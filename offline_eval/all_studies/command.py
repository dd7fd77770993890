"""`assay eval all`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..command import Command, add_run_options, checked_pool, minutes, options_from

if TYPE_CHECKING:
    from ...inference.opening import ModelChoice


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own options."""
    add_run_options(parser, seed_of="the places, and of what is drawn there")
    parser.add_argument(
        "--minutes", metavar="N", type=minutes,
        help="take as many places as about N minutes buy, shared out among the studies (default: all that are worth it)",
    )  # fmt: skip


def run(arguments: argparse.Namespace, choice: ModelChoice) -> None:
    """Run, or resume, the studies. Raises UsageError, and what each study raises."""
    from ..sets.projects import named
    from .study import Options, run_all

    projects = named(arguments.projects, suite=True)
    run_all(options_from(Options, arguments, choice=choice, pool=checked_pool(arguments), projects=projects))


COMMAND = Command(
    group="eval",
    name="all",
    summary="run all studies on lines for a model: what its calibrators are validated on",
    details="At places of 20 projects whose loss their own tests notice: the calibration study, also without docstring or suffix and with "
    "questions to the model; counterfeits; CatCode. How many places there are is written down first, and each is a run of its "
    "own, which the same command resumes. `assay calibrate validate --all DIR` then writes the validation tables of the model's "
    "calibrators. The projects' sources and their tests' environments are made by pip, which runs build code with your rights; the tests "
    "run in the sandbox.",
    add_arguments=add_arguments,
    run=run,
)
